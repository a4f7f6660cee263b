"""The lines of NumPy that carry out a change and print what it does to z."""

from __future__ import annotations

from normgeo.base.text import text
from normgeo.normalizers.in_numpy import in_numpy, prepared
from normgeo.pictures.in_numpy.script import chosen, imports, number_of
from normgeo.pictures.invariance.effect import ROUNDING, EffectOnData, digits_apart
from normgeo.pictures.picture import DATA
from normgeo.settings import Settings

USES = (*DATA, "cell", "center", "scale", "groups", "eps", "statistics")

MODEL = "from normgeo.pictures.model_on_data import model_on_data"
GAMMA = "from normgeo.pictures.invariance.effect import shift"


def script(settings: Settings, result: EffectOnData) -> str:
    """Return a script that prints how far z moves, and μ and σ of one neuron; "" for none.

    It is about the selected method, at the strength of the slider.
    """
    effect = result.effect
    method, transform = effect.methods[result.chosen], effect.transform
    before, after = method.before, method.after[result.opening]
    n, h, lines = effect.case, effect.neuron, in_numpy(method.normalizer)
    stays = method.verdict.invariant and after.change < ROUNDING
    if not lines or after.problem or (after.change < ROUNDING and not stays):
        return ""  # what is nothing but rounding has no digits to print
    if method.normalizer.centering.subtracts and not (before.mu[h] and after.mu[h]):
        return ""  # nor has such a mean
    of_mu = digits_apart(before.mu[h], after.mu[h])
    of_sigma = digits_apart(before.sigma[h], after.sigma[h])
    M = transform.matrix
    W1, X1 = ("W1", "X") if M == "W" else ("W", "X1")
    moved = 'f"z moves by up to {number(moved)}"'
    if stays:
        moved = f'"z stays where it was" if moved < {ROUNDING} * abs(z).max() else moved'
    return "\n".join(
        (
            imports(*(() if transform.rescales else (GAMMA,)), MODEL),
            chosen(settings, USES),
            'here = model_on_data(settings, "raw", settings.selected[0])',
            f"W, X = here.model.W, here.X[{result.cases.tolist()}]",
            *(() if transform.rescales else ("gamma = shift(settings, W, X)",)),
            *prepared(method.normalizer, len(before.z)),
            "",
            "",
            number_of(2),
            "def normalize(W, X):",
            "    A = X @ W.T",
            *(f"    {line}" for line in lines),
            f"    return [np.broadcast_to(M, z.shape)[{n}] for M in (mu, sigma, z)]",
            "",
            "",
            f"delta = {settings.delta!r}  # {text(transform.label)}",
            f"{M}1 = {M}.copy()",
            transform.operation.in_numpy(f"{M}1", effect.index),
            "mu, sigma, z = normalize(W, X)",
            f"mu1, sigma1, z1 = normalize({W1}, {X1})",
            "moved = abs(z1 - z).max()",
            f"print({moved})",
            f'print("neuron {h}: μ", number(mu[{h}], {of_mu}), "→", number(mu1[{h}], {of_mu}))',
            f'print("neuron {h}: σ", number(sigma[{h}], {of_sigma}), "→", '
            f"number(sigma1[{h}], {of_sigma}))",
            "",
        )
    )
