"""The points of a layer at the stages of Eq. 5, a → a − μ → z, before and after a change.

Each case is a point, with one coordinate per neuron.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.invariance.certificate import Verdict, certify
from normgeo.invariance.transforms import Transform
from normgeo.normalizers.normalizer import Normalizer

SAME = 1e-9
"""Fraction of the largest |z| within which a point is back where it was, up to rounding."""


class Stages(NamedTuple):
    """The summed inputs a, a − μ and z of all cases, (N, H) each."""

    summed_inputs: Array
    centered: Array
    z: Array


@final
@dataclass(frozen=True, eq=False)
class Surface:
    """A surface that contains all points of a stage.

    Attributes:
        normal: of a plane through 0, (H,); None without such a plane.
        radius: of a sphere around 0, at ε = 0; None without such a sphere.

    """

    normal: Array | None = None
    radius: float | None = None


@final
@dataclass(frozen=True, eq=False)
class Carried:
    """The points after a change.

    Attributes:
        stages: of the points, None if z is undefined; problem: the reason, or "".
        distance: |z′ − z| of each case, (N,).
        back: whether z is the same, (N,). turned: whether it is z as a negative δ changes its sign.

    """

    stages: Stages | None
    distance: Array
    back: NDArray[np.bool_]
    turned: NDArray[np.bool_]
    problem: str = ""


@final
@dataclass(frozen=True, eq=False)
class Journey:
    """The points of a layer under a change at several strengths.

    Attributes:
        verdict: the certified verdict on the normalizer and the change.
        strengths: δ, or the factor on γ, (S,). index: the neuron or case that changes.
        before: unchanged. plane: contains a − μ. surface: contains z.
        after: at each strength.

    """

    normalizer: Normalizer
    transform: Transform
    verdict: Verdict
    strengths: Array
    index: int
    before: Stages
    plane: Surface
    surface: Surface
    after: tuple[Carried, ...]


def journey(
    normalizer: Normalizer,
    transform: Transform,
    W: Array,
    X: Array,
    strengths: Sequence[float] | Array,
    *,
    gamma: Array | None = None,
    index: int = 0,
    seed: int = 0,
) -> Journey:
    """Compute the points of all cases under a change, at every strength.

    Frozen statistics refer to the unchanged (W, X).

    Args:
        normalizer: of the layer. transform: a re-scaling by `strengths`, or a shift by
            `strengths` × `gamma`. W: (H, D); X: (N, D). index: the row, if only one changes.
        seed: of the draw for the verdict.

    Raises:
        ValueError: an index outside the rows, or a z that is undefined before any change.

    """
    before = stages(normalizer, W, X, (W, X))
    after = []
    for strength in strengths:
        if transform.rescales:
            changed = transform(W, X, delta=strength, index=index)
        else:
            changed = transform(W, X, gamma=strength * np.asarray(gamma), index=index)
        reached = transform.reaches(before.z.shape)
        if transform.operation.one_row:
            reached = np.roll(reached, index, axis=1 if transform.matrix == "W" else 0)
        try:
            now = stages(normalizer, *changed, (W, X))
        except Refusal as error:
            nowhere = np.zeros(len(X), dtype=bool)
            nothing = np.full(len(X), np.nan)
            after.append(Carried(None, nothing, nowhere, nowhere, error.args[0]))
            continue
        mirrored = np.where(reached, -before.z, before.z)
        distance, from_mirrored = (np.linalg.norm(now.z - z, axis=1) for z in (before.z, mirrored))
        near = SAME * np.linalg.norm(before.z, axis=1).max()
        back = distance <= near
        turned = ~back & (from_mirrored <= near) if strength < 0 else np.zeros_like(back)
        after.append(Carried(now, distance, back, turned))
    plane, surface = surfaces(normalizer, W, X)
    return Journey(
        normalizer,
        transform,
        certify(normalizer, transform, seed=seed),
        np.asarray(strengths, float),
        index,
        before,
        plane,
        surface,
        tuple(after),
    )


def stages(
    normalizer: Normalizer, W: Array, X: Array, reference: tuple[Array, Array] | None = None
) -> Stages:
    """Return the points of all cases at each stage, for weights W (H, D) and cases X (N, D).

    >>> from normgeo import NORMALIZERS
    >>> stages(NORMALIZERS["layer"], np.eye(3), np.array([[1.0, 2.0, 6.0]])).centered
    array([[-2., -1.,  3.]])

    """
    result = normalizer.normalize(W, X, reference)
    centered, _ = normalizer.moments(W, X, reference)
    return Stages(result.summed_inputs, centered, result.z)


def surfaces(normalizer: Normalizer, W: Array, X: Array) -> tuple[Surface, Surface]:
    """Return the surfaces of a − μ and of z, for weights W (H, D) and cases X (N, D).

    After subtracting a mean over all neurons Σₕ (a − μ)ₕ = 0, also after division by a shared σ. If
    each neuron has its own σ, the plane of z is tilted, Σₕ σₕ zₕ = 0. A mean of squares over all
    neurons gives every z the length √H, at ε = 0.
    """
    C, v = replace(normalizer, eps=0.0).moments(W, X, (W, X))
    v, ones = np.broadcast_to(v, C.shape), np.ones(len(W))
    before: Array | None = None
    after: Array | None = None
    if normalizer.groups == 1 and normalizer.centering.neuron_dimensions_lost:
        before = ones
        if _alike(v, axis=1):
            after = ones
        elif _alike(v, axis=0):
            after = np.sqrt(v[0] + float(normalizer.added_eps))
    squares = (C * C / v).sum(axis=1)
    round_ = normalizer.scaling.shared_by_neurons and _alike(squares, axis=0)
    radius = float(np.sqrt(squares.mean())) if round_ else None
    return Surface(_unit(before)), Surface(_unit(after), radius)


def _unit(normal: Array | None) -> Array | None:
    return None if normal is None else normal / np.linalg.norm(normal)


def lengths(normalizer: Normalizer, W: Array, X: Array) -> Array:
    """Return |z| of each case as predicted for a mean of squares over the neurons, (N,).

    |z|² = Σₕ v/(v + ε): √H at ε = 0, and less for ε > 0, especially if v is small.
    """
    _, v = replace(normalizer, eps=0.0).moments(W, X, (W, X))
    v = np.broadcast_to(v, (len(X), len(W)))
    law: Array = np.sqrt((v / (v + float(normalizer.added_eps))).sum(axis=1))
    return law


def _alike(values: Array, axis: int) -> bool:
    """Whether values along an axis differ only by rounding."""
    return bool((np.ptp(values, axis=axis) <= SAME * np.abs(values).max(axis=axis)).all())
