"""Widgets for settings, made from the rules of the settings; the URL holds their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st

from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.models.families import FAMILIES
from normgeo.normalizers.centers import CENTERS
from normgeo.normalizers.normalizer import NORMALIZERS
from normgeo.normalizers.scales import SCALES
from normgeo.settings import RULES, Choice, Number, Open, Settings, Whole
from normgeo.ui import url

LABELS: Mapping[str, str] = {
    "dataset": "data",
    "features": "features",
    "family": "output family",
    "neurons": "neurons H (0: as the data has)",
    "seed": "seed of the random weights",
    "weights": "weights",
    "ridge": "ridge penalty λ",
    "method": "method",
    "groups": "groups G",
    "eps": "ε",
    "statistics": "batch statistics",
    "rows": "rows",
    "columns": "columns",
    "delta": "δ at the start",
    "index": "neuron or case that changes",
    "center": "center: the mean over",
    "scale": "scale: the spread over",
    "neuron": "neuron",
    "other": "other neuron of the block",
    "entries": "entries at the start",
    "growth": "‖w‖ at the start",
    "rate": "step size η (0: as suits)",
    "steps": "steps",
    "optimizer": "optimizer",
    "decay": "weight decay λ",
    "mini_batch": "mini-batch (0: all cases)",
    "batch_size": "small batch m",
    "epochs": "epochs",
    "radius": "spectral radius at the start",
    "length": "steps T",
    "activation": "activation f",
}

_WORDS = {
    "none": "nothing",
    "batch": "cases (batch)",
    "layer": "neurons (layer)",
    "weight": "features (weight)",
}

OPTIONS: Mapping[str, Mapping[str, str]] = {
    "dataset": {key: source.title for key, source in DATASETS.items()},
    "features": {"auto": "as suits the picture", "raw": "raw", "standardized": "standardized"},
    "family": {"auto": "as the data has", **{key: f.title for key, f in FAMILIES.items()}},
    "weights": {"random": "random", "fitted": "fitted"},
    "optimizer": {key: optimizer.title for key, optimizer in OPTIMIZERS.items()},
    "method": {key: normalizer.title for key, normalizer in NORMALIZERS.items()},
    "statistics": {"current": "of the current batch", "frozen": "frozen, as at test time"},
    "rows": {"paper": "rows of the paper", "named": "all named rows", "grid": "all 4 × 4 rows"},
    "columns": {"paper": "three operations", "all": "five operations"},
    "entries": {"raw": "as they are", "log": "logarithm", "normalized": "over the diagonal"},
    "activation": {"tanh": "f = tanh", "relu": "f = ReLU", "identity": "f = identity"},
    "center": {key: _WORDS[key] for key in CENTERS},
    "scale": {key: _WORDS[key] for key in SCALES},
}


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
    rule, label = RULES[name], text(LABELS[name])
    common: dict[str, Any] = {
        "key": key,
        "on_change": _changed,
        "args": (name, key),
        "width": 190,
        "label_visibility": "visible" if label_visible else "collapsed",
    }
    if isinstance(rule, Open):
        # Without a value of its own a field can be emptied again.
        common |= {"value": None, "placeholder": text("as suits")}
        rule = rule.rule
    if isinstance(rule, Choice):
        words = OPTIONS.get(name, {})
        st.selectbox(
            label,
            rule.options,
            format_func=lambda option: text(words.get(option, option)),
            **common,
        )
    elif isinstance(rule, Whole):
        st.number_input(label, rule.low, rule.high, step=1, **common)
    elif isinstance(rule, Number):
        st.number_input(label, float(rule.low), float(rule.high), step=0.1, format="%g", **common)
    else:
        raise TypeError(f"There is no widget for the setting `{name}`.")


def _changed(name: str, key: str) -> None:
    value = st.session_state[key]
    if value is not None or isinstance(RULES[name], Open):
        url.change(**{name: value})
