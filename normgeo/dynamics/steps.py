"""The steps of a run: taken one after the other, told of, and ended early where one fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar, final

from normgeo.base.progress import Ended, Progress, Report
from normgeo.base.refusal import Refusal

Outcome = TypeVar("Outcome")


@final
class Steps(Generic[Outcome]):
    """Step numbers, from 1, with what each step came to; what they leave is the caller's to keep.

    They end where all are taken, where a report asks for it, or before the step that fails with a
    refusal, which `ended` then names.

    >>> from normgeo import NORMALIZERS
    >>> weights = [[1.0], [2.0]], [[1.0], [1.0]]  # equal rows have no z under layer norm
    >>> outcomes = (NORMALIZERS["layer"].normalize(W, [[1.0]]) for W in weights)
    >>> steps = Steps(outcomes, 4)
    >>> [step for step, _ in steps], steps.ended.step
    ([1], 2)

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
            except Refusal as error:
                self.ended = Ended(step, error.args[0])
                return
            yield step, outcome
            going = self._progress.tell(step, self._count)
