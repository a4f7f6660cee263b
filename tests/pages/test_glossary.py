"""Symbols and terms: each page shows the meaning of those that it uses."""

import re

import pytest

from normgeo.ui.frame import PAGES
from normgeo.ui.teaching import glossary

SYMBOLS = ["μ", "σ", "δ", "γ", "ε", "η", "θ", "λ", "φ", "ρ", "‖w‖", "KL"]


def test_every_entry_of_a_page_is_in_the_glossary():
    assert set(glossary.USED) == set(PAGES)
    assert {n for names in glossary.USED.values() for n in names.split("|")} <= set(
        glossary.entries()
    )
    assert all(said.endswith(".") for said in glossary.entries().values())


@pytest.mark.parametrize("page", [page for page in PAGES if page != "audit"])
def test_page_shows_the_meaning_of_each_symbol_in_its_words(shown, page):
    found = shown(page)
    words = found.words + "".join(map(found.captions, found.figures))
    used = {symbol for symbol in SYMBOLS if symbol in re.sub("<[^>]*>", "", words)}
    listed = [name for name, _ in found.table("glossary")["entries"]]
    assert used - set(listed) == set()
