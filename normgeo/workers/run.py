"""A computation in a queue, under way or ended, as all who wait for it share it."""

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
    """What a run and a worker may take.

    Attributes:
        seconds: of a run, from when a worker begins it; then it is stopped, with what it has.
        bytes: of memory that a worker holds during a run; beyond that, it is ended.
        kept_bytes: of memory that a worker holds after a run; beyond that, it is replaced.
        patience: seconds that a stopped run has to return what it has, of several that share a
            processor too: what is not back by then is lost.
        moment: seconds after which somebody who does not ask any more has gone.

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
        visitor: in whose turn it is. limits: its own, None for those of all.
        done, steps: how far it is; no steps before the first word.
        stopping: it was asked to end with what it has, and nobody else may join it.
        result: what it returned, None where it returned nothing. whole: whether that is all of it.
        why: a sentence where it ended early and no visitor of it wanted that, else "".
        error: the refusal, or the defect, that it ended with.

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
        """Whether there is nothing more to wait for."""
        return self._ended.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long; return whether it has ended."""
        return self._ended.wait(seconds)

    def join(self, visitor: Hashable) -> None:
        """Tell that a visitor waits, who must `stay` again and again."""
        with self._lock:
            self._seen[visitor] = monotonic()

    def stay(self, visitor: Hashable) -> None:
        """Tell that a visitor still waits; nothing for one who has left meanwhile."""
        with self._lock:
            if visitor in self._seen:
                self._seen[visitor] = monotonic()

    def leave(self, visitor: Hashable) -> None:
        """Tell that a visitor does not wait any more: with the last one, the run is stopped."""
        with self._lock:
            self._seen.pop(visitor, None)

    def wanted(self, moment: float) -> bool:
        """Whether somebody waits, or did so a moment ago."""
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
        """Tell how it ended, once."""
        self.result, self.whole, self.why, self.error = result, whole, why, error
        self.task = b""
        try:
            if self._on_end is not None:
                self._on_end(self)
        except Exception:
            self.result, self.whole, self.error = None, False, Defect(traceback.format_exc())
        self._ended.set()
