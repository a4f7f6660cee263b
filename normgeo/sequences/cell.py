"""What a recurrent cell is: the products it takes of its state and its inputs, and a step of them.

A cell states its equations and their adjoint, entry by entry. What normalizes its products, the
loop over time, the gradient, the Jacobians and where parameters stand are written once, for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from normgeo.base.arrays import Array

State = tuple[Array, ...]
"""What a cell hands from step to step, each (S, H): h first, then its memory, if it has one."""

Inner = Callable[[Array], Array]


class Product(NamedTuple):
    """One matrix product of a cell, each normalized by itself.

    Attributes:
        gates: how many arrays (S, H) it makes. state: whether it reads h. inputs: whether it
            reads x; of both it reads [h, x].
        first_biases: of each gate, where they are not all 0.

    """

    gates: int
    state: bool = False
    inputs: bool = False
    first_biases: tuple[float, ...] = ()

    def reads(self, h: Array, x: Array) -> Array:
        """What it is of: h, x or [h, x], (S, D)."""
        if self.state and self.inputs:
            return np.concatenate([h, x], axis=-1)
        return h if self.state else x


class Cell(ABC):
    """The equations of a step.

    Attributes:
        key: its name in CELLS. title: in words. latex: lines of its equations, LN where it is
            normalized.
        products: in the order of their parameters.
        memory: whether the state has a memory c beside h, which is normalized on its way to h.

    """

    key: ClassVar[str]
    title: ClassVar[str]
    latex: ClassVar[tuple[str, ...]]
    products: ClassVar[tuple[Product, ...]]
    memory: ClassVar[bool] = False

    @abstractmethod
    def step(self, sums: Sequence[Array], state: State, inner: Inner) -> tuple[State, Any]:
        """Return the next state, and what `back` needs to know of the step.

        Args:
            sums: of each product s = g z + b, (S, gates · H), which may be written over.
            state: before the step.
            inner: normalizes the memory (S, H).

        """

    @abstractmethod
    def back(
        self, kept: Any, change: State, inner: Inner
    ) -> tuple[tuple[Array, ...], tuple[Array | float, ...]]:
        """Return the adjoint of a step: the parts for its sums, and for the state before it.

        The latter without what reaches the state through the sums. `change` may have leading axes.

        Args:
            kept: of `step`. change: the adjoint of the next state. inner: the adjoint of `inner`.

        """

    @property
    def states(self) -> int:
        """How many arrays (S, H) a state is."""
        return 1 + self.memory


def sigmoid(s: Array) -> Array:
    """1/(1 + e^−s)."""
    value = 0.5 * s
    np.tanh(value, out=value)
    value += 1
    value *= 0.5
    return value


def slope(gates: Array) -> Array:
    """The derivative of the logistic function where it is `gates`."""
    value = 1 - gates
    value *= gates
    return value
