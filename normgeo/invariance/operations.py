"""Five operations on the rows of a matrix, each affine in its parameter: a factor or a shift."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, final

import numpy as np

from normgeo.base.arrays import Array

Factor = Any  # a float, a Fraction, or any number type of the arrays


class Operation(ABC):
    """An operation on the rows of M (R, D), affine in its parameter."""

    key: ClassVar[str]
    symbol: ClassVar[str]
    one_row: ClassVar[bool] = False

    @property
    def rescales(self) -> bool:
        """Whether the parameter is a factor δ, rather than a shift γ."""
        return isinstance(self, Rescaling)

    @abstractmethod
    def in_numpy(self, matrix: str, index: int) -> str:
        """Return a line of NumPy that changes a matrix (R, D) in place, by delta or delta·gamma."""


class Rescaling(Operation):
    """Rows are multiplied by δ ≠ 0."""

    @abstractmethod
    def rescale(self, M: Array, delta: Factor, index: int) -> Array:
        """Return the changed copy of M (R, D)."""


class Shift(Operation):
    """Something is added to rows; linear in γ, which has the shape `gamma_shape`."""

    @abstractmethod
    def shift(self, M: Array, gamma: Array, index: int) -> Array:
        """Return the changed copy of M (R, D)."""

    @abstractmethod
    def gamma_shape(self, M: Array) -> tuple[int]:
        """Return the shape of γ for M (R, D)."""


def _with_row(M: Array, index: int, row: Array) -> Array:
    """Return a copy of M with one row replaced, in a type that holds both: integers may not."""
    changed = M.astype(np.result_type(M, row))
    changed[..., index, :] = row
    return changed


@final
class AllRowsTimes(Rescaling):
    """Every row × δ."""

    key, symbol = "all_times", "all ×"

    def rescale(self, M: Array, delta: Factor, index: int) -> Array:
        changed: Array = M * delta
        return changed

    def in_numpy(self, matrix: str, index: int) -> str:
        return f"{matrix} *= delta"


@final
class AllRowsPlus(Shift):
    """Every row + γ, the same γ (D,)."""

    key, symbol = "all_plus", "all +"

    def shift(self, M: Array, gamma: Array, index: int) -> Array:
        changed: Array = M + gamma[..., None, :]
        return changed

    def in_numpy(self, matrix: str, index: int) -> str:
        return f"{matrix} += delta * gamma"

    def gamma_shape(self, M: Array) -> tuple[int]:
        return (M.shape[-1],)


@final
class OneRowTimes(Rescaling):
    """The row `index` × δ."""

    key, symbol, one_row = "one_times", "one ×", True

    def rescale(self, M: Array, delta: Factor, index: int) -> Array:
        return _with_row(M, index, M[..., index, :] * delta)

    def in_numpy(self, matrix: str, index: int) -> str:
        return f"{matrix}[{index}] *= delta"


@final
class OneRowPlus(Shift):
    """The row `index` + γ (D,)."""

    key, symbol, one_row = "one_plus", "one +", True

    def shift(self, M: Array, gamma: Array, index: int) -> Array:
        return _with_row(M, index, M[..., index, :] + gamma)

    def in_numpy(self, matrix: str, index: int) -> str:
        return f"{matrix}[{index}] += delta * gamma"

    def gamma_shape(self, M: Array) -> tuple[int]:
        return (M.shape[-1],)


@final
class OwnRowsPlus(Shift):
    """Every row + its own scalar, m_r + c_r 1; γ holds the scalars (R,)."""

    key, symbol = "own_plus", "own +"

    def shift(self, M: Array, gamma: Array, index: int) -> Array:
        changed: Array = M + gamma[..., None]
        return changed

    def in_numpy(self, matrix: str, index: int) -> str:
        return f"{matrix} += delta * gamma[:, None]"

    def gamma_shape(self, M: Array) -> tuple[int]:
        return (M.shape[-2],)


OPERATIONS: dict[str, Rescaling | Shift] = {
    operation.key: operation
    for operation in (AllRowsTimes(), AllRowsPlus(), OneRowTimes(), OneRowPlus(), OwnRowsPlus())
}
