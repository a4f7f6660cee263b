"""What a recurrent cell is: its products of the state and the inputs, and the equations of a step.

A cell defines its equations and their adjoint, entry by entry. All cells share the normalization of
products, the loop over time, the gradient, the Jacobians and the layout of parameters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from normgeo.base.arrays import Array

State = tuple[Array, ...]
"""A cell's state, arrays (S, H): h first, then its memory, if it has one."""

Inner = Callable[[Array], Array]


class Product(NamedTuple):
    """One matrix product of a cell; each product has its own normalization.

    Attributes:
        gates: the number of arrays (S, H) that it computes. state: whether it reads h. inputs:
            whether it reads x; if both, it reads [h, x].
        first_biases: of each gate, unless all are 0.

    """

    gates: int
    state: bool = False
    inputs: bool = False
    first_biases: tuple[float, ...] = ()

    def reads(self, h: Array, x: Array) -> Array:
        """Return its input: h, x or [h, x], (S, D)."""
        if self.state and self.inputs:
            return np.concatenate([h, x], axis=-1)
        return h if self.state else x


class Cell(ABC):
    """The equations of one step of a recurrent cell.

    Attributes:
        key: its name in CELLS. title: in words. latex: lines of its equations; LN marks the
            normalization.
        products: in the order of their parameters.
        memory: whether the state has a memory c beside h, which is normalized when h reads it.

    """

    key: ClassVar[str]
    title: ClassVar[str]
    latex: ClassVar[tuple[str, ...]]
    products: ClassVar[tuple[Product, ...]]
    memory: ClassVar[bool] = False

    @abstractmethod
    def step(self, sums: Sequence[Array], state: State, inner: Inner) -> tuple[State, Any]:
        """Return the next state, and the values that `back` needs.

        Args:
            sums: s = g z + b of each product, (S, gates · H); they may be overwritten.
            state: before the step.
            inner: normalizes the memory (S, H).

        """

    @abstractmethod
    def back(
        self, kept: Any, change: State, inner: Inner
    ) -> tuple[tuple[Array, ...], tuple[Array | float, ...]]:
        """Return the adjoint of a step: the parts for its sums, and for the state before it.

        The latter excludes the part that flows through the sums. `change` may have leading axes.

        Args:
            kept: from `step`. change: the adjoint of the next state. inner: the adjoint of `inner`.

        """

    @property
    def states(self) -> int:
        """The number of arrays (S, H) in a state."""
        return 1 + self.memory


def sigmoid(s: Array) -> Array:
    """1/(1 + e^−s)."""
    value = 0.5 * s
    np.tanh(value, out=value)
    value += 1
    value *= 0.5
    return value


def slope(gates: Array) -> Array:
    """The derivative of the logistic function, from its values `gates`."""
    value = 1 - gates
    value *= gates
    return value
