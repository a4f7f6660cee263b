"""What a session asks for, and how far it is: a task, its state, its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from threading import Lock
from typing import Any, final
from uuid import uuid4

import streamlit as st

from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.pictures import Picture
from normgeo.pictures.picture import small
from normgeo.pictures.style.chart import Chart
from normgeo.settings import Settings
from normgeo.workers.run import Limits, Run

Compute = Callable[[Settings, Progress], Any]
GoOn = Callable[[Settings, Any, Progress], Any]
Key = tuple[Compute, Settings]

AGAIN = text("Compute again")
STEP = "Step {done:,} of {steps:,}"
_ASKED, _VISITOR = "_asked", "_visitor"


@final
@dataclass(frozen=True)
class Task:
    """A computation, as a page asks for it.

    Attributes:
        compute: (settings, progress) → result; a worker imports its module, which must not be a
            page's. settings: all that it uses.
        what: its title. cost: settings → its cost, which decides where it runs.
        words: beside the bar, of {done} and {steps}.
        decisive: settings that are equal where the result may be shared; None for all of them.
        go_on: (settings, result, progress) → more of it, at the click of a button; None for none.

    """

    compute: Compute
    settings: Settings
    what: str
    cost: Callable[[Settings], Cost] = small
    words: str = STEP
    decisive: Settings | None = None
    go_on: GoOn | None = None

    @classmethod
    def of(cls, picture: Picture, settings: Settings) -> Task:
        """The computation of a picture; pictures of one study share its result."""
        return cls(
            picture.study.compute,
            picture.used(settings),
            picture.title,
            picture.cost,
            decisive=picture.decisive(settings),
            go_on=picture.study.go_on,
        )

    @property
    def key(self) -> Key:
        """Equal for tasks with the same result."""
        return self.compute, self.decisive or self.settings


@final
@dataclass(frozen=True, eq=False)
class Found:
    """A result, whole or stopped, with its charts by picture and theme."""

    result: Any
    stopped: bool
    charts: dict[tuple[str, str], Chart] = field(default_factory=dict)
    lock: Any = field(default_factory=Lock)


@final
class State(Enum):
    """How far a session is with a task."""

    IDLE = "it has not asked"
    UNDER_WAY = "it waits"
    STOPPING = "it has stopped the run, which has not ended"
    NOTHING = "the run has ended without a result"
    PART = "the run was stopped, and there is a part of the result"
    WHOLE = "the result is there"

    @classmethod
    def of(cls, there: Found | None) -> State:
        """The state of a session that does not wait, by what there is."""
        if there is None:
            return cls.NOTHING
        return cls.PART if there.stopped else cls.WHOLE


@final
@dataclass(eq=False)
class Asked:
    """A task that a session has asked for, as its scripts share it.

    Attributes:
        task: what it asked for. go_on: whether to compute more of `there` instead, for this
            session alone.
        there: the result so far. why: a sentence about a run that ended early.
        run: its run by a worker; None before it begins, and where the script itself computes.
        new: whether no script has looked at it yet.

    """

    task: Task
    there: Found | None = None
    go_on: bool = False
    state: State = State.UNDER_WAY
    why: str = ""
    run: Run | None = None
    new: bool = True

    def stop(self) -> None:
        """End the run, unless others wait for it."""
        if self.state is State.UNDER_WAY:
            self.state = State.STOPPING
        if self.run is not None:
            self.run.leave(visitor())

    def look(self, limits: Limits) -> None:
        """Take what the run has ended with, if it has.

        Raises:
            Refusal: the run was refused.
            Defect: the computation failed.

        """
        run, stopped = self.run, self.state is State.STOPPING
        if not stopped and (self.state is not State.UNDER_WAY or run is None or not run.ended):
            return
        if run is not None and not run.ended:
            if run.wanted(limits.moment):
                self.why = text(
                    "Stopped here. Others wait for the same computation, so it goes on for them."
                )
                return
            run.wait(limits.patience)
        if run is not None and run.error is not None:
            raise run.error
        why = "" if run is None else run.why
        if run is not None and run.result is not None:
            self.there = Found(run.result, stopped=not run.whole)
        elif not stopped and not why:
            self.run = None  # It was given up after the page was left; the user is back.
            return
        if self.there is None and not why:
            why = text("Stopped before there was anything to show.")
        self.why = why
        self.state = State.of(self.there)


def visitor() -> str:
    """What tells this session from others."""
    name: str = st.session_state.setdefault(_VISITOR, uuid4().hex)
    return name


def all_asked() -> dict[tuple[Compute, str], Asked]:
    """What this session asked for last, by the computation and the slot."""
    asked: dict[tuple[Compute, str], Asked] = st.session_state.setdefault(_ASKED, {})
    return asked


def asked_for(task: Task, slot: str) -> Asked | None:
    """What this session asked for, if it is this task."""
    asked = all_asked().get((task.compute, slot))
    if asked is None:
        return None
    if asked.task.key != task.key:
        if not asked.new or asked.go_on:
            if task.go_on is not None:  # what may go on is large
                asked.stop()
                del all_asked()[task.compute, slot]
            return None
        ask(task, slot)  # a slider has moved since the run that drew the button
        asked = all_asked()[task.compute, slot]
    asked.new = False
    return asked


def ask(task: Task, slot: str, there: Found | None = None) -> None:
    """Ask for a task, or for more of what there is, and wait no more for it with other settings."""
    if before := all_asked().get((task.compute, slot)):
        before.stop()
    all_asked()[task.compute, slot] = Asked(task, there, go_on=there is not None)
