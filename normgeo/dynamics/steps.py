"""The steps of a run: taken one after the other, told of, and ended early where one fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar, final

from normgeo.base.progress import Ended, Progress, Report

Outcome = TypeVar("Outcome")


@final
class Steps(Generic[Outcome]):
    """Step numbers, from 1, with what each step came to; what they leave is the caller's to keep.

    They end where all are taken, where a report asks for it, or before the step that fails with a
    ValueError, which `ended` then names.

    >>> steps = Steps(map(int, ["3", "1", "four", "1"]), 4)
    >>> list(steps), steps.ended.step
    ([(1, 3), (2, 1)], 3)

    """

    def __init__(
        self, outcomes: Iterator[Outcome], count: int, progress: Report | Progress | None = None
    ) -> None:
        self.ended: Ended | None = None
        self._outcomes, self._count, self._progress = outcomes, count, Progress.of(progress)

    def __iter__(self) -> Iterator[tuple[int, Outcome]]:
        step, going = 0, self._progress.tell(0, self._count)
        while going and step < self._count:
            step += 1
            try:
                outcome = next(self._outcomes)
            except ValueError as error:
                self.ended = Ended(step, error.args[0])
                return
            yield step, outcome
            going = self._progress.tell(step, self._count)
