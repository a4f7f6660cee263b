"""Where in a block the norm should go, as the numbers of `accuracy` decide it.

A place is recommended where it is ahead of both others in the deepest networks, with and without
warm-up, and at no depth behind either.
"""

from __future__ import annotations

from collections.abc import Sequence

from normgeo.base.text import text
from normgeo.pictures.captions import listed
from normgeo.pictures.depth.accuracy import KINDS, MARGIN, WARMING, Accuracy

ADVICE = {
    "pre": text("Put the norm first in each block: pre-norm."),
    "post": text("Put the norm last in each block: post-norm."),
    "none": text("Leave the norm out."),
}
RULE = text(
    "One place is ahead of another if its every seed beats every seed of the other and its mean is "
    "{margin:.0%} higher or more. It is recommended if it is ahead of both others in the deepest "
    "networks, with and without warm-up, and behind at no depth.",
    margin=MARGIN,
)


def recommended(found: Accuracy) -> str:
    """The kind that is recommended; "" for none."""
    deepest = found.depths[-1]
    for kind in KINDS:
        others = [(kind_, warming) for kind_ in KINDS if kind_ != kind for warming in WARMING]
        trails = any(
            found.ahead(other, (kind, other[1]), depth)
            for other in others
            for depth in found.depths
        )
        if _leads(found, kind, deepest) and not trails:
            return kind
    return ""


def advice(found: Accuracy) -> str:
    """The answer to the question of the page."""
    kind = recommended(found)
    return ADVICE[kind] if kind else text("No place of the norm wins at every depth here.")


def evidence(found: Accuracy, depth: int) -> tuple[str, str]:
    """What networks of a depth reach; from which depth the place matters, and a warm-up."""
    best = recommended(found)
    shares = {kind: [found.share(kind, warming, depth) for warming in WARMING] for kind in KINDS}
    blocks = text("one block") if depth == 1 else text("{n} blocks", n=depth)
    if not _apart(found, depth):
        every = [share for both in shares.values() for share in both]
        reached = text(
            "With {blocks} all three get {shares} of the test digits right.",
            blocks=blocks,
            shares=_span(every),
        )
    elif best and _leads(found, best, depth):
        others = listed(
            text("{name} at most {share:.0%}", name=KINDS[kind], share=max(shares[kind]))
            for kind in KINDS
            if kind != best
        )
        reached = text(
            "With {blocks} {name} gets at least {share:.0%} of the test digits right, {others}.",
            blocks=blocks,
            name=KINDS[best],
            share=min(shares[best]),
            others=others,
        )
    else:
        reached = text(
            "With {blocks}: {every} of the test digits right.",
            blocks=blocks,
            every=listed(
                text("{name} {shares}", name=name, shares=_span(shares[kind]))
                for kind, name in KINDS.items()
            ),
        )
    rest = [_no_difference(found), _warm_up(found, depth)]
    return reached, " ".join(str(one) for one in rest if one)


def _span(shares: Sequence[float]) -> str:
    """The lowest and the highest of some shares, once where they look alike."""
    low, high = f"{min(shares):.0%}", f"{max(shares):.0%}"
    return low if low == high else text("{low} to {high}", low=low, high=high)


def _no_difference(found: Accuracy) -> str:
    """Up to which depth no place is ahead of another; "" where one is at the smallest."""
    same = 0
    for depth in found.depths:
        if _apart(found, depth):
            break
        same = depth
    if not same:
        return ""
    if same == found.depths[-1]:
        return text("At no depth is one place ahead of another.")
    return text("Up to {blocks} blocks the place hardly matters.", blocks=same)


def _apart(found: Accuracy, depth: int) -> bool:
    """Whether one place is ahead of another at a depth."""
    return any(
        found.ahead((one, warming), (other, warming), depth)
        for one in KINDS
        for other in KINDS
        for warming in WARMING
    )


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
        return text("A warm-up changes little, once each network has its best learning rate.")
    return text("A warm-up of the rate helps {names}.", names=listed(helped))
