"""Break it: one click to a state in which a page's rule fails, its answer, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from normgeo.base.text import text
from normgeo.pictures import MAIN_PICTURES, PAGE_OF
from normgeo.settings import Settings
from normgeo.ui import url
from normgeo.ui.controls import useless
from normgeo.ui.teaching.answers import ANSWERS

_BROKEN = "_broken"

LABELS = {
    "negative": text("δ < 0"),
    "eps": text("a large ε"),
    "one": text("a batch of one"),
    "two": text("two neurons"),
    "frozen": text("frozen statistics"),
}
# A tab that opens by itself would scroll into view, and the answer out of it.
_ONE_CASE = {"cell": "layer.case_rescaling", "tab": "why"}
_SOFTENED = {"eps": 1.0}
_FROZEN = {"method": "batch", "statistics": "frozen"}
_TWO = {"method": "layer", "family": "bernoulli", "neurons": 2}
STATES: Mapping[str, Mapping[str, Mapping[str, Any]]] = dict(  # noqa: C408 - a page is no key of a registry
    invariance={
        "negative": {**_ONE_CASE, "delta": -2.0},
        "eps": {**_ONE_CASE, **_SOFTENED},
        "two": {**_ONE_CASE, "neurons": 2},
        "frozen": {"cell": "batch.weight_matrix_rescaling", "tab": "why", "statistics": "frozen"},
    },
    learning_rate={"eps": _SOFTENED, "two": _TWO, "frozen": _FROZEN},
    symmetry={"eps": _SOFTENED, "two": _TWO, "frozen": _FROZEN},
    fisher={"eps": _SOFTENED, "two": _TWO, "frozen": _FROZEN},
    batch={"one": {"batch_size": 1}},
    recurrent={"two": {"neurons": 2}},
)
"""The settings that each way to break a page changes, by page and by `LABELS`."""


def buttons(page: str, settings: Settings) -> None:
    """Draw a button for each way to break a page, disabled with the reason if it has no effect."""
    found = STATES.get(page, {})
    if not found:
        return
    st.markdown(text("**Break it**"))
    for name, changes in found.items():
        why = _why_not(page, settings, changes)
        st.button(
            str(LABELS[name]),
            key=f"break_{name}",
            on_click=_break,
            args=(page, name),
            disabled=bool(why),
            help=str(why) or None,
            width="stretch",
        )


def is_broken(name: str, settings: Settings) -> bool:
    """Whether a picture is the first one of a page that is still broken."""
    page, every = PAGE_OF[name], st.session_state.get(_BROKEN, {})
    if name != MAIN_PICTURES[page] or page not in every:
        return False
    how, _ = every[page]
    if not _is_so(settings, STATES[page][how]):
        del every[page]  # the user has repaired it by hand
    return page in every


def tell(name: str, result: Any) -> None:
    """Draw, above a page's first picture, what broke it and the way back.

    Args:
        name: of the picture.
        result: of the picture; None if there is none, or if it must stay hidden.

    """
    page = PAGE_OF[name]
    how, _ = st.session_state[_BROKEN][page]
    answer = text("See below what becomes of it.")
    if result is not None:
        answer = ANSWERS[name](result)
    with st.container(horizontal=True, vertical_alignment="center", key="broken", gap="small"):
        st.markdown(text("**{how}:** {answer}", how=LABELS[how], answer=answer), width="stretch")
        st.button(str(text("Back to before")), key="unbreak", on_click=_restore, args=(page,))


def _why_not(page: str, settings: Settings, changes: Mapping[str, Any]) -> str:
    """Why a change has no effect on a page, in a sentence; "" if it has one."""
    if _is_so(settings, changes):
        return text("The page is in this state already.")
    after = replace(settings, **changes)
    # A table of methods has no method of its own; elsewhere some settings have no effect.
    names = ("neurons",) if "cell" in changes else tuple(changes)
    return next((why for name in names if name in changes and (why := useless(after, name))), "")


def _is_so(settings: Settings, changes: Mapping[str, Any]) -> bool:
    return all(getattr(settings, name) == value for name, value in changes.items())


def _break(page: str, how: str) -> None:
    before = st.query_params.to_dict()
    url.change(**STATES[page][how])
    broken: dict[str, tuple[str, dict[str, str]]] = st.session_state.setdefault(_BROKEN, {})
    if page in broken:
        _, before = broken[page]  # the way back leads to the unbroken state
    broken[page] = how, before
    st.session_state["teach"] = False  # the open menu would cover the changed page


def _restore(page: str) -> None:
    _, before = st.session_state[_BROKEN].pop(page)
    st.query_params.from_dict(before)
