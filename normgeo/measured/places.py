"""The place of a norm beside a weight and in a block, as far as measuring shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from normgeo.base.text import text

PLACES = {
    "after": text("after"),
    "after_with_bias": text("after, with its bias"),
    "after_sum": text("after a sum"),
    "centered": text("a mean comes off"),
    "before": text("before"),
    "unused": text("unused"),
}
"""Places of a norm beside a weight → in a word or two."""

STYLES = {
    "pre_norm": text("pre-norm: its weights read a norm, and the stream runs on without one"),
    "post_norm": text("post-norm: a norm takes what it adds to the stream"),
    "after": text("a norm follows its weights"),
    "": "",
}
"""Styles of a block → in a clause; empty if measuring does not show the style."""

_NUMBERED = re.compile(r"^(.*?[./])?\w*\d+([./]\d+)*(?=[./])")


def block_of(name: str) -> str:
    """Return the path of the block that a tensor is in, up to its first number; "" for none.

    >>> block_of("layers.3.attn.q_proj.weight"), block_of("layer1.0.conv1.weight")
    ('layers.3', 'layer1.0')
    >>> block_of("blocks/0/W"), block_of("head.weight")
    ('blocks/0', '')

    """
    found = _NUMBERED.match(name)
    return found.group() if found else ""


def style_of(places: Iterable[Iterable[str]]) -> str:
    """Return how a block is normed, a key of STYLES, from the places of its weights.

    >>> style_of([("before",), ("after_sum",)]), style_of([("after",), ("after", "before")])
    ('pre_norm', 'after')

    """
    weights = [{*of} for of in places]
    every = set().union(*weights)
    if {"before", "after_sum"} <= every:
        return "pre_norm"
    if "centered" in every and "after_sum" not in every:
        return "post_norm"
    after = {"after", "after_with_bias"}
    return "after" if weights and all(of & after for of in weights) else ""


def blocks_of(places: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return the blocks of two weights and more, in order, each with its style.

    Args:
        places: of the weights, by name.

    """
    found: dict[str, list[Iterable[str]]] = {}
    for name, of in places.items():
        if block := block_of(name):
            found.setdefault(block, []).append(of)
    return {block: style_of(of) for block, of in found.items() if len(of) > 1}
