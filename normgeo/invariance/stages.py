"""Where the points of a layer lie at the stages of Eq. 5, a → a − μ → z, before and after a change.

Each case is a point with a coordinate for each neuron.
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
"""Of the largest |z|: what is nearer to its old place has come back, to rounding."""


class Stages(NamedTuple):
    """The summed inputs a, a − μ and z of all cases, (N, H) each."""

    summed_inputs: Array
    centered: Array
    z: Array


@final
@dataclass(frozen=True, eq=False)
class Surface:
    """What all points of a stage lie on.

    Attributes:
        normal: of a plane through 0, (H,); None where they lie on none.
        radius: of a sphere around 0, at ε = 0; None where they lie on none.

    """

    normal: Array | None = None
    radius: float | None = None


@final
@dataclass(frozen=True, eq=False)
class Carried:
    """The points after a change.

    Attributes:
        stages: where they are, None where there is no z; problem: then why, else "".
        distance: |z′ − z| of each case, (N,).
        back: whether z is where it was, (N,). turned: whether it is where a negative δ turns it.

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
        verdict: what is certified of the normalizer and the change.
        strengths: δ, or the factor on γ, (S,). index: the neuron or case that changes.
        before: unchanged. plane: what a − μ lies on. surface: what z lies on.
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
    """Carry the points of all cases along with a change, at every strength.

    Frozen statistics refer to the unchanged (W, X).

    Args:
        normalizer: of the layer. transform: a re-scaling by `strengths`, or a shift by
            `strengths` × `gamma`. W: (H, D); X: (N, D). index: the row that changes, of one.
        seed: of the draw that the verdict rests on.

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
    """The points of all cases at each stage, for weights W (H, D) and cases X (N, D).

    >>> from normgeo import NORMALIZERS
    >>> stages(NORMALIZERS["layer"], np.eye(3), np.array([[1.0, 2.0, 6.0]])).centered
    array([[-2., -1.,  3.]])

    """
    result = normalizer.normalize(W, X, reference)
    centered, _ = normalizer.moments(W, X, reference)
    return Stages(result.summed_inputs, centered, result.z)


def surfaces(normalizer: Normalizer, W: Array, X: Array) -> tuple[Surface, Surface]:
    """What a − μ and z lie on, for weights W (H, D) and cases X (N, D).

    A mean over all neurons leaves Σₕ (a − μ)ₕ = 0, and so does a σ that they share. Where each
    neuron has a σ of its own, the plane of z is a tilted one, Σₕ σₕ zₕ = 0. A mean of squares over
    all neurons gives every z the length √H, at ε = 0.
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
    """|z| of each case by the law of a mean of squares over the neurons, (N,).

    |z|² = Σₕ v/(v + ε): √H at ε = 0, and less with an ε, most where v is small.
    """
    _, v = replace(normalizer, eps=0.0).moments(W, X, (W, X))
    v = np.broadcast_to(v, (len(X), len(W)))
    law: Array = np.sqrt((v / (v + float(normalizer.added_eps))).sum(axis=1))
    return law


def _alike(values: Array, axis: int) -> bool:
    """Whether values along an axis differ by rounding only."""
    return bool((np.ptp(values, axis=axis) <= SAME * np.abs(values).max(axis=axis)).all())
