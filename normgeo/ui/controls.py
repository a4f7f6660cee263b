"""Widgets for settings, made from what the settings say of themselves; the URL has the values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import streamlit as st

from normgeo.base.rules import Choice, Number, Open, Whole
from normgeo.base.text import text
from normgeo.settings import RULES, SETTINGS, Settings
from normgeo.ui import url


def controls(
    settings: Settings, names: Iterable[str], *, labels: bool = True, prefix: str = ""
) -> None:
    """Draw a widget for each named setting, in a horizontal container or any other.

    Args:
        settings: what the widgets show. names: of settings.
        labels: False keeps them for screen readers, in the line of a heading.
        prefix: of the widgets' keys, which are the names otherwise; for a second widget of one
            setting on a page.

    """
    for name in names:
        _control(settings, name, prefix + name, labels)


def _control(settings: Settings, name: str, key: str, label_visible: bool) -> None:
    st.session_state[key] = getattr(settings, name)
    setting, rule = SETTINGS[name], RULES[name]
    label, help = str(setting.label), str(setting.help)
    common: dict[str, Any] = {
        "key": key,
        "on_change": _changed,
        "args": (name, key),
        "width": 190,
        "label_visibility": "visible" if label_visible else "collapsed",
        "help": help if help and label_visible else None,
    }
    if isinstance(rule, Open):
        # Without a value of its own a field can be emptied again.
        common |= {"value": None, "placeholder": str(text("automatic"))}
        rule = rule.rule
    if isinstance(rule, Choice):
        st.selectbox(label, rule.options, format_func=rule.title, **common)
    elif isinstance(rule, Whole):
        st.number_input(label, rule.low, rule.high, step=1, **common)
    elif isinstance(rule, Number):
        low, high = float(rule.low), float(rule.high)
        st.number_input(label, low, high, step=setting.step, format="%g", **common)
    else:
        raise TypeError(f"There is no widget for the setting `{name}`.")


def _changed(name: str, key: str) -> None:
    value = st.session_state[key]
    if value is not None or isinstance(RULES[name], Open):
        url.change(**{name: value})
