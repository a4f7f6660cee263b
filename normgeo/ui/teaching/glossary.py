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
    invariance="a|z|μ|σ|s|v|W, w|X, x|δ|γ|ε|case|neuron|re-centering, re-scaling"
    "|certificate|witness",
    learning_rate="W, w|‖w‖|ŵ|G|Γ|η|θ|λ|β|c|L|z|ε|F|KL|ds|K|N, H, D|g, b|t, i, j|neuron|block"
    "|angular update|equilibrium",
    symmetry="W, w|F|KL|N, H, D|K|δ|γ|null direction|tangent|neuron|case",
    fisher="F|KL|W, w|‖w‖|ŵ|δ|θ|P|A|J|E|Var, Cov|O|ds|φ|s|a|z|y|X, x|g, b|h|t, i, j|N, H, D|block"
    "|base point|coupling|empirical Fisher",
    batch="a|z|μ|σ|S|m|η|case|neuron|frozen statistics",
    recurrent="a|h|W, w|X, x|f|g, b|μ|σ|z|ρ|T|t, i, j|J|s|neuron",
    your_network="W, w|a|X, x|z|σ|δ|‖w‖|η|λ|ε|F|g, b|N, H, D|neuron|case|block|gain"
    "|effective learning rate|equilibrium",
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
