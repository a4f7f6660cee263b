"""Ctrl-C while a program is still importing: a sentence and status 130, no traceback.

The package asks for it first of all, where it is imported as a program: its imports take a second.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, b"Interrupted.\n")
    os._exit(130)


def leave_quietly() -> None:
    """End at once where `python -m normgeo` or `normgeo` is interrupted; nothing is done yet."""
    # Python names a module "-m" while it looks for it.
    program = sys.argv[:1] == ["-m"] or Path(*sys.argv[:1]).stem == "normgeo"
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if program and ours and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _leave)


@contextmanager
def interruptible() -> Iterator[None]:
    """Restore KeyboardInterrupt, which ends commands, as long as the block lasts."""
    if signal.getsignal(signal.SIGINT) is not _leave:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _leave)
