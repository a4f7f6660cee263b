"""The program of a worker: it carries out the server's tasks one after the other."""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import Any, NamedTuple, final

import cloudpickle
import psutil

from normgeo.base.progress import Progress, Stop
from normgeo.base.refusal import Refusal

BETWEEN = 0.1  # seconds between two reports of progress
STOP = b""

Task = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function, and its arguments before the progress."""


class Ready(NamedTuple):
    """The worker is ready for its first task."""


class At(NamedTuple):
    """The progress of the computation."""

    done: int
    steps: int


class Given(NamedTuple):
    """A part of the result, ahead of the whole."""

    item: Any


class Returned(NamedTuple):
    """The result of a computation, whole or stopped."""

    result: Any
    whole: bool


class Failed(NamedTuple):
    """Why a computation returned nothing: a refusal, or a traceback."""

    refusal: Refusal | None
    traceback: str = ""


Message = Ready | At | Given | Returned | Failed


def serve(tasks: Connection, messages: Connection, prepare: Sequence[Callable[[], object]]) -> None:
    """Carry out tasks until the server is gone.

    Args:
        tasks: pickled tasks, and `STOP` during one. messages: to the server.
        prepare: called before the first task, so that it does not wait for imports.

    """
    # Ctrl-C in a terminal reaches all of its processes; the server decides when this one ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _give_way()
    waiting: SimpleQueue[bytes] = SimpleQueue()
    stop = Event()
    Thread(target=_listen, args=(tasks, waiting, stop), daemon=True).start()
    for step in prepare:
        step()
    _tell(messages, Ready())
    while True:
        _tell(messages, _outcome(waiting.get(), messages, stop))


def _give_way() -> None:
    """Lower the priority of this process, so that the server stays responsive."""
    process = psutil.Process()
    process.nice(psutil.BELOW_NORMAL_PRIORITY_CLASS if psutil.WINDOWS else process.nice() + 5)


def _listen(tasks: Connection, waiting: SimpleQueue[bytes], stop: Event) -> None:
    """Pass tasks on; end the process when the server ends, even during a computation."""
    try:
        while True:
            message = tasks.recv_bytes()
            if message == STOP:
                stop.set()
            else:
                # A request to stop the previous task came too late.
                stop.clear()
                waiting.put(message)
    except (EOFError, OSError):
        os._exit(0)


def _outcome(task: bytes, messages: Connection, stop: Event) -> Returned | Failed:
    try:
        compute, arguments = pickle.loads(task)
        progress = Progress(_Report(messages, stop), lambda item: _tell(messages, Given(item)))
        result = compute(*arguments, progress)
    except Refusal as refusal:
        return Failed(refusal)
    except Exception:
        return Failed(None, traceback.format_exc())
    return Returned(result, not progress.stopped)


def _tell(messages: Connection, message: Message) -> None:
    try:
        content = cloudpickle.dumps(message)
    except Exception:
        content = cloudpickle.dumps(Failed(None, traceback.format_exc()))
    messages.send_bytes(content)


@final
class _Report:
    """Reports progress to the server from time to time, and stops a computation on request."""

    def __init__(self, messages: Connection, stop: Event) -> None:
        self._messages, self._stop = messages, stop
        self._next = 0.0

    def __call__(self, done: int, steps: int) -> None:
        if done >= steps:
            return
        if self._stop.is_set():
            raise Stop
        if monotonic() >= self._next:
            _tell(self._messages, At(done, steps))
            self._next = monotonic() + BETWEEN
