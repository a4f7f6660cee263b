"""Words on the paper of a figure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.template import SIZE, SMALL

TAG, MARK = (
    "<[^>]*>",
    "\ue000",
)  # markup, and the one letter that stands for it while lines are made


def note(
    words: str | Sequence[str], x: float = 0.0, y: float = 1.0, **place: Any
) -> dict[str, Any]:
    """The annotation of words, or of lines of them, that begin at x and end above y.

    x and y are shares of the paper; `place` overrides any property of plotly's annotations.
    """
    lines = [words] if isinstance(words, str) else words
    return {
        "text": "<br>".join(map(str, lines)),
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "align": "left",
        "font": {"size": SIZE},
        **place,
    }


def wrapped(sentence: str, width: int = 150) -> list[str]:
    """The lines of a sentence in a figure; an equation stays in one, and markup takes no room."""
    words = str(sentence)
    for sign in "=+−":
        words = words.replace(f" {sign} ", f"\N{NO-BREAK SPACE}{sign}\N{NO-BREAK SPACE}")
    tags = iter(re.findall(TAG, words))
    lines = textwrap.wrap(re.sub(TAG, MARK, words), width)
    return [re.sub(MARK, lambda _: next(tags), line) for line in lines]


def subscripted(words: str) -> str:
    """Words in a figure whose `_q` and the like are indices.

    >>> subscripted("W_q and W_k")
    'W<sub>q</sub> and W<sub>k</sub>'

    """
    return re.sub(r"(?<=\w)_(\w)\b", r"<sub>\1</sub>", str(words))


def colored(words: str, color: str, size: int = SMALL) -> str:
    """Words of a caption in a color and a size."""
    return f'<span style="color:{color};font-size:{size}px">{words}</span>'


def sized(words: str, size: int) -> str:
    """Words of a caption in a size."""
    return f'<span style="font-size:{size}px">{words}</span>'


def method_title(normalizer: Normalizer, more: str = "") -> str:
    """The title of a method in its color, with what is particular about it."""
    return colored(f"<b>{normalizer.title}{more}</b>", method_color(normalizer), SIZE)
