"""Results that may take over a second: a bar that tells how far they are, and a way to stop.

A computation runs in the script itself. Streamlit ends a script at its next word to the page, so
the bar is where a click on "Stop", or a page that was left, arrives: the computation is then asked
to return what it has, and that is kept for the session. Complete results are kept for all sessions.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import Any, final

import streamlit as st

from normgeo.settings import Settings
from normgeo.text import text
from normgeo.ui import cached, export
from normgeo.ui.frame import explain
from normgeo.views import VIEWS

_KEPT: OrderedDict[tuple[Any, ...], Found] = OrderedDict()
_LARGEST = 32
# One computation at a time: a lecture hall that asks for the same one waits, and finds it.
_TURN = Lock()
_STARTED, _PART = "_started", "_part"
_BETWEEN = 0.1  # seconds between two words to the page


@final
@dataclass(frozen=True, eq=False)
class Found:
    """A result, whole or stopped, with its figures by view and theme."""

    result: Any
    stopped: bool = False
    figures: dict[tuple[str, str], Any] = field(default_factory=dict)

    def figure(self, name: str, theme: str) -> Any:
        """Return the figure of a view, made once for each theme."""
        if (name, theme) not in self.figures:
            self.figures[name, theme] = VIEWS[name].figure(self.result, theme)
        return self.figures[name, theme]


def show(name: str, settings: Settings, *, alt: str, start: str = "", again: str = "") -> Any:
    """Draw a view as `export.show` does, and meanwhile how far it is; return its result.

    Args:
        name: key of `VIEWS`, of a view that tells of its progress. settings: of the picture.
        alt: what the figure shows, for a screen reader.
        start: the label of a button that starts it; without one it starts by itself.
        again: the label of the button that starts over what was stopped.

    """
    state = st.session_state
    # Views of one computation share its result.
    key = VIEWS[name].watched, cached.used(name, settings)
    slot = st.empty()
    found = _known(key)
    if found is None and (not start or state.get(_STARTED) == key):
        try:
            found = _computed(key, name, slot)
        except ValueError as error:
            slot.empty()
            explain(error)
            return None
    if found is None or found.stopped:
        slot.button(
            text(again if found else start), key=f"start_{name}", on_click=_start, args=(key,),
            type="primary",
        )  # fmt: skip
    if found is None:
        return None
    export.draw(name, settings, found.result, found.figure(name, settings.theme), alt=alt)
    return found.result


def _start(key: tuple[Any, ...]) -> None:
    st.session_state[_STARTED] = key
    st.session_state.pop(_PART, None)


def _stop(key: tuple[Any, ...]) -> None:
    """Keep the part that the script left behind as it was interrupted, or nothing."""
    st.session_state.pop(_STARTED, None)
    part = st.session_state.get(_PART)
    if part is not None and part[0] == key:
        st.session_state[_PART] = (key, part[1], True)


def _known(key: tuple[Any, ...]) -> Found | None:
    if key in _KEPT:
        _KEPT.move_to_end(key)
        return _KEPT[key]
    part = st.session_state.get(_PART)
    return part[1] if part is not None and part[0] == key and part[2] else None


def _computed(key: tuple[Any, ...], name: str, slot: Any) -> Found:
    """Compute, with a bar and a button in the slot; raises what ends the script, part kept."""
    watch = _Watch(key, name, slot)
    while not _TURN.acquire(timeout=_BETWEEN):
        watch.wait()
    try:
        found = _known(key)
        if found is None:
            compute, chosen = key
            result = compute(chosen, watch)
            found = Found(result, stopped=watch.interruption is not None)
            if found.stopped:
                st.session_state[_PART] = (key, found, False)
            else:
                _KEPT[key] = found
                while len(_KEPT) > _LARGEST:
                    _KEPT.popitem(last=False)
    finally:
        _TURN.release()
    if watch.interruption is not None:
        raise watch.interruption
    slot.empty()
    return found


class _Watch:
    """A callback that draws a bar from time to time, and notices that the script must end."""

    def __init__(self, key: tuple[Any, ...], name: str, slot: Any) -> None:
        self.interruption: BaseException | None = None
        self._key, self._name, self._slot = key, name, slot
        self._bar: Any = None
        self._told = monotonic()

    def __call__(self, done: int, steps: int) -> None:
        if monotonic() - self._told < _BETWEEN or done >= steps:
            return
        try:
            self._tell(done / steps, text("Step {done:,} of {steps:,}", done=done, steps=steps))
        except BaseException as interruption:
            # Streamlit's own, or the server's end: first what was computed is kept.
            self.interruption = interruption
            raise StopIteration from interruption

    def wait(self) -> None:
        self._tell(0.0, text("Waiting for another computation to end"))

    def _tell(self, share: float, words: str) -> None:
        if self._bar is None:
            with self._slot.container(
                horizontal=True, vertical_alignment="center", key=f"progress_{self._name}"
            ):
                self._bar = st.progress(share, words, width=420)
                st.button(text("Stop"), key=f"stop_{self._name}", on_click=_stop, args=(self._key,))
        self._bar.progress(share, words)
        self._told = monotonic()
