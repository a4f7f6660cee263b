"""A queue that is fair to visitors: one with many wishes does not hold up another with one."""

from __future__ import annotations

from bisect import insort
from collections.abc import Hashable, Iterator
from itertools import count
from typing import Generic, NamedTuple, TypeVar, final

Item = TypeVar("Item")


class _Waiting(NamedTuple, Generic[Item]):
    """The place of an item: its round, and its order of arrival within it."""

    round: int
    arrival: int
    visitor: Hashable
    item: Item


@final
class FairQueue(Generic[Item]):
    """A queue that serves visitors in turn (round robin).

    Each round takes one item of each visitor. A visitor who arrives during a round joins the next
    one, so a stream of newcomers holds up nobody.

    >>> queue = FairQueue()
    >>> for visitor, item in (("A", "a1"), ("A", "a2"), ("A", "a3"), ("B", "b1")):
    ...     queue.add(visitor, item)
    >>> [queue.take() for _ in range(len(queue))]
    ['a1', 'b1', 'a2', 'a3']

    """

    def __init__(self) -> None:
        self._waiting: list[_Waiting[Item]] = []
        self._round = -1  # the round of the item taken last
        self._arrivals = count()

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Item]:
        return iter([waiting.item for waiting in self._waiting])

    def add(self, visitor: Hashable, item: Item) -> None:
        """Add an item of a visitor."""
        own = (waiting.round for waiting in self._waiting if waiting.visitor == visitor)
        round = max(own, default=self._round) + 1
        insort(self._waiting, _Waiting(round, next(self._arrivals), visitor, item))

    def take(self) -> Item:
        """Remove the item whose turn it is, and return it; the queue is not empty."""
        waiting = self._waiting.pop(0)
        self._round = waiting.round
        return waiting.item

    def before(self, item: Item) -> int:
        """Return how many items come before a waiting one."""
        return list(self).index(item)

    def drop(self, item: Item) -> None:
        """Remove a waiting item; its visitor's later items move up."""
        gone = self._waiting.pop(self.before(item))
        self._waiting = sorted(
            waiting._replace(round=waiting.round - 1)
            if waiting.visitor == gone.visitor and waiting.round > gone.round
            else waiting
            for waiting in self._waiting
        )
