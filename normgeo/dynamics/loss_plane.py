"""The loss over the plane of a weight vector and its gradient: wedges, constant along rays.

The plane through the origin is spanned by two orthogonal unit vectors of one homogeneous block,

    ŵ = w̃/‖w̃‖    and    −Ĝ = −(∂L/∂w̃)/‖∂L/∂w̃‖,

and z does not change along a ray, so one angle α from ŵ towards −Ĝ says it all: at the vector
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
from normgeo.base.text import text
from normgeo.models.glm import NormalizedGLM
from normgeo.models.objective import BlockObjective
from normgeo.normalizers.blocks import dots, lengths


@final
@dataclass(frozen=True, eq=False)
class LossPlane:
    """The loss by angle, in the plane of one block's weights and its own gradient.

    Attributes:
        neurons: of the block, (K,). norm: r = ‖w̃‖, at which the plane was measured.
        along, across: ŵ and −Ĝ, (K·D,), row after row of the block.
        angles: α in radians from ŵ towards −Ĝ, (A,).
        loss: −mean log-likelihood in nats per case, (A,); NaN where z is undefined.
        slope: dL/dα, nats per radian, (A,); divided by r it is the gradient in the plane.
        gradient_norms: ‖∂L/∂w̃‖ in all directions, (A,).
        reasons: why there is no number, "" where there is one; A sentences.

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
) -> LossPlane:
    """Measure the loss around one block, all other parameters held.

    Args:
        model: whose block is turned. X: (N, D). y: as the family takes.
        block: which of the homogeneous blocks.
        angles: α in radians, (A,); every 2° from −180° to 180° where None.
        norm: the radius r > 0 to measure at, the block's own where None. It changes nothing
            but the gradient, at ε = 0.
        homogeneous: False takes each neuron by itself where there is no homogeneous block; the loss
            then depends on the radius too.

    Raises:
        ValueError: no such block, a gradient of zero (which spans no plane), or bad numbers.

    """
    alphas = np.linspace(-np.pi, np.pi, 181) if angles is None else real_array("angles", angles, 1)
    objective = BlockObjective.of(model, X, y, block, homogeneous=homogeneous)
    radius = objective.own_norm if norm is None else real_number("norm", norm, above=0)
    along = objective.own / objective.own_norm
    gradient = objective.at(objective.own).gradient
    # The gradient is orthogonal to the weights but for rounding and ε.
    across = part_across(-gradient, along[None])
    if not across.any():
        raise Refusal(
            text(
                "The plane is spanned by the weights and their gradient, which is zero here: the "
                "model is at an optimum. Use other weights."
            )
        )
    across = across / lengths(across)

    values, reasons = np.full((len(alphas), 3), np.nan), [""] * len(alphas)
    for place, alpha in enumerate(alphas):
        try:
            point = objective.at(radius * (np.cos(alpha) * along + np.sin(alpha) * across))
        except Refusal as error:
            reasons[place] = error.args[0]
            continue
        tangent = np.cos(alpha) * across - np.sin(alpha) * along
        slope = radius * dots(point.gradient, tangent)
        values[place] = point.loss, slope, lengths(point.gradient)
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
