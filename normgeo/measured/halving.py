"""Test rows in groups: a group that moves nothing is decided at once, another one is halved."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from normgeo.measured.judging import Verdict


class Sorted(NamedTuple):
    """Rows → their verdicts, as far as they were found; `untried` has the other rows."""

    verdicts: dict[int, Verdict]
    untried: tuple[int, ...]


def sort_rows(
    rows: Sequence[int],
    first: Verdict,
    judge: Callable[[Sequence[int]], Verdict],
    tries: int,
) -> Sorted:
    """Sort rows by the verdict on each.

    Args:
        rows: to sort. first: the verdict on all at once. judge: gives the verdict on some at once.
        tries: how many groups may be judged.

    >>> moves = lambda rows: Verdict("✗" if 3 in rows else "✓", 0.0)
    >>> found = sort_rows(range(8), moves(range(8)), moves, 6)
    >>> [row for row, verdict in found.verdicts.items() if verdict.sign == "✗"], found.untried
    ([3], ())

    """
    verdicts: dict[int, Verdict] = {}
    waiting = deque([(tuple(rows), first)])
    left = tries
    while waiting:
        group, verdict = waiting.popleft()
        if verdict.sign != "✗" or len(group) == 1:
            verdicts.update(dict.fromkeys(group, verdict))
            continue
        if left < 2:
            waiting.append((group, verdict))
            break
        half = (len(group) + 1) // 2
        one = judge(group[:half])
        left -= 1
        other = verdict  # of the other half, if the first half moves nothing
        if one.sign != "✓":
            other = judge(group[half:])
            left -= 1
        waiting += [(group[:half], one), (group[half:], other)]
    unsorted = {row for group, _ in waiting for row in group}
    for group, verdict in waiting:
        if verdict.sign != "✗" or len(group) == 1:
            verdicts.update(dict.fromkeys(group, verdict))
            unsorted -= {*group}
    return Sorted(verdicts, tuple(sorted(unsorted)))
