"""The meaning of a page's symbols and terms, from a file that the documentation shares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import streamlit as st

from normgeo.base.text import text
from normgeo.ui import source

_HERE = Path(__file__).parent
NO_KEYS: Mapping[str, str] = MappingProxyType({})


@cache
def entries() -> dict[str, str]:
    """The definition of each symbol and term, in plain words."""
    words = (_HERE / "glossary.md").read_text("utf-8")
    found = re.findall(r"^(\S.*)\n: (.*(?:\n  .*)*)", words, re.MULTILINE)
    return {name: re.sub(r"[*`]", "", " ".join(said.split())) for name, said in found}


def draw(names: str, *, button: bool, keys: Mapping[str, str] = NO_KEYS) -> None:
    """Tell the meaning of symbols and terms ("a|z|neuron") where they stand on the page.

    The key ? opens a list of them and of all others; so does a `button`, where it is asked for.
    The list begins with what `keys` do, if the page has some of its own.
    """
    here = names.split("|")
    known = {name: str(text(said)) for name, said in entries().items()}
    _glossary(
        key="glossary",
        data={
            "label": str(text("Symbols and terms of this page")),
            "elsewhere": str(text("On other pages")),
            "close": str(text("Close")),
            "button": button,
            "ofKeys": str(text("Keys")),
            "keys": [[str(key), str(does)] for key, does in keys.items()],
            "entries": [[name, known.pop(name)] for name in here],
            "others": [*known.items()],
        },
        width="content",
    )


_glossary = st.components.v2.component(
    "normgeo_glossary",
    html='<button type="button" class="open">?</button><dialog></dialog>'
    '<div role="tooltip" id="meaning" hidden></div>',
    css=source("component.css", "teaching/glossary.css"),
    js=source("teaching/glossary.js"),
)
