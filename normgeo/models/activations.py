"""Activations: h = f(s), a function of the natural parameter of a neuron, and its slope."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, final

import numpy as np

from normgeo.base.arguments import entry_of
from normgeo.base.arrays import Array
from normgeo.base.text import text


class Activation(ABC):
    """A function f applied neuron by neuron, and its derivative."""

    key: ClassVar[str]
    title: ClassVar[str]
    latex: ClassVar[str]
    """The name of f in a formula."""
    weight_variance: ClassVar[float] = 1.0
    """Over D, the variance of random weights that preserve the scale of h through many layers."""

    @abstractmethod
    def value(self, s: Array) -> Array:
        """Return f(s), of the shape of s."""

    @abstractmethod
    def slope(self, s: Array) -> Array:
        """Return f'(s), of the shape of s."""


@final
class Tanh(Activation):
    """f = tanh s, f' = 1/cosh² s."""

    key, title, latex = "tanh", "f = tanh", r"\tanh"

    def value(self, s: Array) -> Array:
        hidden: Array = np.tanh(s)
        return hidden

    def slope(self, s: Array) -> Array:
        # 1 − tanh² s rounds to 0 from |s| = 19; this keeps its digits up to |s| = 350.
        decay = np.exp(-2 * np.abs(s))
        slope: Array = 4 * decay / (1 + decay) ** 2
        return slope


@final
class Relu(Activation):
    """f = max(s, 0), f' = 1 above 0 and 0 elsewhere."""

    key, title, latex = "relu", "f = ReLU", r"\mathrm{ReLU}"
    weight_variance = 2.0

    def value(self, s: Array) -> Array:
        hidden: Array = np.maximum(s, 0)
        return hidden

    def slope(self, s: Array) -> Array:
        on: Array = (s > 0).astype(s.dtype)
        return on


@final
class Identity(Activation):
    """f = s, f' = 1."""

    key, title, latex = "identity", text("f = identity"), r"\mathrm{id}"

    def value(self, s: Array) -> Array:
        return s

    def slope(self, s: Array) -> Array:
        return np.ones_like(s)


ACTIVATIONS: dict[str, Activation] = {a.key: a for a in (Tanh(), Relu(), Identity())}


def activation_of(activation: str | Activation) -> Activation:
    """Return an activation, or the one with this key of ACTIVATIONS.

    Raises:
        ValueError: an unknown key.

    """
    return entry_of("activation", activation, ACTIVATIONS, Activation)
