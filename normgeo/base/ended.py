"""How a run that could not go on ended."""

from __future__ import annotations

from typing import NamedTuple


class Ended(NamedTuple):
    """The step that could not be taken, counted from 1, and why, in a sentence."""

    step: int
    reason: str
