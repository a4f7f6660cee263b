"""The URL holds the state of a page: read, change, reset, and carry it from page to page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from normgeo.base.refusal import Refusal
from normgeo.base.rules import Choice, complaint
from normgeo.base.text import text
from normgeo.settings import SETTINGS, Settings, replaced

_LAST, _PAGE, _REFUSED, _DEFAULTS = "_last_query", "_last_page", "_refused", "_page_defaults"
_VIEW, _RESETS, _MOVED = "_last_view", "_resets", "_moved"
_OWN, _ELSEWHERE = "_own_settings", "_settings_elsewhere"
_WRITTEN = "_written"  # the last address that was written, and those before it
NONE: Mapping[str, Any] = MappingProxyType({})
VIEW: Mapping[str, bool] = {
    "tour": False,
    "stop": False,
    "present": True,
    "pin": True,
    "beside": True,
}
"""Words of an address that decide how a page is shown, without effect on pictures, and whether
they stay in the address from page to page."""


def view() -> dict[str, str]:
    """The words of the address that decide how the page is shown."""
    return {name: word for name, word in st.query_params.items() if name in VIEW}


def view_elsewhere() -> dict[str, str]:
    """Those of the view's words that another page keeps."""
    return {name: word for name, word in view().items() if VIEW[name]}


def show(**words: str | None) -> None:
    """Change how the page is shown, in its address; None removes a word."""
    catch_up()
    new = {**st.query_params.to_dict(), **_moved(), **words}
    _write({name: word for name, word in new.items() if word is not None})


def presenting() -> bool:
    """Whether the page is presented."""
    return st.query_params.get("present") == "1"


def embedded() -> bool:
    """Whether one figure is shown alone."""
    return bool(st.context.is_embedded)


def bare() -> bool:
    """Whether the page is shown without its controls."""
    return presenting() or embedded()


def _settings() -> dict[str, str]:
    """The settings in the address, with the reports of sliders since then."""
    kept_out = (*VIEW, "theme")
    said = {name: word for name, word in st.query_params.items() if name not in kept_out}
    return {**said, **_moved()}


def _moved() -> dict[str, str]:
    """What sliders reported at this address."""
    at, moved = st.session_state.get(_MOVED, ({}, {}))
    return moved if at == st.query_params.to_dict() else {}


def _write(query: Mapping[str, str]) -> None:
    state = st.session_state
    _, before = state.get(_WRITTEN, ({}, []))
    # As many as may come before one answer does.
    state[_WRITTEN] = dict(query), [*before, st.query_params.to_dict()][-8:]
    st.query_params.from_dict(query)
    state.pop(_MOVED, None)


def catch_up() -> None:
    """Keep the address last written where a widget changes without changing the address.

    Every change of a widget calls this: its browser may not have heard of the change before, and
    would be taken to have gone back.
    """
    written, before = st.session_state.get(_WRITTEN, ({}, []))
    if st.query_params.to_dict() in before:
        st.query_params.from_dict(written)


