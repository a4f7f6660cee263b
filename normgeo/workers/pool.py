"""The worker processes of a server, and the queue in front of them."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Hashable, Sequence
from threading import Condition, Lock, Thread
from typing import Any, final

import cloudpickle
from loky import cpu_count

from normgeo.base.text import text
from normgeo.workers.fair_queue import FairQueue
from normgeo.workers.process import WorkerProcess
from normgeo.workers.run import Limits, Run

LOOK = 1.0  # seconds between two looks at an idle worker


@final
class Pool:
    """Carries out computations in worker processes, one for each core, fair to all visitors.

    It starts one spare worker, so that the next run need not wait for a start. It replaces workers
    that have died or take too much memory. All workers end with the server.

    Args:
        size: how many workers; by default one for each core that this process may use.
        prepare: functions that each worker calls before its first run.
        limits: of runs and workers.

    """

    def __init__(
        self,
        size: int | None = None,
        prepare: Sequence[Callable[[], object]] = (),
        limits: Limits | None = None,
    ) -> None:
        self.size = size or cpu_count()
        self.limits = limits or Limits()
        self._prepare = tuple(prepare)
        self._condition, self._starting = Condition(), Lock()
        self._queue: FairQueue[Run] = FairQueue()
        self._open: dict[Hashable, Run] = {}
        self._workers: dict[int, WorkerProcess] = {}
        self._slots = self._idle = 0
        self._closed = False
        atexit.register(self.close)

    @property
    def pids(self) -> list[int]:
        """The process ids of all workers."""
        return [worker.pid for worker in tuple(self._workers.values())]

    def start(self) -> None:
        """Start the first worker ahead of need, without waiting for it."""
        with self._condition:
            self._start_one_ahead()

    def ask(
        self,
        visitor: Hashable,
        key: Hashable,
        compute: Callable[..., Any],
        *arguments: Any,
        on_end: Callable[[Run], object] | None = None,
        limits: Limits | None = None,
    ) -> Run:
        """Return the run of a key: the one that is under way, or a new one at the end of the queue.

        Args:
            visitor: who asks; must call `Run.stay` regularly, or the run is given up.
            key: equal for equal computations. compute: called with the arguments and a
                `Progress`; both are pickled.
            on_end: called with the run when it has ended, before its visitors are told.
            limits: of this run, in place of the pool's.

        """
        with self._condition:
            run = self._open.get(key)
            if run is None or run.stopping or run.ended:
                task = cloudpickle.dumps((compute, arguments))
                run = self._open[key] = Run(key, visitor, task, on_end, limits)
                self._queue.add(visitor, run)
                self._start_one_ahead()
                self._condition.notify()
            run.join(visitor)
            return run

    def before(self, run: Run) -> int:
        """Return how many computations must end or begin before a run begins; 0 if it has begun."""
        with self._condition:
            self._drop_unwanted()
            if run not in self._queue:
                return 0
            before, busy = self._queue.before(run), self._slots - self._idle
            free = self.size - busy
            return 0 if before < free else before + busy

    @property
    def spare(self) -> bool:
        """Whether no worker is busy, or a new run would leave one for the next visitor."""
        with self._condition:
            busy = self._slots - self._idle
            return not len(self._queue) and (not busy or busy + 1 < self.size)

    def close(self) -> None:
        """End all workers and refuse new computations."""
        atexit.unregister(self.close)
        with self._condition:
            self._closed = True
            self._condition.notify_all()
        # A worker whose server ends while it starts would write a traceback.
        with self._starting:
            workers = tuple(self._workers)
        for slot in workers:
            self._end(slot)

    def _start_one_ahead(self) -> None:
        """Start workers until one is spare beside those for waiting runs, or all are started."""
        while self._idle <= len(self._queue) and self._slots < self.size:
            slot, self._slots = self._slots, self._slots + 1
            self._idle += 1
            Thread(target=self._serve, args=(slot,), name=f"worker {slot}", daemon=True).start()

    def _serve(self, slot: int) -> None:
        """Carry out runs, replacing the process if needed, until the pool is closed."""
        while not self._closed:
            why = self._provide(slot)
            # Check an idle worker from time to time; after a failed start, try again only when a
            # run waits.
            run = self._next(None if why else LOOK)
            if run is None:
                continue
            if why and (why := self._provide(slot)):
                run.end(why=why)
            else:
                worker = self._workers[slot]
                worker.carry_out(run, run.limits or self.limits)
                if worker.memory > self.limits.kept_bytes:
                    self._end(slot)
            with self._condition:
                self._idle += 1
                self._forget(run)

    def _provide(self, slot: int) -> str:
        """Ensure that there is a worker; return why there is none, or ""."""
        worker = self._workers.get(slot)
        if worker is not None and worker.alive:
            return ""
        self._end(slot)
        worker = None
        try:
            with self._starting:
                if not self._closed:
                    worker = self._workers[slot] = WorkerProcess(self._prepare)
        except OSError as error:
            return text("No process could be started for this computation: {why!s}.", why=error)
        if worker is not None and worker.wait_ready() and not self._closed:
            return ""
        self._end(slot)
        return text("The process for this computation ended while it was started.")

    def _end(self, slot: int) -> None:
        worker = self._workers.pop(slot, None)
        if worker is not None:
            worker.end()

    def _next(self, seconds: float | None) -> Run | None:
        """Wait for the next run; None if there is none in time."""
        with self._condition:
            self._condition.wait_for(lambda: self._closed or len(self._queue), seconds)
            self._drop_unwanted()
            if self._closed or not len(self._queue):
                return None
            self._idle -= 1
            return self._queue.take()

    def _drop_unwanted(self) -> None:
        for run in self._queue:
            if not run.wanted(self.limits.moment):
                self._queue.drop(run)
                self._forget(run)
                run.stopping = True
                run.end()

    def _forget(self, run: Run) -> None:
        if self._open.get(run.key) is run:
            del self._open[run.key]
