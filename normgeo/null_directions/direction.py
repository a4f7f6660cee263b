"""Null directions to look at and to walk along: one for each reason.

Every change of W in Table 1 is affine in its parameter, so its orbit through W is the straight line
W + r dW: w + r w is w × (1 + r), and w + r γ a shift. The model is the same at every r, as long as
1 + r > 0 for a re-scaling. For other reasons dW is only a tangent of the changes that the model
ignores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, whole_number
from normgeo.base.arrays import Array, real_array
from normgeo.base.text import text
from normgeo.invariance.operations import OwnRowsPlus
from normgeo.invariance.transforms import TRANSFORMS
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.blocks import lengths
from normgeo.null_directions.explanation import Explanation, Reason

NO_REASON = "none"
"""The key of null directions that no reason explains."""

FAINT = 1e-3  # fraction of a pattern's length below which a part counts as none


@final
@dataclass(frozen=True, eq=False)
class Direction:
    """A direction dW of W, with the length of the weight vectors that it moves.

    Attributes:
        reason: the key of its reason, or `NO_REASON`. title: of the reason.
        change: dW (H, D). moved: the neurons whose weight vectors it moves, (H,) true or false.
        alone: whether a single neuron moves.
        count: the number of null directions with this reason and no earlier one.
        rescales: whether W + r dW is W with the moved rows × (1 + r).
        follows: whether the straight line is exactly the change, at any step.

    """

    reason: str
    title: str
    change: Array
    moved: Array
    alone: bool
    count: int
    rescales: bool
    follows: bool

    def beside(self, change: Array) -> Array:
        """Return another change (H, D) of the same weight vectors, scaled to the same length."""
        other = np.where(self.moved[:, None], change, 0.0)
        length = float(lengths(other.ravel())) or 1.0
        scaled: Array = other / length * float(lengths(self.change.ravel()))
        return scaled


def directions(
    model: NormalizedGLM, explanation: Explanation, *, neuron: int = 0, pattern: ArrayLike
) -> tuple[Direction, ...]:
    """Return one null direction of W for each reason that explains any, in the reasons' order.

    Args:
        model: has the weights. explanation: of the null space of its F_WW.
        neuron: the neuron that moves if only one does, or whose group does.
        pattern: γ (D,), which is added; other reasons use the direction nearest to it.

    Raises:
        ValueError: a pattern of another shape, or no such neuron.

    >>> from normgeo import NORMALIZERS
    >>> from normgeo.fisher.operator import fisher
    >>> from normgeo.null_directions.explanation import explain
    >>> from normgeo.null_directions.null_space import null_space
    >>> X = np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 1.0]])
    >>> model = NormalizedGLM(NORMALIZERS["batch"], "gaussian", [[1.0, 0.0], [2.0, 1.0]])
    >>> found = explain(model, X, null_space(fisher(model, X)))
    >>> for one in directions(model, found, pattern=X[0]):
    ...     print(one.title, one.change.tolist())
    weight matrix re-scaling [[1.0, 0.0], [2.0, 1.0]]
    weight vector re-scaling [[1.0, 0.0], [0.0, 0.0]]

    """
    instance_of("model", model, NormalizedGLM)
    W = model.W.astype(np.float64)
    H, D = W.shape
    neuron = whole_number("neuron", neuron, 0, H - 1, text("the neurons"))
    gamma = real_array("pattern", pattern, 1)
    gamma = np.ones(D) if not gamma.any() else gamma
    added = np.broadcast_to(gamma, W.shape)
    found = []
    for reason in instance_of("explanation", explanation, Explanation).reasons:
        if not reason.added:
            continue
        if reason.key in TRANSFORMS:
            found.append(_of_change(reason, model, gamma, neuron))
        else:
            along = _nearest(reason.basis, added, model)
            found.append(_direction(reason.key, reason.title, along, W, reason.added))
    if explanation.unexplained:
        along = _nearest(explanation.rest, added, model)
        title = text("no known reason")
        found.append(_direction(NO_REASON, title, along, W, explanation.unexplained))
    return tuple(found)


def _of_change(reason: Reason, model: NormalizedGLM, gamma: Array, neuron: int) -> Direction:
    """The tangent of a change of the weights; of one group if the change acts on groups."""
    change, W, groups = TRANSFORMS[reason.key], model.W.astype(np.float64), model.normalizer.groups
    alone = change.operation.one_row
    at = W if change.rescales else np.zeros_like(W)
    shift = None
    if not change.rescales:
        shift = np.ones(len(W)) if isinstance(change.operation, OwnRowsPlus) else gamma
    along = change.tangent(at, W, gamma=shift, index=neuron if alone else 0)[0]
    if groups > 1 and not alone:
        size = len(W) // groups
        here = np.arange(len(W)) // size == neuron // size
        along = np.where(here[:, None], along, 0.0)
    found = _direction(reason.key, reason.title, along, W, reason.added, change.rescales, True)
    return replace(found, alone=True) if alone else found


def _nearest(basis: Array, added: Array, model: NormalizedGLM) -> Array:
    """Project a change (H, D) on the span of null directions (P, k); if 0, return the first one."""
    rows = basis[model.layout.weights]
    flat = added.reshape(-1)
    part = rows @ (rows.T @ flat)
    if lengths(part) <= FAINT * lengths(flat):
        part = rows[:, 0]
    along: Array = part.reshape(added.shape)
    return along


def _direction(
    key: str,
    title: str,
    along: Array,
    W: Array,
    count: int,
    rescales: bool = False,
    follows: bool = False,
) -> Direction:
    largest = np.abs(along).max(axis=1)
    moved = largest > 1e-9 * largest.max()
    if not rescales:
        own = float(lengths(W[moved].ravel())) or 1.0
        along = np.where(moved[:, None], along, 0.0)
        along = along / lengths(along.ravel()) * own
    return Direction(key, title, along, moved, False, count, rescales, follows)
