"""Contours of the true KL around a model in a plane, beside the ellipses ½ δᵀFδ = c.

A plane has two unit directions of θ. If one of them is (nearly) flat, as along the weights ŵ of a
homogeneous block, the quadratic form has a strip instead of an ellipse. Source: section 5.2.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.sparse.linalg import eigsh

from normgeo.base.arrays import Array
from normgeo.base.progress import Progress, Report
from normgeo.base.refusal import Refusal
from normgeo.base.subspaces import gram_schmidt
from normgeo.base.text import text
from normgeo.fisher.neighborhood import Neighborhood, guessed, reach_of
from normgeo.normalizers.blocks import lengths

BEYOND = 1.25
"""Multiple of the search distance: of an ellipse that extends farther along the first direction,
only the part within is drawn, as two edges."""

CURVED = 1e-9
"""Fraction of the largest curvature, or of a direction, below which the rest is rounding."""

RAYS, LENGTHS = 24, 13

NO_CURVATURE = text(
    "An ellipse of equal KL needs curvature across the weights, and there is none here: the "
    "outputs do not change with them, for example because a layer scale has two neurons per group "
    "(z = ±1). Choose another method, more neurons or other weights."
)


@final
@dataclass(frozen=True, eq=False)
class Contours:
    """Contours of the KL and of its quadratic form in one plane.

    Attributes:
        levels: c, nats per case, (L,). metric: F in the two directions, (2, 2).
        quadratic: ½ δᵀFδ = c, (L, R, 2), closed curves, or the two edges of a strip with NaN
            between them.
        true: KL = c, (L, R, 2); NaN if no step in that direction reaches c.
        strip: whether the curves are the two edges of a strip.

    """

    levels: Array
    metric: Array
    quadratic: Array
    true: Array
    strip: bool


def block_directions(around: Neighborhood, neurons: Array, rng: np.random.Generator) -> Array:
    """Return orthonormal directions among the weights w of some neurons, (k, P), k = 2 or 3.

    ŵ; the direction of the largest curvature orthogonal to it; and a random one orthogonal to both,
    if the weights have at least three coordinates.

    Args:
        around: the model. neurons: their weights form one vector. rng: draws the last direction.

    Raises:
        ValueError: the weights are zero, or have no effect.

    """
    layout, W = around.model.layout, around.model.W
    if not W[neurons].any():
        raise Refusal(
            "A plane along the weights needs weights that are not all zero. Start from others."
        )
    places = layout.weights.reshape(W.shape)[neurons].reshape(-1)
    w = W[neurons].reshape(-1).astype(np.float64)
    along = w / lengths(w)
    F = around.F.to_dense()[np.ix_(places, places)]
    across = F - np.outer(along, along @ F)
    across -= np.outer(across @ along, along)
    if len(w) < 2 or np.trace(across) <= CURVED * around.F.trace():
        raise Refusal(NO_CURVATURE)
    # Search among directions with curvature: Lanczos never leaves a start without any.
    start = across @ np.random.default_rng(0).standard_normal(len(w))
    _, steepest = eigsh(across, 1, which="LA", v0=start)
    wanted = (along, steepest[:, 0], rng.standard_normal(len(w)))
    found = gram_schmidt(wanted[: len(w)], CURVED)
    directions = np.zeros((len(found), layout.size))
    directions[:, places] = found
    return directions


def kl_contours(
    around: Neighborhood,
    plane: Array,
    levels: Array,
    *,
    within: float | None,
    beyond: float | None = None,
    progress: Report | Progress | None = None,
) -> Contours:
    """Find the contours KL = c around a model in a plane, for several levels c.

    Args:
        around: the model. plane: two orthonormal directions, (2, P); the first may be flat.
        levels: c, ascending, nats per case.
        within: the search distance along a nearly flat first direction; None draws whole ellipses,
            which requires curvature in both directions.
        beyond: the same ahead along it, where it is another one than behind.
        progress: called with (rays done, rays); a stop leaves the other rays as NaN.

    """
    metric = around.F.restrict(plane.T)
    strip = within is not None and bool(metric[0, 0] * (BEYOND * within) ** 2 < 2 * levels[-1])
    if within is None or not strip:
        units = _ellipse(metric)
        starts, quadratic = np.zeros_like(units), np.sqrt(2 * levels)[:, None, None] * units
    else:
        starts, units = _strip(-within, within if beyond is None else beyond)
        quadratic = np.stack([_edges(metric, level, starts, units) for level in levels])
    true = np.full(quadratic.shape, np.nan)
    rays = np.flatnonzero(np.isfinite(starts).all(axis=1))
    before, factors = np.ones((2, len(levels)))
    for ray in Progress.of(progress).over(rays.tolist()):
        start, unit = starts[ray], units[ray]

        def along(t: float, start: Array = start, unit: Array = unit) -> float:
            return around.kl((start + t * unit) @ plane)

        at_start = _kl_or_infinity(along)
        guesses = guessed(factors, before)
        before = factors.copy()
        for i, level in enumerate(levels.tolist()):
            if at_start >= level:  # it begins outside this contour, not outside larger ones
                continue
            far = float(np.linalg.norm(quadratic[i, ray] - start)) or 1.0
            reach = reach_of(along, level, guesses[i] * far)
            if not np.isfinite(reach):
                break
            true[i, ray] = start + reach * unit
            factors[i] = reach / far
    if not strip:  # closed curves
        quadratic, true = (np.append(c, c[:, :1], axis=1) for c in (quadratic, true))
    return Contours(levels, metric, quadratic, true, strip)


def _kl_or_infinity(kl: Callable[[float], float]) -> float:
    """Return the KL at the start of a ray, ∞ if the outputs are undefined there."""
    try:
        return kl(0.0)
    except Refusal:
        return np.inf


def _ellipse(metric: Array) -> Array:
    """Return points of ½ δᵀFδ = ½, evenly about the ellipse, (R, 2)."""
    turn = np.linspace(0, 2 * np.pi, RAYS, endpoint=False)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    units: Array = np.linalg.solve(np.linalg.cholesky(metric).T, circle).T
    return units


def _strip(first: float, last: float) -> tuple[Array, Array]:
    """Return rays across the first direction, up and then, after a gap, down, (R, 2) twice."""
    at = np.linspace(first, last, LENGTHS)
    side = np.column_stack([at, np.zeros_like(at)])
    up = np.broadcast_to([0.0, 1.0], side.shape)
    gap = np.full((1, 2), np.nan)
    return np.concatenate([side, gap, side]), np.concatenate([up, gap, -up])


def _edges(metric: Array, level: float, starts: Array, units: Array) -> Array:
    """Return the points where the rays meet ½ δᵀFδ = c, (R, 2); NaN if they do not."""
    u, sign = starts[:, 0], units[:, 1]
    inside = (metric[0, 1] * u) ** 2 - metric[1, 1] * (metric[0, 0] * u**2 - 2 * level)
    root = np.sqrt(np.where(inside >= 0, inside, np.nan))
    return np.column_stack([u, (sign * root - metric[0, 1] * u) / metric[1, 1]])
