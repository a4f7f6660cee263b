"""The styles of pages, as text."""

import re
from pathlib import Path

import pytest

from normgeo import ui

FILES = sorted(Path(ui.__file__).parent.rglob("*.css"))
# `:has` without the name of an element: it begins a selector, or takes any descendant.
AT_LARGE = re.compile(r"^\s*:has\(|:not\(:has\([^()]*\)\s+\*", re.MULTILINE)


def test_no_style_asks_of_any_element_whether_it_holds_another(subtests: pytest.Subtests) -> None:
    """The browser would search the whole page at each change, 0.1 s for a key press."""
    for file in FILES:
        with subtests.test(file=file):
            assert AT_LARGE.findall(file.read_text("utf-8")) == []
