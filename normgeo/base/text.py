"""Sentences for people pass through `text`, so that a translation has one place to come in."""

from __future__ import annotations

from typing import Any


def text(sentence: str, /, **values: Any) -> str:
    """Return the sentence with its {placeholders} filled in."""
    return sentence.format(**values) if values else sentence