def read(
    page: str,
    tabs: Iterable[str] = (),
    defaults: Mapping[str, Any] = NONE,
    own: Iterable[str] = (),
) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings of the URL, and a sentence for each value that could not be used.

    The navigation opens pages without a query: they then take over those of their own settings
    that other pages have; the rest waits for a page that has it. Figures follow the theme of the
    page.

    Args:
        page: its name. tabs: the words that `tab` may be there. own: settings of the page.
        defaults: the page's own defaults, for settings that are not in the URL.

    """
    state = st.session_state
    state[_DEFAULTS] = defaults
    if st.query_params.to_dict() != state.get(_WRITTEN, ({}, []))[0]:
        state.pop(_WRITTEN, None)  # the browser went back, or elsewhere
    moved = state.get(_MOVED)
    if state.get(_PAGE) == page and _moved():
        _change({})
        # A browser that has not heard of the new address sends the old one with its next report.
        state[_MOVED] = moved
    else:
        state.pop(_MOVED, None)
    own = frozenset(own)
    if state.get(_PAGE, page) != page:
        # A link with settings is taken as it is.
        state[_ELSEWHERE] = {} if st.query_params else _carried(moved[1] if moved else {})
        if not st.query_params:
            taken = {name: word for name, word in state[_ELSEWHERE].items() if name in own}
            st.query_params.from_dict({**state.get(_VIEW, {}), **taken})
    state[_OWN] = own
    settings, problems = Settings.from_query(_settings(), defaults)
    rule = Choice(dict.fromkeys((Settings.tab, *tabs), ""))
    if settings.tab not in rule.titles:
        refused = complaint("tab", rule, settings.tab)
        problems = *problems, replaced(refused, Settings.tab)
        settings = replace(settings, tab=Settings.tab)
    state[_PAGE], state[_LAST] = page, _query(settings)
    state[_VIEW] = view_elsewhere()
    if "theme" in st.query_params:
        problems = (
            *problems,
            text("A page has the theme of its browser; the one in the address was left out."),
        )
    settings = replace(settings, theme=st.context.theme.type or "light")
    if _REFUSED in state:
        problems = *problems, str(state.pop(_REFUSED))
    return settings, problems


def _carried(moved: Mapping[str, str]) -> dict[str, str]:
    """The settings of the page before, and those of pages before it that it does not have."""
    state = st.session_state
    kept = state.get(_ELSEWHERE, {}).items()
    return {
        **{name: word for name, word in kept if name not in state.get(_OWN, ())},
        **state.get(_LAST, {}),
        **moved,
    }


def move(name: str, word: str) -> bool:
    """Take the new value of a slider's setting; return whether it is valid."""
    if name not in SETTINGS or Settings.from_query({name: word})[1]:
        return False
    catch_up()
    st.session_state[_MOVED] = st.query_params.to_dict(), {**_moved(), name: word}
    return True


def address() -> str:
    """The current page and its query, for the log."""
    state = st.session_state
    return f"/{state.get(_PAGE, '')}?{urlencode(state.get(_LAST, {}))}"


def link(settings: Settings) -> str:
    """The address of the current page in a state; "" if there is no browser."""
    page, _, _ = (st.context.url or "").partition("?")
    query = urlencode(settings.to_query(st.session_state.get(_DEFAULTS, NONE)))
    return f"{page}?{query}" if page and query else page


def change(**values: Any) -> None:
    """Write new values of settings into the URL; warn about invalid ones and leave them out."""
    catch_up()
    _change(values)


def _change(values: Mapping[str, Any]) -> None:
    settings, _ = Settings.from_query(_settings(), st.session_state.get(_DEFAULTS, NONE))
    for name, value in values.items():
        try:
            settings = replace(settings, **{name: value})
        except Refusal:
            setting = SETTINGS[name]
            words = {"label": setting.label, "rule": setting.rule.sentence, "value": f"{value}"}
            refused = text("{label} must be {rule}; {value!r} is not.", **words)
            st.session_state[_REFUSED] = refused
            return
    _write({**view(), **_query(settings, {*values, *_moved()})})


def _query(settings: Settings, changed: Iterable[str] = ()) -> dict[str, str]:
    """Return the query for settings.

    A setting for which the page has its own default is named if it was named before or has
    changed, even if its value is a default: other pages have other defaults.
    """
    own = st.session_state.get(_DEFAULTS, NONE)
    named = own.keys() & {*st.query_params, *changed}
    query = settings.to_query(named)
    return {name: words for name, words in query.items() if name in named or name not in own}


def reset() -> None:
    """Return to the defaults; in a tour, to those of its stop."""
    _write(view())
    st.session_state[_ELSEWHERE] = {}
    st.session_state[_RESETS] = resets() + 1


def resets() -> int:
    """How often this session returned to the defaults, which also resets sliders."""
    count: int = st.session_state.get(_RESETS, 0)
    return count


def state() -> dict[str, str]:
    """The settings in the address, with sliders and the page's own defaults."""
    defaults = st.session_state.get(_DEFAULTS, NONE)
    settings, _ = Settings.from_query(_settings(), defaults)
    return settings.to_query(defaults)


def set_state(settings: Settings) -> None:
    """Show the page in another state."""
    _write({**view(), **settings.to_query(st.session_state.get(_DEFAULTS, NONE))})


def leave_tour() -> None:
    """Leave the tour, and keep the page and its state."""
    kept = {name: word for name, word in view().items() if name not in ("tour", "stop")}
    _write({**kept, **state()})
