"""Learning rates over the steps of a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arguments import real_number, shown, whole_number
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal


class Schedule(ABC):
    """A learning rate η_t for every step t, counted from 0."""

    @abstractmethod
    def rates(self, steps: Array) -> Array:
        """Return η_t ≥ 0, of the shape of `steps`; an infinite rate ends a run."""


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
    """η_t = η r^t, η and r above 0: it grows for r > 1, decays for r < 1.

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


@final
@dataclass(frozen=True)
class WarmUp(Schedule):
    """η_t = η min(1, (t + 1)/T), η above 0: it grows to η in the first T steps, and stays.

    >>> WarmUp(0.1, steps=2).rates(np.arange(4)).tolist()
    [0.05, 0.1, 0.1, 0.1]
    """

    rate: float
    steps: int

    def __post_init__(self) -> None:
        real_number("rate", self.rate, above=0)
        whole_number("steps", self.steps, 1)

    def rates(self, steps: Array) -> Array:
        rates: Array = self.rate * np.minimum(1.0, (np.asarray(steps) + 1) / self.steps)
        return rates


def rates_of(rate: float | Schedule, steps: Array, name: str = "rate") -> Array:
    """Return η_t of a schedule or of a constant, for each step; `name` is the argument's name.

    Raises:
        Refusal: a bad number, or a schedule whose results are not rates.

    """
    if not isinstance(rate, Schedule):
        return Constant(real_number(name, rate, least=0)).rates(steps)
    rates, found = np.empty(0), rate.rates(steps)
    with suppress(TypeError, ValueError, RuntimeError):
        rates = np.asarray(found)
    if rates.shape != steps.shape or rates.dtype.kind not in "fiu" or not (rates >= 0).all():
        raise Refusal(
            "The `rates` of a schedule must return numbers of 0 or more, one for each step; "
            "those of `{name}` return {found} for {count} steps.",
            name=name,
            found=shown(found),
            count=len(steps),
        )
    return rates
