"""A walk along a straight line in weight space: the model's predictions, and the true KL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, whole_number
from normgeo.base.arrays import Array, real_array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.models.glm import NormalizedGLM
from normgeo.models.linearization import ModelLinearization

ROUNDING = 16.0
"""Units of rounding, relative to the sizes in s, that bound the rounding errors of s."""


@final
@dataclass(frozen=True, eq=False)
class Walk:
    """The models with the weights W + r dW, over fixed cases.

    Attributes:
        steps: r (T,). change: dW (H, D).
        kl: KL[P_W ‖ P_{W + r dW}] (T,), in nats per case; NaN if the model is undefined.
        rounding: a bound below which the KL is rounding, (T,).
        means: E[y] of one case, (T, H); NaN if the model is undefined. before: at W, (H,).
        problems: why the model is undefined, or "".

    """

    steps: Array
    change: Array
    kl: Array
    rounding: Array
    means: Array
    before: Array
    problems: tuple[str, ...]

    @property
    def still(self) -> Array:
        """Whether the KL is 0 up to rounding, at each step."""
        return self.kl <= self.rounding


def walk(
    model: NormalizedGLM, X: ArrayLike, change: ArrayLike, steps: ArrayLike, *, case: int = 0
) -> Walk:
    """Return the models along the line W + r dW, at each r of `steps`.

    Args:
        model: at r = 0. X: cases (N, D). change: dW (H, D). case: the case whose E[y] is returned.

    Raises:
        ValueError: bad shapes, no such case, or what the model itself refuses.

    Source: section 5.2.1, Eq. 8, at finite steps.

    Layer norm ignores a vector that is added to all weight vectors:

    >>> from normgeo import NORMALIZERS
    >>> W = [[1.0, 0.0], [2.0, 1.0], [0.0, 2.0]]
    >>> model = NormalizedGLM(NORMALIZERS["layer"], "gaussian", W)
    >>> along = walk(model, [[1.0, 2.0], [3.0, 1.0]], np.ones((3, 2)), [-1.0, 5.0])
    >>> along.still.tolist()
    [True, True]

    """
    instance_of("model", model, NormalizedGLM)
    inputs, r = real_array("X", X, 2), real_array("steps", steps, 1)
    dW = real_array("change", change, 2)
    if dW.shape != model.W.shape:
        raise Refusal(
            "`change` must have the shape of W, {shape}; got {got}.",
            shape=model.W.shape,
            got=dW.shape,
        )
    case = whole_number("case", case, 0, len(inputs) - 1, text("the cases"))
    cases, family, phi = model.over(inputs), model.family, model.phi
    here = model.linearize_over(cases)
    T, H = len(r), len(model.W)
    kl, rounding, means = np.full(T, np.nan), np.zeros(T), np.full((T, H), np.nan)
    problems = [""] * T
    for t, step in enumerate(r):
        try:
            there = _moved(model, step * dW).linearize_over(cases)
        except Refusal as refusal:
            problems[t] = str(refusal)
            continue
        kl[t] = float(np.mean(family.kl(here.s, there.s, phi)))
        error = _rounding(here, inputs, model.W) + _rounding(there, inputs, model.W + step * dW)
        variance = np.maximum(*(family.covariance_diagonal(at.s) for at in (here, there)))
        rounding[t] = float(np.mean((variance * error**2).sum(axis=1))) / (2 * phi)
        means[t] = family.mean(there.s[case : case + 1])[0]
    before = family.mean(here.s[case : case + 1])[0]
    return Walk(r, dW, kl, rounding, means, before, tuple(problems))


def _moved(model: NormalizedGLM, change: Array) -> NormalizedGLM:
    return NormalizedGLM(
        model.normalizer,
        model.family,
        model.W + change,
        model.b,
        model.g,
        phi=model.phi,
        reference=model.reference,
    )


def _rounding(at: ModelLinearization, X: Array, W: Array) -> Array:
    """A bound on the rounding of s, (N, H): from the sums Σ|x||w| behind z, over σ."""
    it = at.whole
    unit = float(np.finfo(it.z.dtype).eps)
    sums = np.abs(X) @ np.abs(W).T / it.sigma
    gained = sums if at.gain is None else np.abs(at.gain) * sums
    error: Array = ROUNDING * unit * (gained + np.abs(at.s))
    return error
