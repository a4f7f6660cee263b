"""Ten changes of weights or data: five operations on the rows of a matrix, two matrices.

The rows of W are weight vectors and the rows of X are cases, so every column of Table 1 is one of
these changes. Its dual is the same operation on the other matrix (exchanging W and X transposes
A = X Wᵀ).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import is_whole, shown
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.invariance.operations import OPERATIONS, Factor, Rescaling, Shift


@final
@dataclass(frozen=True)
class Transform:
    """One change of (W, X): an operation on the rows of one of the two.

    Attributes:
        key: the name, as in Table 1. label: the same in a few words.
        operation: on the rows. matrix: "W" or "X".
        column: its column of Table 1, None for the four that the paper leaves out.
        on_images: its effect if rows are images. added: the effect of a shift on a.

    """

    key: str
    label: str
    operation: Rescaling | Shift
    matrix: str
    column: int | None = None
    on_images: str = ""
    added: str = ""

    @property
    def rescales(self) -> bool:
        """Whether its parameter is a factor δ, not a shift γ."""
        return self.operation.rescales

    @property
    def dual(self) -> Transform:
        """The same operation on the other matrix, as if W and X were exchanged.

        >>> TRANSFORMS["case_rescaling"].dual.key
        'weight_vector_rescaling'

        """
        (other,) = (
            change
            for change in TRANSFORMS.values()
            if change.operation is self.operation and change.matrix != self.matrix
        )
        return other

    def changed(self, W: Array, X: Array) -> Array:
        """Return the matrix, W or X, whose rows it changes."""
        return W if self.matrix == "W" else X

    def reaches(self, shape: tuple[int, ...]) -> Array:
        """Which of (N, H) summed inputs depend on a changed row: row 0, if only one changes."""
        reached = np.zeros(shape, dtype=bool)
        rows = 0 if self.operation.one_row else slice(None)
        self.changed(reached.T, reached)[rows] = True
        return reached

    def gamma_shape(self, W: Array, X: Array) -> tuple[int]:
        """Return the shape of γ: (D,) for a re-centering, one scalar a row for offsets.

        Raises:
            ValueError: for a re-scaling, which has no γ.

        """
        if isinstance(self.operation, Rescaling):
            raise Refusal("'{key}' is a re-scaling: it takes delta, not gamma.", key=self.key)
        return self.operation.gamma_shape(self.changed(W, X))

    def __call__(
        self,
        W: Array,
        X: Array,
        *,
        delta: Factor | None = None,
        gamma: ArrayLike | None = None,
        index: int = 0,
    ) -> tuple[Array, Array]:
        """Return (W', X').

        Args:
            W: (H, D); X: (N, D).
            delta: the factor of a re-scaling, not 0.
            gamma: the shift of the others, of shape `gamma_shape`.
            index: the neuron or the case, if one row changes.

        Raises:
            ValueError: δ = 0, a missing or misplaced parameter, γ of another shape, or an index
                outside the rows.

        """
        self.require_row(W, X, index)
        M = self.changed(W, X)
        changed = self._change(M, delta, gamma, index)
        return (changed, X) if self.matrix == "W" else (W, changed)

    def require_row(self, W: Array, X: Array, index: int) -> None:
        """Raise a ValueError if there is no row `index` to change."""
        rows = self.changed(W, X).shape[-2]
        if not (is_whole(index) and -rows <= index < rows):
            raise Refusal(
                "The {rows} rows of {matrix} are numbered from 0 to {last}: there is no row "
                "{index}.",
                rows=rows,
                matrix=self.matrix,
                last=rows - 1,
                index=shown(index),
            )

    def tangent(
        self, W: Array, X: Array, *, gamma: ArrayLike | None = None, index: int = 0
    ) -> tuple[Array, Array]:
        """Return (dW, dX), the velocity of the change: T(2) − T(1) in δ, or T(γ) − T(0).

        This is exact, because every change is affine in its parameter.
        """
        delta = 2 if self.rescales else None
        W1, X1 = self(W, X, delta=delta, gamma=gamma, index=index)
        return W1 - W, X1 - X

    def _change(self, M: Array, delta: Factor | None, gamma: ArrayLike | None, index: int) -> Array:
        if isinstance(self.operation, Rescaling):
            if delta is None or gamma is not None:
                raise Refusal("'{key}' takes a factor: give delta, and no gamma.", key=self.key)
            if isinstance(delta, Real) and not (isfinite(delta) and delta != 0):
                raise Refusal(
                    "`delta` must be a finite number other than 0; got {delta}. "
                    "A factor of 0 would erase what it scales.",
                    delta=shown(delta),
                )
            return self.operation.rescale(M, delta, index)
        shape = self.operation.gamma_shape(M)
        if gamma is None or delta is not None:
            raise Refusal(
                "'{key}' takes a shift: give gamma of shape {shape}, no delta.",
                key=self.key,
                shape=shape,
            )
        gamma = np.asarray(gamma)
        if gamma.shape[-1:] != shape or gamma.ndim >= M.ndim:
            raise Refusal(
                "`gamma` of '{key}' must have shape {shape}; got {got}.",
                key=self.key,
                shape=shape,
                got=gamma.shape,
            )
        return self.operation.shift(M, gamma, index)


TRANSFORMS: dict[str, Transform] = {
    transform.key: transform
    for transform in (
        Transform(
            "weight_matrix_rescaling",
            text("weight matrix re-scaling"),
            OPERATIONS["all_times"],
            "W",
            1,
            text("the length of every weight vector"),
        ),
        Transform(
            "weight_matrix_recentering",
            text("weight matrix re-centering"),
            OPERATIONS["all_plus"],
            "W",
            2,
            text("the same overlay on every weight vector"),
            text("s = γ·x, the same for all neurons of a case"),
        ),
        Transform(
            "weight_vector_rescaling",
            text("weight vector re-scaling"),
            OPERATIONS["one_times"],
            "W",
            3,
            text("the length of one weight vector"),
        ),
        Transform(
            "weight_vector_recentering",
            text("weight vector re-centering"),
            OPERATIONS["one_plus"],
            "W",
            None,
            text("an overlay on one weight vector"),
            text("s = γ·x, in one neuron only"),
        ),
        Transform(
            "weight_vector_offsets",
            text("weight vector offsets"),
            OPERATIONS["own_plus"],
            "W",
            None,
            text("for each weight vector its own brightness"),
            text("s = cₕ times the sum of x, with a cₕ for each neuron"),
        ),
        Transform(
            "dataset_rescaling",
            text("dataset re-scaling"),
            OPERATIONS["all_times"],
            "X",
            4,
            text("the contrast of every image"),
        ),
        Transform(
            "dataset_recentering",
            text("dataset re-centering"),
            OPERATIONS["all_plus"],
            "X",
            5,
            text("the same overlay on every image"),
            text("s = γ·w, the same for all cases of a neuron"),
        ),
        Transform(
            "case_rescaling",
            text("single case re-scaling"),
            OPERATIONS["one_times"],
            "X",
            6,
            text("the contrast of one image"),
        ),
        Transform(
            "case_recentering",
            text("single case re-centering"),
            OPERATIONS["one_plus"],
            "X",
            None,
            text("an overlay on one image"),
            text("s = γ·w, in one case only"),
        ),
        Transform(
            "case_offsets",
            text("single case offsets"),
            OPERATIONS["own_plus"],
            "X",
            None,
            text("for each image its own brightness"),
            text("s = cₙ times the sum of w, with a cₙ for each case"),
        ),
    )
}

TABLE_1: tuple[str, ...] = tuple(
    key for key, transform in TRANSFORMS.items() if transform.column is not None
)
