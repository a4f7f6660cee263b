"""Symbols and terms: each page shows the meaning of those that it uses."""

import re

import pytest

from normgeo.ui.frame import PAGES
from normgeo.ui.teaching import glossary

SYMBOLS = ["μ", "σ", "δ", "γ", "ε", "η", "θ", "λ", "φ", "ρ", "‖w‖", "KL"]

# Letters of TeX by their commands; upright words that are no symbols; what is no letter at all.
GREEK = {
    "beta": "β", "gamma": "γ", "Gamma": "Γ", "delta": "δ", "varepsilon": "ε", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "rho": "ρ",
    "sigma": "σ", "tau": "τ", "phi": "φ",
}  # fmt: skip
UPRIGHT = {"e", "id", "ReLU"}
NO_SYMBOL = re.compile(
    r"\\text\{[^}]*\}|\\(?:begin|end)\{[^}]*\}(?:\{[lrc]*\})?|\\mathsf\s*\{?T\}?|\[[\d.]+(?:pt|em)\]"
)
NAMED = re.compile(r"\\math(?:rm|it)\{(\w+)\}")

# Each page's tabs that write formulas, and states that write others.
FORMULAS = [
    ("invariance", {"tab": "why", "eps": "0.1"}),
    ("invariance", {"tab": "blackboard", "cell": "batch.case_rescaling"}),
    ("learning_rate", {"tab": "equilibrium", "steps": "60"}),
    ("learning_rate", {"tab": "equilibrium", "steps": "60", "optimizer": "lion"}),
    ("learning_rate", {"tab": "twin", "steps": "60"}),
    ("learning_rate", {"tab": "spiral", "steps": "60"}),
    ("learning_rate", {"tab": "fisher"}),
    ("learning_rate", {"tab": "equation"}),
    ("fisher", {"tab": "magnitude"}),
    ("fisher", {"tab": "labels"}),
    ("fisher", {"tab": "equation", "family": "poisson", "dataset": "linnerud_reversed"}),
    ("batch", {"tab": "equation", "dataset": "digits"}),
    ("recurrent", {"tab": "why", "activation": "relu"}),
    ("recurrent", {"tab": "cells"}),
    ("depth", {"tab": "why", "depth": "2"}),
    ("depth", {"tab": "attention", "depth": "2"}),
]
OTHERS = [
    ("invariance", {"tab": "why"}),
    ("invariance", {"tab": "why", "cell": "layer.weight_matrix_recentering"}),
    ("invariance", {"tab": "blackboard", "cell": "batch.case_recentering"}),
    ("learning_rate", {"tab": "equilibrium", "steps": "60", "optimizer": "momentum"}),
    ("learning_rate", {"tab": "equilibrium", "steps": "60", "optimizer": "adam"}),
    ("learning_rate", {"tab": "equilibrium", "steps": "60", "optimizer": "adamw"}),
    ("fisher", {"tab": "equation"}),
    ("fisher", {"tab": "equation", "family": "categorical"}),
    ("recurrent", {"tab": "why"}),
]


def symbols(tex: str) -> set[str]:
    """The symbols of a formula: its single letters, and what is set as one name."""
    plain = NO_SYMBOL.sub(" ", tex)
    named = set(NAMED.findall(plain)) - UPRIGHT
    plain = NAMED.sub(" ", plain)
    greek = {GREEK[name] for name in re.findall(r"\\([a-zA-Z]+)", plain) if name in GREEK}
    return named | greek | set(re.findall("[a-zA-Zα-ωΑ-Ω]", re.sub(r"\\[a-zA-Z]+", " ", plain)))


def listed(found) -> list[str]:
    return [name for name, _ in found.table("glossary")["entries"]]


def test_every_entry_is_a_sentence():
    assert all(said.endswith(".") for said in glossary.entries().values())


@pytest.mark.exhaustive
def test_page_shows_the_meaning_of_each_symbol_in_its_words(shown, subtests):
    for page in [page for page in PAGES if page != "audit"]:
        with subtests.test(page=page):
            found = shown(page)
            words = found.words + "".join(map(found.captions, found.figures))
            used = {symbol for symbol in SYMBOLS if symbol in re.sub("<[^>]*>", "", words)}
            assert used - set(listed(found)) == set()


def test_symbols_of_a_formula_are_its_letters():
    tex = r"\mathrm{KL} &\approx \tfrac12\, \delta_g^{\mathsf T} F\,\text{in words} + \mathit{ds}"
    assert symbols(tex) == {"KL", "δ", "g", "F", "ds"}


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    "states", [FORMULAS, pytest.param(OTHERS, id="others", marks=pytest.mark.exhaustive)]
)
def test_page_shows_the_meaning_of_each_symbol_of_its_formulas(shown, states, subtests):
    for page, query in states:
        with subtests.test(page=page, query=query):
            found = shown(page, **{"dataset": "iris"} | query)
            formulas = [formula.value for formula in found.app.latex]
            words = [e.value for kind in (found.app.markdown, found.app.caption) for e in kind]
            formulas += [inline for each in words for inline in re.findall(r"\$([^$]+)\$", each)]
            used = set().union(*map(symbols, formulas))
            assert len(used) > 1
            assert used - {form for name in listed(found) for form in name.split(", ")} == set()


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_symbols_go_along_to_a_room(shown, keep_audit, subtests):
    for page in PAGES:
        with subtests.test(page=page):
            keep_audit()
            assert listed(shown(page, present="1")) == listed(shown(page)) != []
