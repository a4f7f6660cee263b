"""Where in a block the norm should go, as the numbers of `accuracy` decide it.

At a depth a place is recommended where it is ahead of both others there, with and without warm-up;
for every depth where it is so in the deepest networks, and at no depth behind either.
"""

from __future__ import annotations

from collections.abc import Sequence

from normgeo.base.text import text
from normgeo.pictures.captions import listed
from normgeo.pictures.depth.accuracy import KINDS, MARGIN, WARMING, Accuracy

WHERE = {"pre": text("first in each block"), "post": text("last in each block")}
ADVICE = {
    **{
        kind: text("put the norm {where}: {name}.", where=where, name=KINDS[kind])
        for kind, where in WHERE.items()
    },
    "none": text("leave the norm out."),
}
RULE = text(
    "One place is clearly better than another if its every seed beats every seed of the other and "
    "its mean is {margin:.0%} higher or more. For a number of blocks it is recommended if it is "
    "clearly better than both others there, with and without warm-up. It is the safe choice if it "
    "is so in the deepest networks, and no other is clearly better at any depth.",
    margin=MARGIN,
)


def safe(found: Accuracy) -> str:
    """The kind that leads in the deepest networks and is behind at no depth; "" for none."""
    for kind in KINDS:
        if _leads(found, kind, found.depths[-1]) and not any(
            kind in _behind(found, depth) for depth in found.depths
        ):
            return kind
    return ""


def advice(found: Accuracy, depth: int) -> str:
    """The answer to the question of the page, for networks of a depth."""
    blocks = text("one block") if depth == 1 else text("{n} blocks", n=depth)
    behind = _behind(found, depth)
    rest = [kind for kind in KINDS if kind not in behind]
    leads = [kind for kind in KINDS if _leads(found, kind, depth)]
    if leads:
        return text("With {blocks} {advice}", blocks=blocks, advice=ADVICE[leads[0]])
    if not behind:
        return text("With {blocks} the place of the norm hardly matters.", blocks=blocks)
    if behind == ["none"] and safe(found):
        name = KINDS[safe(found)]
        return text(
            "With {blocks} use a norm, safest {where}: {name}.",
            blocks=blocks,
            where=WHERE[safe(found)],
            name=name,
        )
    if behind == ["none"]:
        return text("With {blocks} use a norm, first or last.", blocks=blocks)
    if len(rest) == 1:
        return text("With {blocks} {name} does best.", blocks=blocks, name=KINDS[rest[0]])
    if rest:
        return text("With {blocks} {name} falls behind.", blocks=blocks, name=KINDS[behind[0]])
    return text("With {blocks} no place wins.", blocks=blocks)


def evidence(found: Accuracy, depth: int) -> tuple[str, str]:
    """What networks of a depth reach; what holds at other depths, and with a warm-up."""
    shares = {kind: [found.share(kind, warming, depth) for warming in WARMING] for kind in KINDS}
    if not _behind(found, depth):
        every = [share for both in shares.values() for share in both]
        reached = text("All three reach a test accuracy of {shares}.", shares=_span(every))
    else:
        told = (
            text("{name} {shares}", name=name, shares=_span(shares[kind]))
            for kind, name in KINDS.items()
        )
        reached = text("Test accuracy: {every}.", every=listed(told))
    rest = [_elsewhere(found), small_depths(found), _warm_up(found, depth)]
    return reached, " ".join(str(one) for one in rest if one)


def _elsewhere(found: Accuracy) -> str:
    """Which place is safe at any depth."""
    kind = safe(found)
    if not kind:
        return text("No place of the norm wins at every depth here.")
    return text(
        "{name} is clearly best with {blocks} blocks and never clearly beaten.",
        name=KINDS[kind].capitalize(),
        blocks=found.depths[-1],
    )


def _span(shares: Sequence[float]) -> str:
    """The lowest and the highest of some shares, once where they look alike."""
    low, high = f"{min(shares):.0%}", f"{max(shares):.0%}"
    return low if low == high else text("{low} to {high}", low=low, high=high)


def small_depths(found: Accuracy) -> str:
    """Up to which depth no place is ahead of another; "" where one is at the smallest."""
    same = 0
    for depth in found.depths:
        if _behind(found, depth):
            break
        same = depth
    if not same:
        return ""
    if same == found.depths[-1]:
        return text("At no depth is one place ahead of another.")
    return text("Up to {blocks} blocks the place hardly matters.", blocks=same)


def _behind(found: Accuracy, depth: int) -> list[str]:
    """The kinds that another one is ahead of at a depth, without or with warm-up."""
    return [
        kind
        for kind in KINDS
        if any(
            found.ahead((other, warming), (kind, warming), depth)
            for other in KINDS
            for warming in WARMING
        )
    ]


def _leads(found: Accuracy, kind: str, depth: int) -> bool:
    """Whether a kind is ahead of both others at a depth, with and without warm-up."""
    return all(
        found.ahead((kind, warming), (other, warming), depth)
        for other in KINDS
        if other != kind
        for warming in WARMING
    )


def _warm_up(found: Accuracy, depth: int) -> str:
    """Whom a warm-up helps at a depth."""
    helped = [
        name
        for kind, name in KINDS.items()
        if found.ahead((kind, "with"), (kind, "without"), depth)
    ]
    if not helped:
        return text("A warm-up of the learning rate does not clearly help.")
    return text("A warm-up helps {names}.", names=listed(helped))
