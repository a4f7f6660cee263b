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

STOPPING = b"\nStopping after this step, with what there is. Ctrl-C again leaves at once.\n"


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


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """Set an event at the first Ctrl-C, and raise KeyboardInterrupt at the second one."""
    asked, before = threading.Event(), signal.getsignal(signal.SIGINT)

    def ask(number: int, frame: FrameType | None) -> None:
        asked.set()
        signal.signal(signal.SIGINT, before)
        os.write(2, STOPPING)

    if before is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield asked
        return
    signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
