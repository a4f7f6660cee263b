"""Equal KL around a block of weights: ellipses across it, wedges in a plane that contains it.

For a step dw of a homogeneous block w (K·D numbers, centered),

    KL[P_w ‖ P_{w+dw}] ≈ ½ dwᵀ F dw = c.

In a plane of two directions tangent to the sphere ‖w‖ = const. that is an ellipse; doubling w
divides F by 4, so the ellipse doubles in size. In a plane that contains ŵ the true contour is a
wedge: z ignores ‖w‖, so F has no curvature along ŵ and ½ dwᵀF dw = c is a strip. Source:
sections 5.2.1 and 5.2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arrays import Array
from normgeo.base.numbers import round_number
from normgeo.base.refusal import Refusal
from normgeo.base.subspaces import gram_schmidt
from normgeo.fisher.neighborhood import Neighborhood, guessed, reach_of
from normgeo.fisher.which import WhichFisher
from normgeo.models.glm import NormalizedGLM
from normgeo.models.objective import BlockObjective

ROUND = (
    1e-9  # fraction of the larger curvature, or of a direction, below which the rest is rounding
)
RAYS = 48


@final
@dataclass(frozen=True, eq=False)
class EqualKL:
    """The contour KL = c around the model, at one norm of the block.

    Attributes:
        norm: ‖w̃‖. metric: F in the two tangent directions, nats per squared length, (2, 2).
        radial: ŵᵀFŵ, which theory says is 0.
        ellipse: ½ dwᵀF dw = c, in the two directions, (R, 2).
        contour: KL = c, (R, 2); NaN if no step in that direction reaches c.
        wedge: the angles from ŵ, towards the first direction, between which KL ≤ c, radians,
            (2,); NaN if none reaches c.

    """

    norm: float
    metric: Array
    radial: float
    ellipse: Array
    contour: Array
    wedge: Array

    @property
    def strip(self) -> float:
        """Half the width of the strip ½ dwᵀF dw ≤ c, in the plane of ŵ and the first direction."""
        return float(np.abs(self.ellipse[0, 0]))


@final
@dataclass(frozen=True, eq=False)
class EqualKLByNorm:
    """Equal KL around one block before and after it grows.

    Attributes:
        level: c, nats per case. which: the Fisher information; KL is a mean over the same cases.
        directions: the two tangent unit vectors, (2, K·D): −Ĝ, and one at random.
        at: the norms, in their order.

    """

    level: float
    which: WhichFisher
    directions: Array
    at: tuple[EqualKL, ...]


def equal_kl(
    model: NormalizedGLM,
    X: ArrayLike,
    y: ArrayLike,
    norms: ArrayLike,
    *,
    block: int = 0,
    rng: np.random.Generator,
) -> EqualKLByNorm:
    """Measure contours of the KL around one homogeneous block at several norms, all else fixed.

    c is 1, 2 or 5 times a power of ten, such that the ellipse at the first norm extends to about
    0.4 of that norm.

    Args:
        model: has the block. X: (N, D). y: as the family takes it, for the gradient.
        norms: above 0, (M,). block: its number. rng: draws the second direction.

    Raises:
        ValueError: fewer than two tangent directions, or no curvature in one of them.

    """
    objective = BlockObjective.of(model, X, y, block)
    directions = tangent_directions(objective, rng)
    radii = np.asarray(norms, float)
    first = _metric(objective, directions, radii[0])[:2, :2]
    flattest, steepest = np.linalg.eigvalsh(first)
    if flattest <= ROUND * steepest:
        raise Refusal(
            "An ellipse needs curvature in both of its directions, and one of them has "
            "none here: the outputs do not change along it. Choose another neuron, seed "
            "or method."
        )
    level = round_number(flattest * (0.4 * radii[0]) ** 2 / 2)
    at = tuple(_equal_kl(objective, directions, float(radius), level) for radius in radii)
    around, _ = _around(objective, radii[0])
    return EqualKLByNorm(level, around.F.which, directions, at)


def tangent_directions(objective: BlockObjective, rng: np.random.Generator) -> Array:
    """Return −Ĝ and a random unit vector, both orthogonal to w̃ and to each other, (2, K·D).

    Raises:
        ValueError: there are no two.

    """
    shape = (len(objective.neurons), objective.objective.X.shape[1])
    noise = np.zeros(objective.objective.model.W.shape)
    noise[objective.neurons] = rng.standard_normal(shape)
    gradient = objective.at(objective.own).gradient
    wanted = (objective.own, -gradient, objective.blocks.vectors(noise)[0])
    _, *found = gram_schmidt(wanted, ROUND)
    if len(found) < 2:
        raise Refusal(
            "An ellipse needs two directions across the weights, and this block has {n}. "
            "Choose data with more features, or a layer statistic with more neurons.",
            n=len(found),
        )
    return np.stack(found)


def _around(objective: BlockObjective, radius: float) -> tuple[Neighborhood, Array]:
    """Return the neighborhood at a norm of the block, and ŵ."""
    along = objective.own / objective.own_norm
    model = objective.objective.model.unpack(objective.theta(radius * along))
    return Neighborhood.of(model, objective.objective.X), along


def _metric(objective: BlockObjective, directions: Array, radius: float) -> Array:
    """Return F in the two directions and along ŵ, at a norm of the block, (3, 3)."""
    around, along = _around(objective, radius)
    return around.F.restrict(np.stack([objective.embed(v) for v in (*directions, along)], axis=1))


def _equal_kl(objective: BlockObjective, directions: Array, radius: float, level: float) -> EqualKL:
    around, along = _around(objective, radius)

    def kl(dw: Array) -> float:
        return around.kl(objective.embed(dw))

    metric = _metric(objective, directions, radius)
    rays = np.linspace(0, 2 * np.pi, RAYS + 1)
    units = np.column_stack([np.cos(rays), np.sin(rays)])
    reach = np.sqrt(2 * level / np.einsum("ri,ij,rj->r", units, metric[:2, :2], units))

    true = np.full(len(units), np.nan)
    before, last = np.ones((2, 1))
    for ray, step in enumerate(units[:-1] @ directions):

        def on_ray(t: float, step: Array = step) -> float:
            return kl(t * step)

        true[ray] = reach_of(on_ray, level, guessed(last, before).item() * reach[ray])
        if np.isfinite(true[ray]):
            before, last = last, true[ray : ray + 1] / reach[ray]
    true[-1] = true[0]

    def turned(angle: float) -> float:
        return kl(radius * ((np.cos(angle) - 1) * along + np.sin(angle) * directions[0]))

    start = reach[0] / radius
    wedge = [-reach_of(lambda t: turned(-t), level, start), reach_of(turned, level, start)]
    inside = [angle if abs(angle) <= np.pi else np.nan for angle in wedge]
    return EqualKL(
        norm=radius,
        metric=metric[:2, :2],
        radial=float(metric[2, 2]),
        ellipse=reach[:, None] * units,
        contour=true[:, None] * units,
        wedge=np.array(inside),
    )
