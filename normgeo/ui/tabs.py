"""The tabs at the foot of a page; the open one is in the URL, and only that one is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import streamlit as st

from normgeo.settings import Settings
from normgeo.ui import url
from normgeo.ui.teaching import present

Tabs = Mapping[str, tuple[str, Callable[..., None]]]
"""The title of each tab and the function that draws it, by the value of the setting `tab`."""

_OPEN = "_tab"  # the number of the tabs that are drawn, and the title of the open one


def tabs(settings: Settings, known: Tabs, opening: str, *results: Any) -> None:
    """Draw tabs, and the content of the open one.

    Args:
        settings: their `tab` is open; each tab is drawn from them. known: the tabs.
        opening: the tab that "auto" stands for.
        results: computed by the page already, for all of its tabs.

    """
    labels = {name: str(title) for name, (title, _) in known.items()}
    if url.bare():
        slide = present.slides(settings, labels)
        if slide in known:
            with st.container(key="slide"):
                known[slide][1](settings, *results)
        return
    shown = labels.get(settings.tab, labels[opening])
    number, before = st.session_state.get(_OPEN, (0, ""))
    # Redrawn tabs report their previous choice; tabs with another key cannot.
    number += shown != before
    st.session_state[_OPEN] = number, shown
    key = f"tabs {number}"
    st.session_state[key] = shown

    def changed() -> None:
        chosen = st.session_state[key]
        st.session_state[_OPEN] = number, chosen
        url.change(tab=next(name for name, label in labels.items() if label == chosen))

    containers = st.tabs(list(labels.values()), key=key, on_change=changed)
    for (_, draw), container in zip(known.values(), containers, strict=True):
        if container.open:
            with container:
                draw(settings, *results)


def points(sentences: Iterable[str], source: str = "") -> None:
    """Draw sentences as a list, and their source beneath it."""
    for sentence in sentences:
        st.markdown(f"- {sentence}")
    if source:
        st.caption(str(source))
