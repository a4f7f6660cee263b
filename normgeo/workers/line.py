"""A line that is fair to visitors: one with many wishes does not hold up another with one."""

from __future__ import annotations

from bisect import insort
from collections.abc import Hashable, Iterator
from itertools import count
from typing import Generic, NamedTuple, TypeVar, final

Item = TypeVar("Item")


class _Place(NamedTuple, Generic[Item]):
    """Where an item waits: in which round, and there in the order of arrival."""

    round: int
    arrival: int
    visitor: Hashable
    item: Item


@final
class Line(Generic[Item]):
    """Items that wait, taken from visitor after visitor (round robin).

    They are taken in rounds, one item of each visitor in each. Who comes during a round is in the
    next one, so nobody waits for a stream of newcomers.

    >>> line = Line()
    >>> for visitor, item in (("A", "a1"), ("A", "a2"), ("A", "a3"), ("B", "b1")):
    ...     line.add(visitor, item)
    >>> [line.take() for _ in range(len(line))]
    ['a1', 'b1', 'a2', 'a3']

    """

    def __init__(self) -> None:
        self._places: list[_Place[Item]] = []
        self._round = -1  # of the item that was taken last
        self._arrivals = count()

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Item]:
        return iter([place.item for place in self._places])

    def add(self, visitor: Hashable, item: Item) -> None:
        """Let an item of a visitor wait."""
        own = (place.round for place in self._places if place.visitor == visitor)
        round = max(own, default=self._round) + 1
        insort(self._places, _Place(round, next(self._arrivals), visitor, item))

    def take(self) -> Item:
        """Remove the item whose turn it is, and return it; the line is not empty."""
        place = self._places.pop(0)
        self._round = place.round
        return place.item

    def before(self, item: Item) -> int:
        """Return how many are to be taken before an item that waits."""
        return list(self).index(item)

    def drop(self, item: Item) -> None:
        """Remove an item that waits; its visitor's later ones move up."""
        gone = self._places.pop(self.before(item))
        self._places = sorted(
            place._replace(round=place.round - 1)
            if place.visitor == gone.visitor and place.round > gone.round
            else place
            for place in self._places
        )
