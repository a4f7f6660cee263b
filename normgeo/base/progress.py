"""Progress and early stop: one mechanism for all long computations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, final

from normgeo.base.arguments import shown
from normgeo.base.refusal import Refusal

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

Report = Callable[[int, int], Any]
"""Called with (steps done, steps); raises `Stop` to end a computation early with a part."""


class Stop(Exception):  # noqa: N818 - a request, not an error
    """Raised by a report: end the computation, and keep the part of its result."""


class Ended(NamedTuple):
    """The end of a run that failed: the step, from 1, and the reason."""

    step: int
    reason: str


@final
class Progress:
    """Passes progress to a report, and knows whether the computation should stop.

    A computation calls `tell` after each step and, if that is False, returns the part it has. A
    computation made of several gives each its `part`; a stop of one stops all.

    >>> heard = []
    >>> progress = Progress(lambda done, steps: heard.append((done, steps)))
    >>> [item for item in progress.part(1, 2).over("ab")], heard
    (['a', 'b'], [(3, 4), (4, 4)])

    """

    def __init__(
        self, report: Report | None = None, give: Callable[[Any], object] | None = None
    ) -> None:
        self.stopped = False
        self._report, self._give = report, give

    @classmethod
    def of(cls, report: Report | Progress | None) -> Progress:
        """An argument as a progress: itself, or a new one for a report.

        Raises:
            Refusal: it is neither.

        """
        if isinstance(report, Progress):
            return report
        if report is not None and not callable(report):
            raise Refusal(
                "`progress` must be a function of (steps done, steps), or None; got {report}.",
                report=shown(report),
            )
        return cls(report)

    def tell(self, done: int, steps: int) -> bool:
        """Report the number of steps done; return whether to go on."""
        if self._report is not None and not self.stopped:
            try:
                self._report(done, steps)
            except Stop:
                self.stopped = True
        return not self.stopped

    def require_whole(self) -> None:
        """Refuse a computation that was stopped and of which a part shows nothing."""
        if self.stopped:
            raise Refusal("Stopped before there was anything to show.")

    def give(self, item: Any) -> None:
        """Hand over a part of the result ahead of the whole, to whoever takes one."""
        if self._give is not None:
            self._give(item)

    def over(self, items: Sequence[Item]) -> Iterator[Item]:
        """Yield items, and report after each; end early if asked to stop."""
        for done, item in enumerate(items, start=1):
            yield item
            if not self.tell(done, len(items)):
                return

    def part(self, place: int, parts: int) -> Progress:
        """Return the progress of one of several equally long parts, numbered from 0."""

        def report(done: int, steps: int) -> None:
            if not self.tell(place * steps + done, parts * steps):
                raise Stop

        return Progress(report)

    def after(self, before: int, total: int) -> Progress:
        """Return the progress of a part that begins after a number of all the steps."""

        def report(done: int, steps: int) -> None:
            if not self.tell(before + done, total):
                raise Stop

        return Progress(report)


@final
class Steps(Generic[Outcome]):
    """Yields step numbers, from 1, with the result of each step, for the caller to keep.

    It ends after the last step, on a report's request, or before a step that is refused; `ended`
    then names that step.

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
