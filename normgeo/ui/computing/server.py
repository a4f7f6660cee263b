"""The computations of a server: done once for all sessions, with a bar and a stop if they are long.

A short computation runs in the page's script. A long one goes to a worker process while the script
waits; after a click, Streamlit starts the script anew, and it finds the run again. Whole results,
refusals and figures are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, final

import streamlit as st

from normgeo.base.budget import MEGABYTE, PAGES
from normgeo.base.cache import Cache
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.pictures.style.chart import Chart
from normgeo.settings import Settings
from normgeo.ui.computing import waiting
from normgeo.ui.computing.task import (
    AGAIN,
    Asked,
    Found,
    Key,
    State,
    Task,
    all_asked,
    ask,
    asked_for,
    visitor,
)
from normgeo.workers.pool import Pool
from normgeo.workers.run import Run

CONTINUE = text("Continue")
Draw = waiting.Draw

LONGEST = 0.4  # seconds that a computation in the script itself may take
SERVER = "_server"
"""Where a session holds its server in its state."""


def nobody(page: str, settings: Settings, controls: Sequence[str]) -> None:
    """Take no note of where visitors are."""


@final
@dataclass(eq=False)
class Server:
    """The workers of a server and what they have computed, for all of its sessions.

    Attributes:
        pool: of workers. kept: what was computed.
        longest: seconds that a computation in a page's script may take.
        on_visit: called with the page, its settings and the settings in its heading.

    """

    pool: Pool
    kept: Cache[Key, Found] = field(default_factory=lambda: Cache(bytes=256 * MEGABYTE))
    longest: float = LONGEST
    on_visit: Callable[[str, Settings, Sequence[str]], object] = nobody
    # Threads share Python's lock: one after the other, each is done sooner, and a page whose
    # pictures are kept does not compete with all who wait for theirs.
    _turn: Any = field(default_factory=Lock)

    def found(
        self,
        task: Task,
        name: str,
        *,
        start: str = "",
        again: str = AGAIN,
        slot: str = "",
        draw: Draw | None = None,
    ) -> Found | None:
        """The result of a task, kept or computed now; None where there is none yet.

        Args:
            task: the computation. name: of its widgets.
            start: the label of a button that starts it; without one it starts by itself.
            again: the label of the button that starts over what was stopped; "" for none.
            slot: keeps apart what a page asks of one computation with several settings.
            draw: draws what there is of the result as it is computed; None to wait for all of it.

        Raises:
            Refusal: there is no result for these settings, or it would take too much.

        """
        asked = asked_for(task, slot)
        own = asked is not None and asked.go_on
        there = None if own else self.kept.get(task.key)
        state, why = State.of(there), ""
        if there is not None:
            all_asked().pop((task.compute, slot), None)
        elif asked is not None:
            state, there, why = self._looked(asked, slot)
        elif start:
            state = State.IDLE
        else:
            ask(task, slot)
            asked, state = asked_for(task, slot), State.UNDER_WAY
        # What follows keeps its place when they go: a browser would draw it anew, and a hand would
        # lose the slider.
        around = st.empty()
        with (before := around.container()):
            self._buttons(task, name, slot, state, there, start=start, again=again)
            if why:
                st.info(str(why), icon=":material/info:")
        if asked is not None and state is State.UNDER_WAY:
            PAGES.require(expected := task.cost(task.settings), task.what)
            if expected.seconds <= self.longest and not own:
                there = self.kept.found(task.key, partial(self._computed, task))
            else:
                self._wait(asked, name, slot, before.empty(), draw)
                if draw is None:  # else it begins again at once
                    around.empty()
                there = None if own or draw else self.kept.get(task.key)
            if there is None or start:
                st.rerun()  # with another button, or without one
        return there

    def keep(self, key: Key, run: Run) -> None:
        """Keep what a run ended with, for all sessions, and even where nobody waits for it now."""
        if isinstance(run.error, Refusal):
            self.kept.keep(key, run.error)
        elif run.whole:
            self.kept.keep(key, Found(run.result, stopped=False))

    def chart(self, there: Found, name: str, theme: str, draw: Callable[[], Any]) -> Chart:
        """The chart of a result that is drawn under a name, made once for each theme."""
        with there.lock:
            if (name, theme) not in there.charts:
                with self._turn:
                    there.charts[name, theme] = Chart.of(draw())
                self.kept.measure(there)
            return there.charts[name, theme]

    def _computed(self, task: Task) -> Found:
        with self._turn:
            return Found(task.compute(task.settings, Progress()), stopped=False)

    def _looked(self, asked: Asked, slot: str) -> tuple[State, Found | None, str]:
        """The state of what was asked for, with the result so far and a sentence about it."""
        try:
            asked.look(self.pool.limits)
        except Exception:
            del all_asked()[asked.task.compute, slot]
            raise
        if asked.state is State.UNDER_WAY:
            return asked.state, None, ""
        return State.of(asked.there), asked.there, asked.why

    def _wait(self, asked: Asked, name: str, slot: str, bar: Any, draw: Draw | None) -> None:
        """Begin a run or find it again, and show its progress until it ends or gives more."""
        task = asked.task
        if asked.run is None and asked.go_on and asked.there is not None and task.go_on is not None:
            own, before = (*task.key, visitor(), slot), asked.there.result
            asked.run = self.pool.ask(visitor(), own, task.go_on, task.settings, before)
        elif asked.run is None:
            end = partial(self.keep, task.key)
            asked.run = self.pool.ask(visitor(), task.key, task.compute, task.settings, on_end=end)
        waiting.until_ended(
            asked.run, self.pool, visitor(), name, task.words, asked.stop, bar, draw
        )

    @staticmethod
    def _buttons(
        task: Task,
        name: str,
        slot: str,
        state: State,
        there: Found | None,
        *,
        start: str,
        again: str,
    ) -> None:
        """Draw the buttons that start a task, or start it over, or go on."""
        goes_on = task.go_on is not None
        label = {
            State.IDLE: start,
            State.UNDER_WAY: start,
            State.NOTHING: again,
            State.PART: again,
        }.get(state)
        with st.container(horizontal=True, key=f"row_{name}") if goes_on else nullcontext():
            if label:
                st.button(
                    str(text(label)),
                    key=f"start_{name}",
                    on_click=ask,
                    args=(task, slot),
                    disabled=state is State.UNDER_WAY,
                    type="primary",
                )
            if goes_on and there is not None:
                st.button(
                    str(text(CONTINUE)),
                    key=f"continue_{name}",
                    on_click=ask,
                    args=(task, slot, there),
                )


def here(of_process: Callable[[], Server] | None = None) -> Server:
    """The server of this session: that of the process, unless the session has brought another."""
    if SERVER not in st.session_state and of_process is not None:
        st.session_state[SERVER] = of_process()
    server: Server = st.session_state[SERVER]
    return server
