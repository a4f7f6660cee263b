"""The integers of Home, linked and editable: X and Wᵀ, A where they cross, μ, σ and each z.

The library computes all numbers; the browser sends what is typed and shows the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from math import sqrt
from typing import Any

import streamlit as st

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.normalizers.averages import averages, worked
from normgeo.normalizers.example import LARGEST_ENTRY, read
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.home.arithmetic import arithmetic, root_of, shown
from normgeo.pictures.style.colors import method_color
from normgeo.settings import Settings
from normgeo.ui import source, url, verdict_table

METHODS = (*verdict_table.rows(Settings(), "paper").values(), NORMALIZERS["rms"])
"""The methods of the paper, and RMS norm, which leaves out the mean."""

WORDS = {
    "name": text(
        "A worked example whose numbers can be changed: X times Wᵀ gives A, and A gives z"
    ),
    "X": text("<b>X</b>: a row is a case"),
    "W": text("<b>Wᵀ</b>: a column holds the weights of a neuron"),
    "A": text("<b>A = X Wᵀ</b>"),
    "Z": text("<b>z = (a − μ)/σ</b>, with the μ and σ of each method"),
    "x": text("X, case {n}, feature {d}"),
    "w": text("W, neuron {h}, feature {d}"),
    "a": text("a of case {n}, neuron {h}: {value}"),
    "z": text("{method}, z of case {n}, neuron {h}: {value}"),
    "ofCase": text("{method}, {symbol} of case {n}: {value}"),
    "ofNeuron": text("{method}, {symbol} of neuron {h}: {value}"),
    "missing": text("there is none"),
    "hint": text(
        "Type another whole number, or point at any number to see what it is computed from."
    ),
    "reach": text("A change of this entry can move {list}."),
    "reached": text("{count} z of {method}"),
    "averaged": text("{method} averages {rule}."),
    "made": text(
        "a is one row of X times one column of Wᵀ; each method then takes its own μ and σ."
    ),
    "bad": text(
        "An entry is a whole number from {low} to {high}, not “{value}”; {good} stays in use."
    ),
}

_ANSWERED = "_example_answered"  # how many edits this session has received
_PLACES = range(3)
LONGEST = 5  # characters of a mean or scale in its field; a longer one is rounded


def draw(settings: Settings) -> None:
    """Draw the example of the settings; edits go into the address."""
    key = "example"
    _component(data=data(settings), key=key, on_edited_change=partial(_edited, key))


def data(settings: Settings) -> dict[str, Any]:
    """What the component shows, as JSON."""
    return {
        "answered": st.session_state.get(_ANSWERED, 0),
        "example": settings.example,
        "place": settings.place,
        "largest": LARGEST_ENTRY,
        "words": {name: str(words) for name, words in WORDS.items()},
        **_numbers(settings.example),
    }


@lru_cache(maxsize=256)
def _numbers(example: str) -> dict[str, Any]:
    """All numbers that follow from X and W, as words, by case and neuron."""
    X, W = read(example)
    A = X @ W.T
    return {
        "a": [[shown(Fraction(int(a))) for a in row] for row in A],
        "sums": _by_place(lambda n, h: _sum(X[n], W[h])),
        "methods": [_method(normalizer, example) for normalizer in METHODS],
    }


def _method(normalizer: Normalizer, example: str) -> dict[str, Any]:
    """A method's name and what it averages, with μ, σ, z and the lines of Eq. 5 at each place."""
    X, W = read(example)
    found = {}
    for n, h in product(_PLACES, _PLACES):
        (average,) = averages({"": normalizer}, W, X, (n, h)).values()
        found[n, h] = worked(average, W, X, (n, h))
    return {
        "title": str(text(normalizer.title)),
        "rule": str(average.rule),
        "color": method_color(normalizer),
        "center": normalizer.center,
        "scale": normalizer.scale,
        "statistics": {
            "μ": _by_place(lambda n, h: _short(shown(one := found[n, h].mu), one)),
            "σ": _by_place(lambda n, h: _short(root_of(one := found[n, h].variance), sqrt(one))),
        },
        "z": _by_place(lambda n, h: "–" if (z := found[n, h].z) is None else number(z)),
        "lines": _by_place(lambda n, h: arithmetic(found[n, h])),
    }


def _by_place(make: Callable[[int, int], Any]) -> list[list[Any]]:
    return [[make(n, h) for h in _PLACES] for n in _PLACES]


def _short(words: str, value: Fraction | float) -> tuple[str, str]:
    """The words in a field, and its words for a screen reader."""
    return (words if len(words) <= LONGEST else number(float(value))), words


def _sum(x: Array, w: Array) -> tuple[str, str]:
    """A summed input: its products, and their sum."""
    one = (f"({words})" if words.startswith("−") else words for words in map(_entry, x))
    other = (f"({words})" if words.startswith("−") else words for words in map(_entry, w))
    products = " + ".join(f"{a}·{b}" for a, b in zip(one, other, strict=True))
    return f"a = {products}", f" = {_entry(int(x @ w))}"


def _entry(value: int) -> str:
    return shown(Fraction(int(value)))


def _edited(key: str) -> None:
    told, example, place = str(st.session_state[key].edited).split()
    st.session_state[_ANSWERED] = int(told)
    url.change(example=example, place=place)


_component = st.components.v2.component(
    "normgeo_linked_example",
    html='<div class="frame"><div class="example"></div></div>',
    css=source("home/linked_example.css"),
    js=source("component.js", "home/linked_example_picture.js", "home/linked_example.js"),
)
