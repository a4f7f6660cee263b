"""What symbols and terms mean, on the pages that use them; the documentation has the same file."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import streamlit as st

from normgeo.base.text import text

_HERE = Path(__file__).parent

USED = dict(  # noqa: C408 - a page is no key of a registry
    home="X, x|W, w|a|μ|σ|z|‖w‖|neuron|case|γ|δ|ε|re-centering, re-scaling",
    invariance="a|z|μ|σ|W, w|X, x|δ|γ|ε|case|neuron|re-centering, re-scaling|certificate|witness",
    learning_rate="‖w‖|ŵ|G|η|θ|λ|ε|F|KL|neuron|block|angular update|equilibrium",
    symmetry="W, w|F|KL|N, H, D|δ|γ|null direction|tangent|neuron|case",
    fisher="F|KL|‖w‖|ŵ|δ|φ|N, H, D|block|base point|coupling|empirical Fisher",
    batch="z|μ|σ|m|η|case|neuron|frozen statistics",
    recurrent="ρ|f|T|μ|σ|neuron",
    audit="z|F|‖w‖|δ|ε|Fisher information|effective learning rate|null direction",
)
"""The entries that a page shows, in their order there."""


@cache
def entries() -> dict[str, str]:
    """The definition of each symbol and term, in plain words."""
    words = (_HERE / "glossary.md").read_text("utf-8")
    found = re.findall(r"^(\S.*)\n: (.*(?:\n  .*)*)", words, re.MULTILINE)
    return {name: re.sub(r"[*`]", "", " ".join(said.split())) for name, said in found}


def draw(page: str) -> None:
    """Draw the symbols and terms of a page, each with its meaning on hover and focus."""
    known = entries()
    _glossary(
        key="glossary",
        data={
            "label": str(text("Symbols and terms of this page")),
            "entries": [[name, str(text(known[name]))] for name in USED[page].split("|")],
        },
        width="content",
    )


_glossary = st.components.v2.component(
    "normgeo_glossary",
    html='<ul></ul><div role="tooltip" id="meaning" hidden></div>',
    css=(_HERE / "glossary.css").read_text("utf-8"),
    js=(_HERE / "glossary.js").read_text("utf-8"),
)
