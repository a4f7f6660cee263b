"""Learning rates over the steps of a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arguments import real_number
from normgeo.base.arrays import Array


class Schedule(ABC):
    """A learning rate η_t for every step t, counted from 0."""

    @abstractmethod
    def rates(self, steps: Array) -> Array:
        """Return η_t, of the shape of `steps`."""


@final
@dataclass(frozen=True)
class Constant(Schedule):
    """η_t = η ≥ 0."""

    rate: float

    def __post_init__(self) -> None:
        real_number("rate", self.rate, least=0)

    def rates(self, steps: Array) -> Array:
        return np.full(np.shape(steps), float(self.rate))


@final
@dataclass(frozen=True)
class Exponential(Schedule):
    """η_t = η r^t, both above 0: r > 1 grows, r < 1 decays.

    >>> Exponential(0.1, ratio=2).rates(np.arange(4)).tolist()
    [0.1, 0.2, 0.4, 0.8]
    """

    rate: float
    ratio: float

    def __post_init__(self) -> None:
        real_number("rate", self.rate, above=0)
        real_number("ratio", self.ratio, above=0)

    def rates(self, steps: Array) -> Array:
        with np.errstate(over="ignore"):
            rates: Array = self.rate * float(self.ratio) ** np.asarray(steps)
        return rates


def schedule_of(rate: float | Schedule, name: str = "rate") -> Schedule:
    """Return a schedule, or the constant one of a number; `name` is that of the argument."""
    return rate if isinstance(rate, Schedule) else Constant(real_number(name, rate, least=0))
