"""The exact sentence of a refusal."""

import re

import pytest

from normgeo.base.refusal import Refusal


def says(sentence: str, error: type[Exception] = Refusal) -> "pytest.RaisesExc[Exception]":
    """A block that must be refused with exactly this sentence."""
    return pytest.raises(error, match=f"^{re.escape(sentence)}$")
