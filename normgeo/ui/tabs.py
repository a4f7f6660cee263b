"""The tabs at the foot of a page; the open one is in the URL, and only that one is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from normgeo.settings import Settings
from normgeo.text import text
from normgeo.ui import url


def tabs(settings: Settings, titles: Mapping[str, str], opening: str) -> Mapping[str, Any]:
    """Draw tabs and return their containers, of which one is `.open`.

    Args:
        settings: whose `tab` is open. titles: by the names of tabs, values of the setting.
        opening: the tab that "auto", or the tab of another page, stands for.

    """
    labels = {name: text(title) for name, title in titles.items()}
    st.session_state["tab"] = labels[settings.tab if settings.tab in labels else opening]

    def changed() -> None:
        chosen = st.session_state["tab"]
        url.change(tab=next(name for name, label in labels.items() if label == chosen))

    containers = st.tabs(list(labels.values()), key="tab", on_change=changed)
    return dict(zip(labels, containers, strict=True))
