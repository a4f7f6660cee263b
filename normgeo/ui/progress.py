"""Results that may take over a second: a bar that tells how far they are, and a way to stop.

A computation runs in the script itself. When somebody clicks, Streamlit starts the script anew
beside the old one, which ends at its next word to the page: at the bar. "Stop" asks it to end with
what it has, and the new script waits for that. Complete results are kept for all sessions.
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
from normgeo.base.text import text
from normgeo.pictures import PICTURES
from normgeo.settings import Settings
from normgeo.ui import cached, export
from normgeo.ui.frame import explain

Key = tuple[Callable[..., Any] | None, Settings]

_RUN = "_run"
_LARGEST = 32  # results that are kept
_BETWEEN = 0.1  # seconds between two words to the page
_PATIENCE = 10.0  # seconds for a stopped computation to return what it has
# One computation at a time: a lecture hall that asks for the same one waits, and finds it.
_TURN = Lock()
_KEPT: OrderedDict[Key, Found] = OrderedDict()


@final
@dataclass(frozen=True, eq=False)
class Found:
    """A result, whole or stopped, with its figures by view and theme."""

    result: Any
    stopped: bool
    figures: dict[tuple[str, str], Any] = field(default_factory=dict)

    def figure(self, name: str, theme: str) -> Any:
        """Return the figure of a view, made once for each theme."""
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


def show(name: str, settings: Settings, *, alt: str, start: str = "", again: str) -> Any:
    """Draw a view as `export.show` does, and meanwhile how far it is; return its result.

    Args:
        name: key of `PICTURES`, of a view that tells of its progress. settings: of the picture.
        alt: what the figure shows, for a screen reader.
        start: the label of a button that starts it; without one it starts by itself.
        again: the label of the button that starts over what was stopped; "" for none.

    """
    # Views of one computation share its result.
    key = PICTURES[name].study.compute, cached.used(name, settings)
    run = _run_of(key)
    if run is None and not start:
        _start(key)
        run = _run_of(key)
    found = _known(key, run)
    asked = found is None and run is not None and not run.stop.is_set()
    label = start if found is None and start else again
    if label and (found is None or found.stopped) and (start or not asked):
        _button(name, key, label, disabled=asked)
    slot = st.empty()
    if asked and run is not None:
        try:
            found = _computed(run, name, slot)
        except ValueError as error:
            explain(error)
        finally:
            slot.empty()
        if found is not None and start:
            st.rerun()  # without its button
    if found is None:
        return None
    export.draw(name, settings, found.result, found.figure(name, settings.theme), alt=alt)
    return found.result


def _button(name: str, key: Key, label: str, disabled: bool) -> None:
    st.button(
        text(label),
        key=f"start_{name}",
        on_click=_start,
        args=(key,),
        disabled=disabled,
        type="primary",
    )


def _start(key: Key) -> None:
    st.session_state[_RUN] = _Run(key)


def _run_of(key: Key) -> _Run | None:
    run = st.session_state.get(_RUN)
    return run if isinstance(run, _Run) and run.key == key else None


def _known(key: Key, run: _Run | None) -> Found | None:
    """Return the result, or what a stopped computation has."""
    if run is not None and run.stop.is_set() and key not in _KEPT:
        run.ended.wait(_PATIENCE)
        return run.part
    if key in _KEPT:
        _KEPT.move_to_end(key)
    return _KEPT.get(key)


def _computed(run: _Run, name: str, slot: Any) -> Found | None:
    """Compute, with a bar and a button in the slot."""
    watch = _Watch(run, name, slot)
    compute, settings = run.key
    if compute is None:
        raise TypeError(f"The view {name} does not tell of its progress.")
    try:
        while not _TURN.acquire(timeout=_BETWEEN):
            watch.wait()
        try:
            found = _KEPT.get(run.key) or Found(
                compute(settings, Progress.of(watch)), watch.stopped
            )
            if found.stopped:
                run.part = found
            else:
                _KEPT[run.key] = found
                while len(_KEPT) > _LARGEST:
                    _KEPT.popitem(last=False)
        finally:
            _TURN.release()
    finally:
        run.ended.set()
    if watch.interruption is not None:
        raise watch.interruption
    return found


class _Watch:
    """A callback that draws a bar from time to time, and notices that the script must end."""

    def __init__(self, run: _Run, name: str, slot: Any) -> None:
        self.stopped = False
        self.interruption: BaseException | None = None
        self._run, self._name, self._slot = run, name, slot
        self._bar: Any = None
        self._told = monotonic()

    def __call__(self, done: int, steps: int) -> None:
        if done < steps and monotonic() - self._told >= _BETWEEN:
            words = text("Step {done:,} of {steps:,}", done=done, steps=steps)
            try:
                self._tell(done / steps, words)
            except BaseException as interruption:
                # Streamlit's own, which ends this script: first what was computed is kept.
                self.interruption = interruption
        if done < steps and (self.interruption is not None or self._run.stop.is_set()):
            self.stopped = True
            raise Stop

    def wait(self) -> None:
        self._tell(0.0, text("Waiting for another computation to end"))

    def _tell(self, share: float, words: str) -> None:
        if self._bar is None:
            with self._slot.container(
                horizontal=True, vertical_alignment="center", key=f"progress_{self._name}"
            ):
                self._bar = st.progress(share, words, width=420)
                st.button(text("Stop"), key=f"stop_{self._name}", on_click=self._run.stop.set)
        else:
            self._bar.progress(share, words)
        self._told = monotonic()
