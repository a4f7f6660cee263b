"""The loss over the plane of a weight vector and its gradient: wedges, constant along rays.

The plane through the origin is spanned by two orthogonal unit vectors of one homogeneous block,

    ŵ = w̃/‖w̃‖    and    −Ĝ = −(∂L/∂w̃)/‖∂L/∂w̃‖,

and z does not change along a ray, so the loss depends only on the angle α from ŵ towards −Ĝ: at
r (cos α ŵ − sin α Ĝ) the loss is L(α), and its gradient within the plane is tangent to the circle
of radius r and has length |L'(α)|/r. There is no curvature along ŵ. Source: section 5.2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import real_number
from normgeo.base.arrays import Array, real_array
from normgeo.base.refusal import Refusal
from normgeo.base.subspaces import part_across
from normgeo.models.glm import NormalizedGLM
from normgeo.models.objective import BlockObjective
from normgeo.normalizers.blocks import dots, lengths


@final
@dataclass(frozen=True, eq=False)
class LossPlane:
    """The loss by angle, in the plane of one block's weights and its gradient or another direction.

    Attributes:
        neurons: of the block, (K,). norm: r = ‖w̃‖, the radius of the measurement.
        along, across: ŵ and −Ĝ, (K·D,), row after row of the block.
        angles: α in radians from ŵ towards −Ĝ, (A,).
        loss: −mean log-likelihood in nats per case, (A,); NaN where z is undefined.
        slope: dL/dα, nats per radian, (A,); the gradient in the plane is this divided by r.
        gradient_norms: ‖∂L/∂w̃‖ in all directions, (A,).
        reasons: A sentences: why the loss is NaN, or "".

    """

    neurons: Array
    norm: float
    along: Array
    across: Array
    angles: Array
    loss: Array
    slope: Array
    gradient_norms: Array
    reasons: tuple[str, ...]


def loss_plane(
    model: NormalizedGLM,
    X: ArrayLike,
    y: ArrayLike,
    *,
    block: int = 0,
    angles: ArrayLike | None = None,
    norm: float | None = None,
    homogeneous: bool = True,
    toward: ArrayLike | None = None,
) -> LossPlane:
    """Measure the loss around one block, all other parameters fixed.

    Args:
        model: has the block. X: (N, D). y: as the family takes it.
        block: its number among the homogeneous blocks.
        angles: α in radians, (A,); None for every 2° from −180° to 180°.
        norm: the radius r > 0; None for the block's own. At ε = 0 it changes only the gradient.
        homogeneous: False measures a single neuron if there is no homogeneous block; the loss then
            depends on the radius too.
        toward: the direction (K·D,) that spans the plane with the weights; None for −∂L/∂w̃.

    Raises:
        ValueError: no such block, a zero gradient, which spans no plane, or bad numbers.

    """
    alphas = np.linspace(-np.pi, np.pi, 181) if angles is None else real_array("angles", angles, 1)
    objective = BlockObjective.of(model, X, y, block, homogeneous=homogeneous)
    radius = objective.own_norm if norm is None else real_number("norm", norm, above=0)
    along = objective.own / objective.own_norm
    gradient = objective.at(objective.own).gradient
    # Up to rounding and ε, the gradient is already orthogonal to the weights.
    direction = -gradient if toward is None else real_array("toward", toward, 1)
    across = part_across(direction, along[None])
    if not across.any():
        raise Refusal(
            "The plane is spanned by the weights and their gradient, which is zero here: the "
            "model is at an optimum. Use other weights."
        )
    across = across / lengths(across)

    values, reasons = np.full((len(alphas), 3), np.nan), [""] * len(alphas)
    for index, alpha in enumerate(alphas):
        try:
            point = objective.at(radius * (np.cos(alpha) * along + np.sin(alpha) * across))
        except Refusal as error:
            reasons[index] = error.args[0]
            continue
        tangent = np.cos(alpha) * across - np.sin(alpha) * along
        slope = radius * dots(point.gradient, tangent)
        values[index] = point.loss, slope, lengths(point.gradient)
    return LossPlane(
        neurons=objective.neurons,
        norm=radius,
        along=along,
        across=across,
        angles=alphas,
        loss=values[:, 0],
        slope=values[:, 1],
        gradient_norms=values[:, 2],
        reasons=tuple(reasons),
    )
