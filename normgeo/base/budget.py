"""The cost of a computation, estimated before it starts, and the budget of a page.

An estimate counts operations and divides them by a rate measured on a slow machine, so it tends to
be too high. Nothing here stops a computation: callers ask before they start one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from normgeo.base.numbers import number
from normgeo.base.refusal import Refusal
from normgeo.base.text import text

MEGABYTE = 1_000_000
GIGABYTE = 1000 * MEGABYTE


@final
@dataclass(frozen=True)
class Cost:
    """The cost of a computation.

    Attributes:
        bytes: of memory at its peak, beyond the program's own.
        seconds: of one processor.

    >>> Cost(2e6, 1.5) + Cost(1e6, 0.5)
    Cost(bytes=3000000.0, seconds=2.0)

    """

    bytes: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        """Return the cost of both, if one keeps its memory while the other runs."""
        return Cost(self.bytes + other.bytes, self.seconds + other.seconds)

    def __str__(self) -> str:
        return text(
            "{seconds} s of one processor and {memory} of memory",
            seconds=number(self.seconds, 2),
            memory=memory(self.bytes),
        )


@final
@dataclass(frozen=True)
class Budget:
    """The most that one computation may take: bytes of memory, and seconds of one processor."""

    bytes: float
    seconds: float

    def allows(self, cost: Cost) -> bool:
        """Whether a computation stays within the budget."""
        return cost.bytes <= self.bytes and cost.seconds <= self.seconds

    def require(self, cost: Cost, what: str) -> None:
        """Refuse a computation beyond the budget, before it starts.

        Args:
            cost: as estimated. what: its title, which begins the sentence.

        Raises:
            Refusal: the cost, the budget, and the way out.

        >>> Budget(500e6, 60).require(Cost(2.5e9, 142), "The metric along the gains")
        Traceback (most recent call last):
        normgeo.base.refusal.Refusal: The metric along the gains would take about 140 s of one \
processor and 2.5 GB of memory; a page allows 60 s and 500 MB. Ask for fewer neurons, steps or \
epochs, or use Python or the command line, which have no such limit.

        """
        if not self.allows(cost):
            raise Refusal(
                "{what} would take about {cost}; a page allows {seconds} s and {memory}. Ask "
                "for fewer neurons, steps or epochs, or use Python or the command line, which "
                "have no such limit.",
                what=what,
                cost=cost,
                seconds=number(self.seconds, 2),
                memory=memory(self.bytes),
            )


PAGES = Budget(bytes=400 * MEGABYTE, seconds=180.0)
"""The budget of a computation that a page starts."""

SMALL = Cost(bytes=16 * MEGABYTE, seconds=0.2)
"""The cost of a picture that is small at all settings."""


def memory(size: float) -> str:
    """Return an amount of memory in a suitable unit.

    >>> memory(2.54e9), memory(13e6), memory(900.0)
    ('2.5 GB', '13 MB', '0.0009 MB')

    """
    if size >= GIGABYTE:
        return text("{size} GB", size=number(size / GIGABYTE, 2))
    return text("{size} MB", size=number(size / MEGABYTE, 2))
