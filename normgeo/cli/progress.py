"""How far a command is, where that takes over a second."""

from __future__ import annotations

import sys
from time import monotonic

from normgeo.base.text import text

PATIENCE, BETWEEN = 1.0, 0.2  # seconds until there is a bar, and between two
WIDTH = 24


class Progress:
    """A bar on standard error; use as a context, and call with (done, all)."""

    def __init__(self, words: str = "Step {done:,} of {all:,}") -> None:
        self._words = words
        self._next = monotonic() + PATIENCE
        self._width = 0

    def __enter__(self) -> Progress:
        return self

    def __call__(self, done: int, all: int) -> None:
        if monotonic() < self._next:
            return
        bar = ("#" * (WIDTH * done // max(all, 1))).ljust(WIDTH, "-")
        line = f"[{bar}] {text(self._words, done=done, all=all)}"
        padded = line.ljust(self._width)
        # First, so that an interruption while it prints still ends the line.
        self._next, self._width = monotonic() + BETWEEN, len(line)
        print(f"\r{padded}", end="", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        """End the line; on a terminal, leave none."""
        if self._width:
            gone = f"\r{' ' * self._width}\r" if sys.stderr.isatty() else "\n"
            print(gone, end="", file=sys.stderr, flush=True)
