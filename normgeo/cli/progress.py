"""Progress bars of commands that take over a second."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Self, final

from tqdm import tqdm

from normgeo.base.text import text

PATIENCE, BETWEEN = 1.0, 0.2  # seconds until there is a bar, and between two
WIDTH = 24

# tqdm would start a thread for rarely updated bars; these redraw at each report.
tqdm.monitor_interval = 0


def _steps(done: int, steps: int) -> str:
    return text("Step {done:,} of {steps:,}", done=done, steps=steps)


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
