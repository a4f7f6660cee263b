"""Computations on a visitor's own files: by a worker where they take longer, for nobody else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final
from uuid import uuid4

import streamlit as st

from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.given_files import Given
from normgeo.ui.computing import waiting
from normgeo.ui.computing.server import here
from normgeo.ui.computing.task import AGAIN, STEP, visitor
from normgeo.ui.your_network.files import TURN
from normgeo.workers.run import Limits, Run

LIMITS = Limits(bytes=3e9)
"""A tensor of 500 MB in double precision takes four times as much while a report is made."""


@final
@dataclass(eq=False)
class Apart:
    """The computation that a session waits for; another one takes its place.

    Attributes:
        name: of its widgets.

    """

    name: str
    _asked: object = None
    _run: Run | None = None
    _stopped: bool = False

    def result(
        self, asked: object, seconds: float, compute: Callable[..., Any], given: Given, *of: Any
    ) -> Any:
        """Return what a computation on files gives.

        Args:
            asked: equal where the same is asked for. seconds: that it takes, at most.
            compute: (given, *of, progress) → result; of a module that a worker imports.

        Raises:
            Refusal: of the computation, or it was stopped.

        """
        if asked != self._asked:
            self.leave()
            self._asked = asked
        server = here()
        if seconds <= server.longest:
            with TURN:  # each takes some times the memory of what it reads
                return compute(given, *of, Progress())
        if self._stopped:
            st.button(str(text(AGAIN)), key=f"start_{self.name}", on_click=self.leave)
            raise Refusal(text("Stopped before there was anything to show."))
        run = self._run
        if run is None or (run.ended and not (run.why or run.error)):
            key = visitor(), uuid4().hex
            run = self._run = server.pool.ask(visitor(), key, compute, given, *of, limits=LIMITS)
        waiting.until_ended(run, server.pool, visitor(), self.name, STEP, self._stop)
        if run.error is not None:
            raise run.error.anew() if isinstance(run.error, Refusal) else run.error
        if not run.whole:
            if not run.why:
                st.rerun()  # given up while nobody looked; now somebody does
            raise Refusal(run.why)
        self._run = None
        return run.result

    def leave(self) -> None:
        """Wait no more for what is under way."""
        if self._run is not None:
            self._run.leave(visitor())
        self._asked, self._run, self._stopped = None, None, False

    def _stop(self) -> None:
        if self._run is not None:
            self._run.leave(visitor())
        self._stopped = True
