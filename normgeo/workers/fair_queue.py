"""A queue that is fair to visitors: one with many wishes does not hold up another with one."""

from __future__ import annotations

from bisect import insort
from collections.abc import Hashable, Iterator
from itertools import count
from typing import Generic, NamedTuple, TypeVar, final

Item = TypeVar("Item")


class _Waiting(NamedTuple, Generic[Item]):
    """Where an item waits: in which round, and there in the order of arrival."""

    round: int
    arrival: int
    visitor: Hashable
    item: Item


@final
class FairQueue(Generic[Item]):
    """Items that wait, taken from visitor after visitor (round robin).

    They are taken in rounds, one item of each visitor in each. Who comes during a round is in the
    next one, so nobody waits for a stream of newcomers.

    >>> queue = FairQueue()
    >>> for visitor, item in (("A", "a1"), ("A", "a2"), ("A", "a3"), ("B", "b1")):
    ...     queue.add(visitor, item)
    >>> [queue.take() for _ in range(len(queue))]
    ['a1', 'b1', 'a2', 'a3']

    """

    def __init__(self) -> None:
        self._waiting: list[_Waiting[Item]] = []
        self._round = -1  # of the item that was taken last
        self._arrivals = count()

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Item]:
        return iter([waiting.item for waiting in self._waiting])

    def add(self, visitor: Hashable, item: Item) -> None:
        """Let an item of a visitor wait."""
        own = (waiting.round for waiting in self._waiting if waiting.visitor == visitor)
        round = max(own, default=self._round) + 1
        insort(self._waiting, _Waiting(round, next(self._arrivals), visitor, item))

    def take(self) -> Item:
        """Remove the item whose turn it is, and return it; the queue is not empty."""
        waiting = self._waiting.pop(0)
        self._round = waiting.round
        return waiting.item

    def before(self, item: Item) -> int:
        """Return how many are to be taken before an item that waits."""
        return list(self).index(item)

    def drop(self, item: Item) -> None:
        """Remove an item that waits; its visitor's later ones move up."""
        gone = self._waiting.pop(self.before(item))
        self._waiting = sorted(
            waiting._replace(round=waiting.round - 1)
            if waiting.visitor == gone.visitor and waiting.round > gone.round
            else waiting
            for waiting in self._waiting
        )
