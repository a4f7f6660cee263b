"""Computations on a visitor's own files, private to the session; long ones by a worker."""

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
"""A report on a tensor of 500 MB in double precision takes four times that memory."""


@final
@dataclass(eq=False)
class Apart:
    """The computation that a session waits for; a new one replaces it.

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
        """Return the result of a computation on files.

        Args:
            asked: equal for equal computations. seconds: an upper bound of its time.
            compute: (given, *of, progress) → result; from a module that a worker imports.

        Raises:
            Refusal: of the computation, or it was stopped.

        """
        if asked != self._asked:
            self.leave()
            self._asked = asked
        server = here()
        if seconds <= server.longest:
            with TURN:  # each needs several times the memory of its files
                return compute(given, *of, Progress())
        if self._stopped:
            st.button(str(text(AGAIN)), key=f"start_{self.name}", on_click=self.leave)
            raise Refusal("Stopped before there was anything to show.")
        run = self._run
        if run is None or (run.ended and not (run.why or run.error)):
            key = visitor(), uuid4().hex
            run = self._run = server.pool.ask(visitor(), key, compute, given, *of, limits=LIMITS)
        waiting.until_ended(run, server.pool, visitor(), self.name, STEP, self._stop, st.empty())
        if run.error is not None:
            raise run.error.anew() if isinstance(run.error, Refusal) else run.error
        if not run.whole:
            if not run.why:
                st.rerun()  # given up after the page was left; the user is back
            raise Refusal(run.why)
        self._run = None
        return run.result

    def leave(self) -> None:
        """Give up the computation under way."""
        if self._run is not None:
            self._run.leave(visitor())
        self._asked, self._run, self._stopped = None, None, False

    def _stop(self) -> None:
        if self._run is not None:
            self._run.leave(visitor())
        self._stopped = True
