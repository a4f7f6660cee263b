"""Widgets for settings, built from the rules of the settings; the URL holds the values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from normgeo.base.numbers import number
from normgeo.base.refusal import Refusal
from normgeo.base.rules import Choice, Number, Open, Whole
from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures.model_on_data import neurons_of
from normgeo.settings import RULES, SETTINGS, Settings
from normgeo.ui import url
from normgeo.ui.possible import Judge, left_out, possible, whole

WIDTH = 168  # pixels of a widget: seven in a line of a projector, two in one of a phone
LETTER, BESIDE = 7, 48  # pixels: of a letter of what is chosen, and of what stands beside it


def controls(
    settings: Settings,
    names: Iterable[str],
    *,
    labels: bool = True,
    prefix: str = "",
    one_method: bool = False,
    picture: Judge = "",
    width: int = WIDTH,
    shown_to_a_room: bool = False,
) -> None:
    """Draw a widget for each named setting, in a horizontal container or any other.

    Args:
        settings: what the widgets show. names: of settings.
        labels: False keeps them for screen readers, in the line of a heading.
        prefix: of the widgets' keys, which are the names otherwise; for a second widget of one
            setting on a page.
        width: of a widget, in pixels.
        one_method: whether the page is about the settings' method alone: settings without
            effect there are disabled, with the reason.
        picture: uses these settings; values that it refuses cannot be chosen.
        shown_to_a_room: whether the widgets stay visible when presenting.

    """
    hidden = url.embedded() or (url.presenting() and not shown_to_a_room)
    for name in () if hidden else names:
        why = useless(settings, name) if one_method else ""
        _control(settings, name, prefix + name, labels, why, picture, width)


def differing(settings: Settings, names: Iterable[str]) -> list[str]:
    """The names of the settings that differ from their defaults."""
    return [name for name in names if getattr(settings, name) != getattr(Settings, name)]


def _control(
    settings: Settings,
    name: str,
    key: str,
    label_visible: bool,
    why: str,
    picture: Judge,
    width: int,
) -> None:
    value = st.session_state[key] = getattr(settings, name)
    setting, rule = SETTINGS[name], RULES[name]
    label, told = str(setting.label), [why or setting.help]
    if picture and label_visible and not why:
        told += left_out(picture, settings, name)
    common: dict[str, Any] = {
        "key": key,
        "on_change": _changed,
        "args": (name, key),
        "width": width,
        "label_visibility": "visible" if label_visible else "collapsed",
        "help": "\n\n".join(filter(None, map(str, told))) or None if label_visible else None,
        "disabled": bool(why),
    }
    if isinstance(rule, Open):
        # A field without a value of its own can be emptied again.
        common |= {"value": None, "placeholder": str(text("automatic"))}
        rule = rule.rule
    titles = offered(settings, name, picture)
    if label_visible and (isinstance(rule, Choice) or titles is not None):
        # Show the chosen words in full, unless the heading has no room for them.
        chosen = str((titles or {}).get(value) or title(name, value))
        common["width"] = max(WIDTH, BESIDE + LETTER * len(chosen))
    if url.presenting():
        common["width"] = common["width"] * 3 // 2  # as all type
    if titles is not None:
        st.selectbox(
            label,
            list(titles),
            format_func=lambda one: str(titles.get(one, one)),
            # Other numbers are typed.
            accept_new_options=isinstance(rule, Number),
            **common,
        )
    elif isinstance(rule, Whole):
        most = whole(picture, settings, name, rule)[-1] if picture else rule.high
        # Show the value of the address nevertheless.
        st.number_input(label, rule.low, max(most, value or 0), step=1, **common)
    elif isinstance(rule, Number):
        low, high = float(rule.low), float(rule.high)
        st.number_input(label, low, high, step=setting.step, format="%g", **common)
    else:
        raise TypeError(f"There is no widget for the setting `{name}`.")


def _changed(name: str, key: str) -> None:
    value = st.session_state[key]
    if value is not None or isinstance(RULES[name], Open):
        url.change(**{name: value})


# What a list offers.

EPSILONS = (0.0, 1e-8, 1e-5, 1e-3, 0.1, 1.0)  # in use, and one that nobody can overlook


def offered(settings: Settings, name: str, picture: Judge = "") -> Mapping[Any, str] | None:
    """The values that a list shows for a setting, with their titles; None where any number may be.

    Values that the picture refuses are left out, except the one in the address.
    """
    find, rule, value = _OFFERED.get(name), SETTINGS[name].rule, getattr(settings, name)
    if find is not None:
        titles = dict(find(settings))
    elif isinstance(rule, Choice):
        there = possible(picture, settings, name, rule.options) if picture else rule.options
        titles = {option: rule.title(option) for option in there}
    elif picture and isinstance(rule, Whole):
        numbers = whole(picture, settings, name, rule)
        if numbers[-1] - numbers[0] == len(numbers) - 1:
            return None
        titles = {one: str(one) for one in numbers}
    else:
        return None
    return titles if value in titles else {**titles, value: title(name, value)}


def title(name: str, value: Any) -> str:
    """The title of a value that is not in the list."""
    rule = SETTINGS[name].rule
    return rule.title(value) if isinstance(rule, Choice) else number(value)


def useless(settings: Settings, name: str) -> str:
    """Why a setting has no effect on a page about one method, in a sentence; "" if it may have."""
    method, named = settings.normalizer, NORMALIZERS[settings.method]
    if name == "groups" and named.groups == 1:
        return text("There are no groups in {method}.", method=method.title)
    if name == "statistics" and not method.shared_by_cases:
        return text("There are no batch statistics to freeze in {method}.", method=method.title)
    if name == "eps" and not replace(named, eps=1).added_eps:
        return text(
            "There is no ε in {method}: its σ does not depend on the data.", method=method.title
        )
    if name == "neurons" and settings.weights == "fitted":
        return text("Fitted weights have one neuron for each output.")
    return ""


def _neurons(settings: Settings) -> dict[int, str]:
    """The neurons by number, each with the output that it predicts."""
    dataset = DATASETS[settings.dataset].load()
    names = dataset.target_names
    try:
        count = neurons_of(dataset, settings)
    except Refusal:
        count = dataset.H
    return {h: text("neuron {h}: {name}", h=h, name=names[h % len(names)]) for h in range(count)}


def _epsilons(settings: Settings) -> dict[float, str]:
    return {eps: text("ε = {eps}", eps=number(eps) if eps else "0") for eps in EPSILONS}


_OFFERED: dict[str, Callable[[Settings], Mapping[Any, str]]] = {
    "neuron": _neurons,
    "other": _neurons,
    "eps": _epsilons,
}
