"""Pictures on a page: computed once for all sessions, with a bar and a stop where it takes longer.

A computation runs in the script itself. When somebody clicks, Streamlit starts the script anew
beside the old one, which ends at its next word to the page: at the bar. "Stop" asks it to end with
what it has, and the new script waits for that. Whole results and their figures are kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Lock
from time import monotonic
from typing import Any, final

import streamlit as st

from normgeo.base.progress import Progress, Stop
from normgeo.base.refusal import Refusal
from normgeo.base.text import Translation, in_use, text
from normgeo.pictures import PICTURES
from normgeo.settings import Settings
from normgeo.ui import export_row

Compute = Callable[[Settings, Progress], Any]
Key = tuple[Compute, Settings, Translation]

AGAIN = text("Compute again")
STEP = "Step {done:,} of {steps:,}"

_RUNS = "_runs"
LARGEST = 96  # results that are kept
MOMENT = 0.3  # seconds before there is a bar
BETWEEN = 0.1  # seconds between two words to the page
_PATIENCE = 10.0  # seconds for a stopped computation to return what it has
KEPT: OrderedDict[Key, Found] = OrderedDict()
"""What was computed, the least recently shown first."""
# A lecture hall that asks for one result waits for the first who did, and finds it.
_LOCKS: dict[Key, Lock] = {}


@final
@dataclass(frozen=True, eq=False)
class Found:
    """A result, whole or stopped, with its figures by picture and theme."""

    result: Any
    stopped: bool
    figures: dict[tuple[str, str], Any] = field(default_factory=dict)

    def figure(self, name: str, theme: str) -> Any:
        """The figure of a picture, made once for each theme."""
        if (name, theme) not in self.figures:
            self.figures[name, theme] = PICTURES[name].figure(self.result, theme)
        return self.figures[name, theme]


@final
@dataclass(eq=False)
class _Run:
    """A computation that a session asked for, as old and new scripts share it."""

    key: Key
    stop: Event = field(default_factory=Event)
    ended: Event = field(default_factory=Event)
    part: Found | None = None


def show(name: str, settings: Settings, *, start: str = "", again: str = AGAIN) -> Any:
    """Draw a picture with its export row, and meanwhile how far it is; return its result.

    Args:
        name: key of `PICTURES`. settings: of the picture.
        start, again: labels of buttons, as in `found`.

    Returns:
        The result, stopped or whole; None where there is no picture yet, or none at all.

    """
    there = of_picture(name, settings, start=start, again=again)
    if there is None:
        return None
    try:
        figure = there.figure(name, settings.theme)
    except Refusal as error:
        explain(error)
        return None
    picture = PICTURES[name]
    with st.container(key=f"view_{name}"):
        st.plotly_chart(
            figure,
            key=f"figure_{name}",
            theme=None,
            alt=picture.description(there.result),
            config={
                "displaylogo": False,
                "toImageButtonOptions": {"format": "svg", "filename": f"normgeo-{name}"},
            },
        )
        export_row.draw(picture, settings, there.result, figure)
    return there.result


def of_picture(
    name: str, settings: Settings, *, start: str = "", again: str = AGAIN
) -> Found | None:
    """The result of a picture, for its numbers; says why where there is none."""
    picture = PICTURES[name]
    used = Settings(**{use: getattr(settings, use) for use in picture.uses})
    try:
        # Pictures of one computation share its result.
        return found(name, picture.study.compute, used, start=start, again=again)
    except Refusal as error:
        explain(error)
        return None


def found(
    name: str,
    compute: Compute,
    settings: Settings,
    *,
    words: str = STEP,
    start: str = "",
    again: str = AGAIN,
) -> Found | None:
    """What a computation gives, kept or computed now.

    Args:
        name: of the widgets. compute: (settings, progress) → result. settings: all that it uses.
        words: beside the bar, of {done} and {steps}.
        start: the label of a button that starts it; without one it starts by itself.
        again: the label of the button that starts over what was stopped; "" for none.

    Raises:
        ValueError: there is no result for these settings, in a sentence.

    """
    key = compute, settings, in_use()
    run = _run_of(key)
    if run is None and not start:
        run = _start(key)
    there = _known(key, run)
    asked = there is None and run is not None and not run.stop.is_set()
    label = start if there is None and start else again
    if label and (there is None or there.stopped) and (start or not asked):
        st.button(
            str(text(label)),
            key=f"start_{name}",
            on_click=_ask,
            args=(key,),
            disabled=asked,
            type="primary",
        )
    slot = st.empty()
    if asked and run is not None:
        try:
            there = _computed(run, _Watch(run, name, words, slot))
        finally:
            slot.empty()
        if start:
            st.rerun()  # without its button
    return there


def explain(error: Refusal) -> None:
    """Say in one calm sentence why there is no picture."""
    st.info(str(error), icon=":material/info:")


def _runs() -> dict[Compute, _Run]:
    """The computations of this session, one of each kind."""
    runs: dict[Compute, _Run] = st.session_state.setdefault(_RUNS, {})
    return runs


def _start(key: Key) -> _Run:
    run = _runs()[key[0]] = _Run(key)
    return run


def _ask(key: Key) -> None:
    _start(key)


def _run_of(key: Key) -> _Run | None:
    run = _runs().get(key[0])
    return run if run is not None and run.key == key else None


def _known(key: Key, run: _Run | None) -> Found | None:
    """The kept result, or what a stopped computation has."""
    if run is not None and run.stop.is_set() and key not in KEPT:
        run.ended.wait(_PATIENCE)
        return run.part
    there = KEPT.get(key)
    if there is not None:
        KEPT[key] = there
        KEPT.move_to_end(key)
    return there


def _computed(run: _Run, watch: _Watch) -> Found:
    """Compute, or wait for another session that computes the same."""
    compute, settings, _ = run.key
    lock = _LOCKS.setdefault(run.key, Lock())
    try:
        while not lock.acquire(timeout=BETWEEN):
            watch.wait()
        try:
            there = KEPT.get(run.key)
            if there is None:
                result = compute(settings, Progress(watch))
                there = Found(result, watch.stopped)
                _keep(run, there)
        finally:
            _LOCKS.pop(run.key, None)
            lock.release()
    finally:
        run.ended.set()
    if watch.interruption is not None:
        raise watch.interruption
    return there


def _keep(run: _Run, there: Found) -> None:
    if there.stopped:
        run.part = there
        return
    KEPT[run.key] = there
    while len(KEPT) > LARGEST:
        KEPT.popitem(last=False)


@final
class _Watch:
    """A report that draws a bar from time to time, and notices that the script must end."""

    def __init__(self, run: _Run, name: str, words: str, slot: Any) -> None:
        self.stopped = False
        self.interruption: BaseException | None = None
        self._run, self._name, self._words, self._slot = run, name, words, slot
        self._bar: Any = None
        self._next = monotonic() + MOMENT

    def __call__(self, done: int, steps: int) -> None:
        if done < steps and monotonic() >= self._next:
            try:
                self._tell(done / steps, text(self._words, done=done, steps=steps))
            except BaseException as interruption:
                # Streamlit's own, which ends this script: first what was computed is kept.
                self.interruption = interruption
        if done < steps and (self.interruption is not None or self._run.stop.is_set()):
            self.stopped = True
            raise Stop

    def wait(self) -> None:
        """Tell that another session computes the same; raises where the script must end."""
        self._tell(0.0, text("Waiting for another computation to end"))

    def _tell(self, share: float, words: str) -> None:
        if self._bar is None:
            with self._slot.container(
                horizontal=True, vertical_alignment="center", key=f"progress_{self._name}"
            ):
                self._bar = st.progress(share, str(words), width=420)
                st.button(str(text("Stop")), key=f"stop_{self._name}", on_click=self._run.stop.set)
        else:
            self._bar.progress(share, str(words))
        self._next = monotonic() + BETWEEN
