"""A computation in a queue, under way or ended, shared by all its visitors."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Event, Lock
from time import monotonic
from typing import Any, final

from normgeo.base.refusal import Refusal


@final
@dataclass(frozen=True)
class Limits:
    """Limits of a run and of a worker.

    Attributes:
        seconds: of processor time of a run, so that none is stopped because a machine is busy;
            then it is stopped and returns a part.
        bytes: of memory during a run; a worker that holds more is ended.
        kept_bytes: of memory after a run; a worker that holds more is replaced.
        patience: seconds for a stopped run to return a part, even if several runs share a
            processor; a later one is lost.
        moment: seconds after which a visitor who has not called `stay` counts as gone.

    """

    seconds: float = 300.0
    bytes: float = 1e9
    kept_bytes: float = 5e8
    patience: float = 30.0
    moment: float = 5.0


class Defect(RuntimeError):  # noqa: N818 - what it is, not what went wrong
    """A computation failed in a worker, and not by a refusal; the message is its traceback."""


@final
class Run:
    """A computation that one or several visitors wait for.

    Attributes:
        visitor: whose turn it takes. limits: its own, None for the pool's.
        done, steps: its progress; 0 steps before the first report.
        given: parts of its result that came ahead of the whole.
        stopping: it was asked to stop and return a part; nobody else may join it.
        result: what it returned, or None. whole: whether the result is complete.
        why: a sentence if it ended early against the wish of its visitors, else "".
        error: the refusal or the defect that ended it.

    """

    def __init__(
        self,
        key: Hashable,
        visitor: Hashable,
        task: bytes,
        on_end: Callable[[Run], object] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.key, self.visitor, self.task, self.limits = key, visitor, task, limits
        self.done = self.steps = 0
        self.given: list[Any] = []
        self.stopping = False
        self.result: Any = None
        self.whole = False
        self.why = ""
        self.error: Refusal | Defect | None = None
        self._on_end = on_end
        self._ended = Event()
        self._seen: dict[Hashable, float] = {}
        self._lock = Lock()

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self._ended.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end for at most some seconds; return whether it has ended."""
        return self._ended.wait(seconds)

    def join(self, visitor: Hashable) -> None:
        """Add a visitor, who must call `stay` regularly."""
        with self._lock:
            self._seen[visitor] = monotonic()

    def stay(self, visitor: Hashable) -> None:
        """Note that a visitor still waits, unless that visitor has left."""
        with self._lock:
            if visitor in self._seen:
                self._seen[visitor] = monotonic()

    def leave(self, visitor: Hashable) -> None:
        """Remove a visitor; without any, the run is stopped."""
        with self._lock:
            self._seen.pop(visitor, None)

    def wanted(self, moment: float) -> bool:
        """Whether a visitor waits, or waited a moment ago."""
        with self._lock:
            return any(monotonic() - seen < moment for seen in self._seen.values())

    def end(
        self,
        *,
        result: Any = None,
        whole: bool = False,
        why: str = "",
        error: Refusal | Defect | None = None,
    ) -> None:
        """Record how it ended, once."""
        self.result, self.whole, self.why, self.error = result, whole, why, error
        self.task = b""
        try:
            if self._on_end is not None:
                self._on_end(self)
        except Exception:
            self.result, self.whole, self.error = None, False, Defect(traceback.format_exc())
        self._ended.set()
