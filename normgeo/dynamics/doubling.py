"""Doubling a homogeneous block of weights: which quantities stay, halve or quarter.

The output stays. A derivative in the block's weights takes a factor of ½: the gradient once, the
Fisher information once for each of its two indices in the block. The angle of a given change takes
another ½ for the longer radius. Along the block itself there is no curvature, before or after.
Source: section 5.2.2 of the paper, whose single "½" is one row of this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.fisher.operator import fisher
from normgeo.models.glm import NormalizedGLM
from normgeo.models.objective import BlockObjective
from normgeo.normalizers.blocks import angles_turned, lengths

DIRECTIONS = 8  # of each kind of parameter, to measure F
SMALL_TURN = 1e-8  # radians: so small that tan(angle) = angle, up to rounding
ZERO = 1e-10  # of a quantity's possible size, given w̃, g and Cov

GRADIENT, GRADIENT_TURN = text("gradient of the loss"), text("turn by one gradient step")
BETWEEN = text("F between a doubled and another w")
ALONG = text("curvature along w")
FACTORS = {
    text("output s"): Fraction(1),
    text("loss"): Fraction(1),
    text("F of b and g"): Fraction(1),
    text("F of the doubled w"): Fraction(1, 4),
    BETWEEN: Fraction(1, 2),
    text("F between w and b"): Fraction(1, 2),
    text("F between w and g"): Fraction(1, 2),
    GRADIENT: Fraction(1, 2),
    text("ds of a fixed dw"): Fraction(1, 2),
    text("ds² of a fixed dw"): Fraction(1, 4),
    text("turn by a fixed dw"): Fraction(1, 2),
    GRADIENT_TURN: Fraction(1, 4),
    ALONG: Fraction(0),
}


@final
@dataclass(frozen=True)
class DoublingRow:
    """One quantity q before and q' after a block of weights doubles.

    Attributes:
        quantity: a key of FACTORS. predicted: its factor; 0 if q is 0 before and after.
        measured: the factor that fits best, Σqq'/Σq², or None if there is a `reason`. If 0 is
            predicted, the larger of q and q', divided by the mean of q in orthogonal directions.
        spread: ‖q' − factor · q‖/‖q'‖, the deviation of the entries from one common factor.
        before, after: ‖q‖ and ‖q'‖ over all measured entries.
        reason: why there is no factor, or "".

    """

    quantity: str
    predicted: Fraction
    measured: float | None
    spread: float
    before: float
    after: float
    reason: str = ""


def doubling_table(
    model: NormalizedGLM, X: ArrayLike, y: ArrayLike, block: int = 0
) -> tuple[DoublingRow, ...]:
    """Double one homogeneous block of weights, all else fixed; measure every factor of FACTORS.

    Parts of F are measured as bilinear forms uᵀFv of 8 random unit vectors of each kind, drawn with
    a fixed seed, and angles at 1e-8 radians. With ε > 0 the factors hold for ε ≪ σ².

    Args:
        model: before doubling. X: (N, D). y: as the family takes it. block: its number.

    Raises:
        ValueError: there is no such block, z is undefined, or the gradient is too short for a step.

    >>> from normgeo import NORMALIZERS
    >>> model = NormalizedGLM(NORMALIZERS["weight"], "bernoulli", [[3.0, 4.0]])
    >>> rows = doubling_table(model, [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0, 1, 1])
    >>> [f"{row.quantity}: {row.measured:.4f} ({row.predicted})" for row in rows[-3:-1]]
    ['turn by a fixed dw: 0.5000 (1/2)', 'turn by one gradient step: 0.2500 (1/4)']

    """
    objective = BlockObjective.of(model, X, y, block)
    changes = _Changes.draw(objective)
    before, after = (_measure(objective, changes, k * objective.own) for k in (1.0, 2.0))
    scales = _scales(objective, changes)
    no_other = len(objective.neurons) == len(model.W)
    single = _directions(objective) == 1

    def vanishes(quantity: str) -> bool:
        return bool(np.abs(before[quantity]).max() <= ZERO * scales.get(quantity, 0.0))

    rows = []
    for quantity, predicted in FACTORS.items():
        q, changed, reason = before[quantity], after[quantity], ""
        if quantity == BETWEEN and no_other:
            reason = text("All weights are in the block that doubles.")
        elif vanishes(quantity) or (quantity == GRADIENT_TURN and vanishes(GRADIENT)):
            reason = text("It is 0 before and after.")
            if quantity == BETWEEN and not model.family.coupled:
                reason = text("It is 0 before and after: the outputs are independent, Cov_ij = 0.")
        if single and predicted != 1 and (not reason or quantity == ALONG):
            reason = text(
                "The block has only one direction, its own, along which only ε changes z: "
                "nothing turns."
            )
        rows.append(_row(quantity, predicted, q, changed, reason))
    return tuple(rows)


def _directions(objective: BlockObjective) -> int:
    """Return the dimension of the block's centered weights."""
    center = objective.blocks.normalizer.centering
    features: int = objective.objective.X.shape[1] - center.feature_dimensions_lost
    return (len(objective.neurons) - center.neuron_dimensions_lost) * features


