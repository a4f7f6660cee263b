"""Addresses of the explorer's pages: legal ones, the largest among them, and hostile ones."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import numpy as np

from normgeo.base.rules import OPEN, Choice, Number, Open, Rule, Whole
from normgeo.datasets.datasets import DATASETS
from normgeo.invariance.transforms import TRANSFORMS
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures import PICTURES
from normgeo.settings import RULES, SETTINGS
from normgeo.ui.frame import PAGES
from normgeo.ui.url import VIEW

State = tuple[str, dict[str, str]]
"""A page and its query."""

WIDE = {"dataset": "digits", "neurons": "256"}
LARGEST: tuple[State, ...] = (
    ("depth", {"neurons": "256", "depth": "47", "method": "batch"}),
    ("invariance", {"groups": "20", "cell": "group.case_recentering"}),
    ("invariance", {"groups": "256", "cell": "group.weight_vector_offsets", "tab": "blackboard"}),
    ("invariance", {**WIDE, "groups": "64", "cell": "group.case_rescaling", "tab": "why"}),
    ("home", WIDE),
    ("fisher", {"dataset": "plane", "neurons": "256", "family": "categorical", "tab": "magnitude"}),
    ("fisher", {"dataset": "digits", "neurons": "32", "method": "layer", "tab": "spectra"}),
    ("learning_rate", {**WIDE, "steps": "10000", "method": "layer"}),
    ("learning_rate", {"dataset": "plane", "neurons": "256", "steps": "500", "tab": "descent"}),
    ("learning_rate", {**WIDE, "mini_batch": "16", "steps": "300", "tab": "twin"}),
    ("learning_rate", {**WIDE, "steps": "300", "tab": "spiral"}),
    ("symmetry", {"dataset": "plane", "neurons": "256", "method": "layer"}),
    ("batch", WIDE),
    ("depth", {"neurons": "256", "depth": "47", "method": "group", "tab": "images"}),
    ("recurrent", {"neurons": "64", "length": "256", "tab": "cells"}),
)
"""Pages and queries that took gigabytes or minutes, or are close to the limits of pages."""

TABS = {page: ("auto", *getattr(import_module(f"normgeo.ui.{page}"), "TABS", ())) for page in PAGES}

WORDS = (
    *("", " ", "nan", "inf", "-inf", "-0.0", "0", "1", "-1", "1e-320", "1e308", "1e999", "2.5"),
    *(
        "0x10",
        "1_000",
        "1,5",
        "٣",
        "²",
        "true",
        "None",
        "null",
        "[1]",
        "{}",
        "9" * 5000,
        "[" * 3000,
    ),
    *("layer", "batch.case_rescaling", "turn", "turn?method=batch", "turn?" * 500, "../../etc"),
    *("a\x00b\x1b[2J\r\nc", "\u202eabc\u2066", "%00", "%", "&=?#", "<script>alert(1)</script>"),
    *("[log in](http://evil.example)", "![](http://evil.example/a.png)", "$x$", "{0}{x!r}%s"),
    *("99999999999999999999", "-99999999999999999999", "1e-5,1e-3", "1;2", "'; --", "\ud7ff\ue000"),
)
"""Values that no setting accepts, or only some do."""


def legal() -> Iterator[State]:
    """Yield the largest states, then others, all different."""
    yield from LARGEST
    rng = np.random.default_rng(0)
    while True:
        yield _drawn(rng)


def hostile() -> Iterator[State]:
    """Yield states with some words and names that the page does not expect."""
    rng = np.random.default_rng(1)
    names = (*SETTINGS, *VIEW, *PICTURES, *WORDS[1:])
    while True:
        page, query = _drawn(rng)
        for name in rng.choice(names, rng.integers(1, 6)).tolist():
            other = str(rng.choice([*query.values(), *NORMALIZERS, *DATASETS]))
            query[name] = str(rng.choice(WORDS)) if rng.random() < 0.7 else other
        yield page, query


def _drawn(rng: np.random.Generator) -> State:
    page = str(rng.choice(list(TABS)))
    others = {name: word for name, rule in RULES.items() if (word := _value(rule, rng))}
    return (
        page,
        others
        | {
            "tab": str(rng.choice(TABS[page])),
            "dataset": str(rng.choice(list(DATASETS))),
            "neurons": str(rng.choice([0, 3, 8, 16, 32, 64, 256])),
            "method": str(rng.choice(list(NORMALIZERS))),
            "cell": f"{rng.choice(list(NORMALIZERS))}.{rng.choice(list(TRANSFORMS))}",
            "groups": str(rng.choice([1, 2, 4, 8, 64, 256])),
            "eps": str(rng.choice([0.0, float(rng.uniform(0, 1e-3))])),
            "seed": str(rng.integers(2**31)),
            "steps": str(rng.choice([20, 100])),
            "length": str(rng.choice([8, 64, 256])),
        },
    )


def _value(rule: Rule, rng: np.random.Generator) -> str:
    """Return a setting's value as in an address; "" in three of four cases, and for words."""
    if rng.random() < 0.75:
        return ""
    match rule:
        case Choice():
            return str(rng.choice(rule.options))
        case Open():
            return OPEN if rng.random() < 0.5 else _of_range(rule.rule, rng)
        case Whole() | Number():
            return _of_range(rule, rng)
    return ""


def _of_range(rule: Whole | Number, rng: np.random.Generator) -> str:
    """Return the smallest value, the largest, or one between, uniform on a log scale."""
    low, high = rule.low, rule.high
    between = low + np.expm1(rng.uniform(0, np.log1p(high - low)))
    value = rng.choice([low, high, between])
    return str(round(value)) if isinstance(rule, Whole) else str(value)
