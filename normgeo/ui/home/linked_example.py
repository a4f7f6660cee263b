"""The integers of Home, linked and editable: X and Wᵀ, A where they cross, μ, σ and each z.

The numbers of the start are the library's; while somebody types, the browser computes them.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.normalizers.averages import as_fractions, averages
from normgeo.normalizers.example import LARGEST_ENTRY, read
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.home.arithmetic import NO_MEAN, NO_Z
from normgeo.pictures.style.colors import method_color
from normgeo.settings import Settings
from normgeo.ui import url, verdict_table

_HERE = Path(__file__).parent

METHODS = (*verdict_table.rows(Settings(), "paper").values(), NORMALIZERS["rms"])
"""Those of the paper, and the one that leaves out the mean."""

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
    "noMean": NO_MEAN,
}


def draw(settings: Settings) -> None:
    """Draw the example of the settings; what is typed goes into the address."""
    key = "example"
    _component(data=data(settings), key=key, on_edited_change=partial(_edited, key))


def data(settings: Settings) -> dict[str, Any]:
    """What the component shows, as JSON."""
    X, W = read(settings.example)
    return {
        "example": settings.example,
        "place": settings.place,
        "defaults": {"example": Settings.example, "place": Settings.place},
        "largest": LARGEST_ENTRY,
        "words": {
            **{name: str(words) for name, words in WORDS.items()},
            "noZ": {name: str(words) for name, words in NO_Z.items()},
        },
        "methods": [
            {
                "title": str(text(normalizer.title)),
                "rule": str(_rule(normalizer, W, X)),
                "color": method_color(normalizer),
                "center": normalizer.center,
                "scale": normalizer.scale,
                **_moments(normalizer, W, X),
            }
            for normalizer in METHODS
        ],
    }


def _rule(normalizer: Normalizer, W: Array, X: Array) -> str:
    """What is averaged, in words."""
    (average,) = averages({"": normalizer}, W, X, (0, 0)).values()
    return average.rule


def _moments(normalizer: Normalizer, W: Array, X: Array) -> dict[str, list[list[str]]]:
    """μ and σ² of each place as fractions, from the lines that a certificate rests on."""
    weights, inputs = as_fractions(W), as_fractions(X)
    C, v = normalizer.moments(weights, inputs)
    matrices = {"mu": inputs @ weights.T - C, "variance": np.broadcast_to(v, C.shape)}
    return {name: [list(map(str, row)) for row in M] for name, M in matrices.items()}


def _edited(key: str) -> None:
    example, _, place = str(st.session_state[key].edited).partition(" ")
    url.change(example=example, place=place)


_component = st.components.v2.component(
    "normgeo_linked_example",
    html='<div class="frame"><div class="example"></div></div>',
    css=(_HERE / "linked_example.css").read_text("utf-8"),
    js="\n".join(
        (_HERE / f"linked_example{part}.js").read_text("utf-8")
        for part in ("_numbers", "_picture", "")
    ),
)
