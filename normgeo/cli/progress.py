"""Progress bars of commands that take over a second."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Event
from time import monotonic
from types import TracebackType
from typing import Self, final

from tqdm import tqdm

from normgeo.base.numbers import number
from normgeo.base.progress import Stop
from normgeo.base.text import text

PATIENCE, BETWEEN = 1.0, 0.2  # seconds until there is a bar, and between two
WIDTH = 24
FIRST = 3  # steps before the time that is left is told

# tqdm would start a thread for rarely updated bars; these redraw at each report.
tqdm.monitor_interval = 0


def _steps(done: int, steps: int) -> str:
    return text("Step {done:,} of {steps:,}", done=done, steps=steps)


def time_in_words(seconds: float) -> str:
    """A time in words.

    >>> time_in_words(40), time_in_words(600), time_in_words(9000)
    ('40 s', '10 min', '2.5 h')

    """
    if seconds < 100:
        return text("{n} s", n=round(seconds))
    return (
        text("{n} min", n=round(seconds / 60))
        if seconds < 6000
        else text("{n} h", n=number(seconds / 3600, 2))
    )


@final
class Bar:
    """A progress report on standard error; as a context, it clears its line on a terminal.

    `words` turns (done, steps) into a sentence.
    """

    def __init__(self, words: Callable[[int, int], str] = _steps) -> None:
        self._words = words
        self._bar = tqdm(
            file=sys.stderr,
            bar_format=f"|{{bar:{WIDTH}}}| {{desc}}",
            delay=PATIENCE,
            mininterval=BETWEEN,
            miniters=1,
            dynamic_ncols=True,
            leave=not sys.stderr.isatty(),
        )

    def __call__(self, done: int, steps: int) -> None:
        self._bar.total = steps
        self._bar.set_description_str(str(self._words(done, steps)), refresh=False)
        self._bar.update(done - self._bar.n)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the line."""
        if kind is KeyboardInterrupt and self._bar.format_dict["elapsed"] >= PATIENCE:
            # Ctrl-C may have come while tqdm wrote its first bar, which it does not know of yet.
            self._bar.delay = 0
        self._bar.close()


@final
class Left:
    """Words for a bar: those of each step, and about how long the others take."""

    def __init__(self, words: Callable[[int, int], str] = _steps) -> None:
        self._words = words
        self._begun = monotonic()
        self._first: int | None = None

    def words(self, done: int, steps: int) -> str:
        """Say it of a number of steps done."""
        if self._first is None:
            self._first, self._begun = done, monotonic()
        said, taken = self._words(done, steps), done - self._first
        if taken < FIRST or done >= steps:
            return said
        seconds = (monotonic() - self._begun) / taken * (steps - done)
        return text("{said}, about {time} left", said=said, time=time_in_words(seconds))


@final
class Told:
    """A report that a bar shows, and that ends the computation where that was asked for."""

    def __init__(self, bar: Bar, stopped: Event) -> None:
        self._bar, self._stopped = bar, stopped

    def __call__(self, done: int, steps: int) -> None:
        if self._stopped.is_set():
            raise Stop
        self._bar(done, steps)
