"""The URL holds the state of a page: read, change, reset, and carry it from page to page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from normgeo.base.refusal import Refusal
from normgeo.base.rules import Choice, complaint
from normgeo.settings import Settings, replaced

_LAST, _PAGE, _REFUSED = "_last_query", "_last_page", "_refused"


def read(page: str, tabs: Iterable[str] = ()) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings of the URL, and a sentence for each value that could not be used.

    The navigation opens pages without a query: they then take over the settings of the page
    before, all but its tab. Figures follow the theme of the page, unless the URL names one.

    Args:
        page: its name. tabs: the words that `tab` may be there.

    """
    state = st.session_state
    if not st.query_params and state.get(_PAGE, page) != page:
        st.query_params.from_dict({k: v for k, v in state[_LAST].items() if k != "tab"})
    settings, problems = Settings.from_query(st.query_params.to_dict())
    rule = Choice(dict.fromkeys((Settings.tab, *tabs), ""))
    if settings.tab not in rule.titles:
        refused = complaint("tab", rule, settings.tab)
        problems = *problems, replaced(refused, Settings.tab)
        settings = replace(settings, tab=Settings.tab)
    state[_PAGE], state[_LAST] = page, settings.to_query()
    if "theme" not in st.query_params:
        settings = replace(settings, theme=st.context.theme.type or "light")
    if _REFUSED in state:
        problems = *problems, str(state.pop(_REFUSED))
    return settings, problems


def address() -> str:
    """The page that is shown and its query, for the log."""
    state = st.session_state
    return f"/{state.get(_PAGE, '')}?{urlencode(state.get(_LAST, {}))}"


def change(**values: Any) -> None:
    """Write new values of settings into the URL; a value against its rule is told and left out."""
    settings, _ = Settings.from_query(st.query_params.to_dict())
    try:
        settings = replace(settings, **values)
    except Refusal as error:
        st.session_state[_REFUSED] = error
        return
    st.query_params.from_dict(settings.to_query())


def reset() -> None:
    """Return to the defaults."""
    st.query_params.clear()
