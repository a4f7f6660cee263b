"""The server's side of a worker: it starts, watches and ends the process."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import final

import psutil
from loky.backend.context import LokyContext

from normgeo.base.budget import memory
from normgeo.base.text import text
from normgeo.workers.run import Defect, Limits, Run
from normgeo.workers.worker import STOP, At, Failed, Given, Message, Ready, Returned, serve

BETWEEN = 0.1  # seconds between two looks at a run
SECONDS_TO_START = 60.0

# Threads of several workers would fight each other for the cores.
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB")
}


@final
class WorkerProcess:
    """A process that carries out one run at a time.

    Under Streamlit the main module is a page; loky does not import it into the worker, as the
    standard library would.

    Args:
        prepare: functions that it calls before its first run, pickled.

    Raises:
        OSError: the system does not start it.

    """

    def __init__(self, prepare: Sequence[Callable[[], object]] = ()) -> None:
        # Asking by name would give joblib's copy, once scikit-learn has loaded it.
        context = LokyContext()
        tasks, self._tasks = context.Pipe(duplex=False)
        self._messages, messages = context.Pipe(duplex=False)
        self._process = context.Process(
            target=serve, args=(tasks, messages, prepare), daemon=True, env=ONE_THREAD
        )
        try:
            self._process.start()
        finally:
            # Each process notices when the other has died.
            tasks.close()
            messages.close()
        self.pid: int = self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return bool(self._process.is_alive())

    @property
    def processor(self) -> float:
        """The processor time that the process has taken, in seconds; 0 if it has ended."""
        try:
            taken = psutil.Process(self.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(taken.user + taken.system)

    @property
    def memory(self) -> float:
        """The resident memory of the process in bytes; 0 if it has ended."""
        try:
            return float(psutil.Process(self.pid).memory_info().rss)
        except psutil.Error:
            return 0.0

    def wait_ready(self) -> bool:
        """Wait until it is ready for tasks; return whether it is."""
        try:
            return self._messages.poll(SECONDS_TO_START) and isinstance(self._receive(), Ready)
        except (EOFError, OSError):
            return False

    def carry_out(self, run: Run, limits: Limits) -> None:
        """Compute a run and record how it ended; end the process if nothing else stops the run."""
        try:
            self._tasks.send_bytes(run.task)
            self._watch(run, limits)
        except (EOFError, OSError):
            self.end()
            run.end(
                why=text(
                    "The process that computed this was ended from outside, as happens where a "
                    "machine runs out of memory. Nothing else was lost, and there is a new one: "
                    "compute it again."
                )
            )
        except Exception:
            self.end()
            run.end(error=Defect(traceback.format_exc()))

    def _watch(self, run: Run, limits: Limits) -> None:
        last = self.processor + limits.seconds
        patience = float("inf")
        why = ""
        while True:
            if self._messages.poll(BETWEEN):
                message = self._receive()
                if isinstance(message, At):
                    run.done, run.steps = message
                elif isinstance(message, Given):
                    run.given.append(message.item)
                elif isinstance(message, Returned):
                    run.end(result=message.result, whole=message.whole, why=why)
                    return
                elif isinstance(message, Failed):
                    run.end(error=message.refusal or Defect(message.traceback))
                    return
            now = monotonic()
            if self.memory > limits.bytes:
                self.end()
                run.end(why=_too_large(limits))
                return
            late = self.processor > last
            if not run.stopping and (late or not run.wanted(limits.moment)):
                run.stopping = True
                why = _too_long(limits) if late else ""
                patience = now + limits.patience
                self._tasks.send_bytes(STOP)
            if now > patience:
                self.end()
                run.end(why=why)
                return

    def _receive(self) -> Message:
        message: Message = pickle.loads(self._messages.recv_bytes())
        return message

    def end(self) -> None:
        """End the process at once."""
        with suppress(OSError):
            self._process.terminate()
        self._process.join(5)
        self._tasks.close()
        self._messages.close()


def _too_long(limits: Limits) -> str:
    return text(
        "This computation reached the limit of {seconds:g} s of processor time and was stopped "
        "there. Ask for fewer neurons, steps or groups, or use Python or the command line, which "
        "have no such limit.",
        seconds=limits.seconds,
    )


def _too_large(limits: Limits) -> str:
    return text(
        "This computation was ended because its process held more than {most} of memory. Ask for "
        "fewer neurons, steps or groups, or use Python or the command line, which have no such "
        "limit.",
        most=memory(limits.bytes),
    )
