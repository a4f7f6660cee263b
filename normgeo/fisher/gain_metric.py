"""The metric along the gains: the effect of changing the magnitude of the incoming weights.

    ds² = ½ δ_gᵀ E_x[ Cov_ij z_i z_j / φ² ] δ_g

The standard model has no gain: the change of w_i is δ_gi ŵ_i, and a_i/‖w_i‖ replaces z_i.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import add
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of
from normgeo.base.arrays import Array, real_array
from normgeo.base.progress import Progress, Report
from normgeo.base.refusal import Refusal
from normgeo.datasets.rows import Rows, as_rows
from normgeo.fisher.which import WhichFisher
from normgeo.models.glm import NormalizedGLM
from normgeo.models.linearization import ModelLinearization, Part
from normgeo.models.rows import Linearized
from normgeo.normalizers.blocks import lengths

UNCHANGED = 1e-9

Beside = Callable[[ModelLinearization], Array]
Form = Callable[[Array, ModelLinearization], Array]


@final
@dataclass(frozen=True, eq=False)
class GainMetric:
    """The metric along the gains when the inputs are re-scaled, exact and as the paper prints it.

    Attributes:
        title: of the method. family: its key. which: the Fisher information.
        deltas: the factors δ of the inputs, (n,).
        exact: (n, H, H), the Fisher information along the gains; NaN if there is a problem.
        printed: the appendix's formula, (n, H, H); None for a method that it leaves out.
        unscaled: `exact` at δ = 1, (H, H).
        problems: for each δ why there is no metric, a sentence, or ''.

    """

    title: str
    family: str
    which: WhichFisher
    deltas: Array
    exact: Array
    printed: Array | None
    unscaled: Array
    problems: tuple[str, ...]

    @property
    def diagonal(self) -> Array:
        """Return the metric of each gain by itself, (n, H)."""
        diagonal: Array = np.einsum("nhh->nh", self.exact)
        return diagonal

    @property
    def total(self) -> Array:
        """Return the trace of `exact`, (n,)."""
        total: Array = self.diagonal.sum(axis=1)
        return total

    @property
    def printed_total(self) -> Array | None:
        """Return the trace of `printed`, (n,)."""
        return None if self.printed is None else np.einsum("nhh->n", self.printed)

    @property
    def ratio(self) -> Array:
        """Return `total` over its value at δ = 1, (n,).

        NaN if that value is 0, since z or the variance of the outputs is 0.
        """
        unscaled = np.trace(self.unscaled)
        ratio: Array = self.total / (unscaled if unscaled else np.nan)
        return ratio

    @property
    def changes(self) -> bool:
        """Whether re-scaling the inputs changes the metric, at any δ with a metric."""
        size = np.abs(self.unscaled).max()
        off = np.abs(self.exact - self.unscaled).max(axis=(1, 2))
        return bool((off[~np.isnan(off)] > UNCHANGED * size).any())


def gain_metric(
    model: NormalizedGLM,
    X: ArrayLike | Rows,
    deltas: ArrayLike = (1.0,),
    *,
    progress: Report | Progress | None = None,
) -> GainMetric:
    """Return the metric along the gains of a model over δX, for each δ.

    Args:
        model: its parameters are fixed. X: (N, D), or `Rows`. deltas: positive factors, (n,).
        progress: called with (factors done, factors); a stop leaves the others out.

    Raises:
        ValueError: a δ that is not positive, a standard model with a zero weight vector, or
            inputs that the model refuses at δ = 1; refusals at other δ are in `problems`.

    Source: appendix, "Learning the magnitude of incoming weights".

    >>> from normgeo import NORMALIZERS, NormalizedGLM
    >>> model = NormalizedGLM(NORMALIZERS["weight"], "gaussian", [[3.0, 4.0]])
    >>> gain_metric(model, [[1.0, 0.0]], [1.0, 2.0]).total
    array([0.36, 1.44])

    """
    instance_of("model", model, NormalizedGLM)
    factors = real_array("deltas", deltas, 1)
    if not (factors > 0).all():
        raise Refusal("`deltas` must be positive factors; got {least:g}.", least=factors.min())
    rows = as_rows(X)
    inputs = rows if isinstance(rows, Rows) else real_array("X", rows, 2)
    with np.errstate(over="ignore", invalid="ignore"):
        at = model.linearize(inputs)
        unscaled = _exact(model, at)
    if not np.isfinite(unscaled).all():
        raise Refusal("The metric exceeds the largest float. Use smaller inputs or gains.")
    printed_form = PRINTED.get(model.normalizer.words)
    H = len(model.W)
    exact, printed = np.full((2, len(factors), H, H), np.nan)
    problems = []
    for i, delta in enumerate(Progress.of(progress).over(factors.tolist())):
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                there = model.linearize(_scaled(inputs, delta))
                exact[i] = _exact(model, there)
                if printed_form is not None:
                    printed[i] = _printed(model, there, printed_form)
            if not np.isfinite(exact[i]).all():
                exact[i] = np.nan
                raise Refusal("At δ = {delta:g} the metric exceeds the largest float.", delta=delta)
            problems.append("")
        except Refusal as error:
            problems.append(error.args[0])
    done = len(problems)
    return GainMetric(
        model.normalizer.title,
        model.family.key,
        WhichFisher("exact", at.cases, model.phi),
        factors[:done],
        exact[:done],
        None if printed_form is None else printed[:done],
        unscaled,
        tuple(problems),
    )


def _scaled(X: Array | Rows, delta: float) -> Array | Rows:
    if isinstance(X, Rows):
        return X.scaled(delta)
    scaled: Array = delta * X
    if not np.isfinite(scaled).all():
        raise Refusal(
            "The inputs times δ = {delta:g} exceed the largest {kind}. Use a smaller δ.",
            delta=delta,
            kind=X.dtype,
        )
    return scaled


def _exact(model: NormalizedGLM, at: Linearized) -> Array:
    """Return the Fisher information along the gains or, without gains, along ŵ, (H, H)."""
    # Each direction changes only its own neuron's output, so one product gives them all.
    layout = model.layout
    together = np.zeros(layout.size)
    if layout.has_gain:
        together[layout.gains] = 1.0
    else:
        together[layout.weights] = _unit_rows(model.W).reshape(-1)
    return _mean_products(model, at, lambda part: part.jvp(together))


def _mean_products(model: NormalizedGLM, at: Linearized, of: Beside) -> Array:
    """Return E[u_i A''_ij u_j]/φ, (H, H), for a u (N, H) of the cases."""
    family, H = model.family, len(model.W)

    def step(parts: Iterator[Part]) -> Array:
        total = np.zeros((H, H))
        for _, part in parts:
            total += family.covariance_products(part.s, of(part))
        return total

    products: Array = at.gathered(step, add)
    return products / (at.cases * model.phi)


def _unit_rows(W: Array) -> Array:
    norms = lengths(W)[:, None]
    if not norms.all():
        raise Refusal(
            "The standard model has a magnitude to change only where a weight vector is "
            "not zero; got zeros at neuron {neuron}. Start from other weights.",
            neuron=np.flatnonzero(norms == 0)[0],
        )
    rows: Array = W / norms
    return rows


def _printed(model: NormalizedGLM, at: Linearized, form: Form) -> Array:
    """Return E[Cov_ij u_i u_j]/φ², the printed formula with u (N, H) beside Cov, (H, H)."""
    W = model.W
    return _mean_products(model, at, lambda part: form(W, part))


def _ones(W: Array, at: ModelLinearization) -> Array:
    return np.ones_like(at.z)


def _deviations(W: Array, at: ModelLinearization) -> Array:
    return at.z  # (a − μ)/σ


def _projections(W: Array, at: ModelLinearization) -> Array:
    projections: Array = at.whole.inputs @ _unit_rows(W).T
    return projections


PRINTED: dict[tuple[str, str], Form] = {
    ("batch", "batch"): _ones,
    ("layer", "layer"): _deviations,
    ("none", "weight"): _projections,
    ("none", "none"): _projections,
}
"""The factors that the appendix prints beside the covariance: batch norm without z_i z_j."""