@final
@dataclass(frozen=True, eq=False)
class _Changes:
    """Changes that are the same before and after doubling.

    Attributes:
        block: 8 unit vectors of the block's centered weights, (8, K·D).
        theta: 8 unit vectors of each kind as columns: the same, other weights (zeros if there are
            none), b and g, (P, 32).
        rate: of a gradient step with the angle SMALL_TURN; 0 if the gradient is 0.

    """

    block: Array
    theta: Array
    rate: float

    @classmethod
    def draw(cls, objective: BlockObjective) -> _Changes:
        layout, rng = objective.objective.model.layout, np.random.default_rng(0)
        drawn = rng.standard_normal((DIRECTIONS, layout.neurons, layout.features))
        block = np.stack([objective.blocks.vectors(dW)[0] for dW in drawn])
        block /= lengths(block)[:, None]
        kinds = [np.stack([objective.embed(dw) for dw in block])]
        others = np.delete(layout.weights.reshape(drawn.shape[1:]), objective.neurons, axis=0)
        for indices in (others.reshape(-1), layout.biases, layout.gains):
            kind = np.zeros((DIRECTIONS, layout.size))
            kind[:, indices] = rng.standard_normal((DIRECTIONS, len(indices)))
            kinds.append(kind / (lengths(kind)[:, None] if len(indices) else 1.0))
        steepest = lengths(objective.at(objective.own).gradient)
        with np.errstate(over="ignore"):
            rate = SMALL_TURN * objective.own_norm / steepest if steepest else 0.0
        if not np.isfinite(rate):
            raise Refusal(
                "The block must turn by a gradient step; no rate is large enough for one at "
                "‖w‖ = {norm:.3g} and ‖G‖ = {length:.3g}. Scale the weights down.",
                norm=objective.own_norm,
                length=steepest,
            )
        return cls(block, np.concatenate(kinds).T, float(rate))


def _measure(objective: BlockObjective, changes: _Changes, w: Array) -> dict[str, Array]:
    """Return every quantity of FACTORS at the block's centered weights w (K·D,)."""
    at, loss, G = objective.at(w)
    F = fisher(objective.objective.model.unpack(objective.theta(w)), objective.objective.X)
    parts = F.restrict(changes.theta).reshape(4, DIRECTIONS, 4, DIRECTIONS).swapaxes(1, 2)
    of_block, with_others, with_b, with_g = parts[0]
    squared_lengths = np.diagonal(of_block) / 2
    fixed = SMALL_TURN * objective.own_norm * changes.block
    along = F.quad(objective.embed(w / lengths(w)))
    mean_across = np.diagonal(of_block).mean()
    return {
        "output s": at.s,
        "loss": np.array(loss),
        "F of b and g": parts[2:, 2:],
        "F of the doubled w": of_block,
        BETWEEN: with_others,
        "F between w and b": with_b,
        "F between w and g": with_g,
        GRADIENT: G,
        "ds of a fixed dw": np.sqrt(squared_lengths),
        "ds² of a fixed dw": squared_lengths,
        "turn by a fixed dw": angles_turned(np.broadcast_to(w, fixed.shape), fixed),
        GRADIENT_TURN: angles_turned(w, -changes.rate * G),
        ALONG: along / (mean_across or 1.0),
    }


def _scales(objective: BlockObjective, changes: _Changes) -> dict[str, float]:
    """Return the possible size of each quantity that may vanish; far below, it is rounding."""
    model = objective.objective.model
    F = fisher(model, objective.objective.X)
    sizes = np.sqrt(np.diagonal(F.restrict(changes.theta)).reshape(4, -1).mean(axis=1))
    _, other, b, g = (float(size) for size in sizes)
    # A change dw as large as the block would change g z by its own size, as dg = g does.
    gains = model.pack()[model.layout.gains][objective.neurons]
    w = g * float(np.sqrt(np.mean(gains**2))) / objective.own_norm
    return {
        "F of the doubled w": w * w,
        BETWEEN: w * other,
        "F between w and b": w * b,
        "F between w and g": w * g,
        GRADIENT: w,
        "ds of a fixed dw": w,
        "ds² of a fixed dw": w * w,
    }


def _row(
    quantity: str, predicted: Fraction, before: Array, after: Array, reason: str
) -> DoublingRow:
    q, changed = np.ravel(before), np.ravel(after)
    sizes = float(lengths(q)), float(lengths(changed))
    if reason:
        return DoublingRow(quantity, predicted, None, 0.0, *sizes, reason)
    if not predicted:
        return DoublingRow(quantity, predicted, max(sizes), 0.0, *sizes)
    factor = float(q / sizes[0] @ changed) / sizes[0]
    spread = float(lengths(changed - factor * q)) / (sizes[1] or 1.0)
    return DoublingRow(quantity, predicted, factor, spread, *sizes)
