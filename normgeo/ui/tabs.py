"""The tabs at the foot of a page; the open one is in the URL, and only that one is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from normgeo.base.text import text
from normgeo.settings import Settings
from normgeo.ui import url

Depths = Mapping[str, tuple[str, Callable[..., None]]]
"""Titles and what draws a tab, by the values of the setting `tab`."""


def tabs(settings: Settings, depths: Depths, opening: str, *known: Any) -> None:
    """Draw tabs, and what stands in the open one.

    Args:
        settings: whose `tab` is open, and what each tab is drawn from. depths: the tabs.
        opening: the tab that "auto", or the tab of another page, stands for.
        known: what the page has computed already, for all of its tabs.

    """
    labels = {name: text(title) for name, (title, _) in depths.items()}
    st.session_state["tab"] = labels[settings.tab if settings.tab in labels else opening]

    def changed() -> None:
        chosen = st.session_state["tab"]
        url.change(tab=next(name for name, label in labels.items() if label == chosen))

    containers = st.tabs(list(labels.values()), key="tab", on_change=changed)
    for (_, draw), container in zip(depths.values(), containers, strict=True):
        if container.open:
            with container:
                draw(settings, *known)
