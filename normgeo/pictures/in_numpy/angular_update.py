"""The lines of NumPy that take one step at two norms and print what it does."""

from __future__ import annotations

from normgeo.datasets.datasets import DATASETS
from normgeo.models.families import FAMILIES
from normgeo.normalizers.in_numpy import gradient_in_numpy, in_numpy, prepared
from normgeo.pictures.in_numpy.script import chosen, imports, number_of
from normgeo.pictures.learning_rate.angular_update import AngularUpdate
from normgeo.pictures.learning_rate.block_on_data import BLOCK
from normgeo.pictures.model_on_data import neurons_of
from normgeo.pictures.picture import DATA
from normgeo.settings import Settings

BLOCK_ON_DATA = "from normgeo.pictures.learning_rate.block_on_data import block_on_data"

TURN = """\
    w, G = W[rows], G[rows]
    norm = np.linalg.norm(w)
    step = -({step})
    along = (step * w).sum() / norm
    across = np.linalg.norm(step - along * w / norm)
    turn = np.arctan2(across, norm + along)
"""

PRINT = """\
print("{what}", number(G), "→", number(G1), "×", number(G1 / G))
print("turn", *map(number, np.degrees([turn, turn1])), "degrees")
tan, tan1 = np.tan([turn, turn1])
print("its tangent", number(tan), number(tan1), "×", number(tan1 / tan))
"""


def script(settings: Settings, result: AngularUpdate) -> str:
    """Return a script that prints gradient, turn and loss at norm 1 and at that of the slider.

    "" where a word of the method, or the family, says no line.
    """
    method, curve = result.normalizer, result.curve
    data = DATASETS[settings.dataset].load()
    family = FAMILIES[data.family if settings.family == "auto" else settings.family]
    forward, backward = in_numpy(method), gradient_in_numpy(method)
    optimizer = curve.optimizer
    step = optimizer.first_step_in_numpy
    if not (forward and backward and family.mean_in_numpy and step):
        return ""
    linear = optimizer.linear
    if method.centering.projects_weights and not linear:
        return ""  # the step has a part that the center removes
    g = "" if method.is_standard else "g * "
    mean = family.mean_in_numpy
    neurons, k = curve.neurons.tolist(), float(curve.norms[result.opening])
    loss = bool(family.loss_in_numpy)
    frozen = method.statistics == "frozen"
    return "\n".join(
        (
            imports(BLOCK_ON_DATA),
            chosen(settings, (*DATA, *BLOCK)),
            "it = block_on_data(settings, homogeneous=False)  # at norm 1",
            "X, W, b, g = it.X, it.model.W, it.model.b, it.model.g",
            "Y = it.model.family.encode(it.y, len(W))",
            *(("W0, X0 = it.model.reference",) if frozen else ()),
            *prepared(method, neurons_of(data, settings), "X0 @ W0.T"),
            f"rows = slice({neurons[0]}, {neurons[-1] + 1})  # {result.name}",
            f"eta = {curve.rate!r}",
            "",
            "",
            number_of(3),
            "def step(W):",
            "    A = X @ W.T",
            *(f"    {line}" for line in forward),
            f"    s = {g}z + b",
            f"    U = {g}({mean} - Y) / len(Y)",
            *(f"    {line}" for line in backward),
            TURN.rstrip("\n").replace("{step}", step),
            *((f"    L = ({family.loss_in_numpy}).mean()",) if loss else ()),
            f"    return np.linalg.norm({'G' if linear else 'step'}), turn{', L' if loss else ''}",
            "",
            "",
            "W1 = W.copy()",
            f"W1[rows] *= {k!r}  # the norm of the slider",
            f"G, turn{', L' if loss else ''} = step(W)",
            f"G1, turn1{', L1' if loss else ''} = step(W1)",
            PRINT.rstrip("\n").replace("{what}", "gradient" if linear else "step"),
            *(('print("loss", number(L), "→", number(L1), "×", number(L1 / L))',) if loss else ()),
            "",
        )
    )
