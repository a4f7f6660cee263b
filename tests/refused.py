"""What a refusal says, word by word."""

import re

import pytest

from normgeo.base.refusal import Refusal


def says(sentence: str, error: type[Exception] = Refusal) -> "pytest.RaisesExc[Exception]":
    """A block that is refused with a sentence, the whole of it."""
    return pytest.raises(error, match=f"^{re.escape(sentence)}$")
