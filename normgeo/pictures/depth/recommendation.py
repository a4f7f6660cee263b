"""Where in a block the norm should go, as the numbers of `accuracy` decide it.

A place is recommended where it is ahead of both others in the deepest networks, with and without
warm-up, and at no depth behind either.
"""

from __future__ import annotations

from normgeo.base.text import text
from normgeo.pictures.captions import listed
from normgeo.pictures.depth.accuracy import KINDS, MARGIN, WARMING, Accuracy

ADVICE = {
    "pre": text("Put the norm first in each block: pre-norm."),
    "post": text("Put the norm last in each block: post-norm."),
    "none": text("Leave the norm out."),
}
RULE = text(
    "Ahead: every seed beats every seed of the other, and the mean is {margin:.0%} higher or more. "
    "Recommended: ahead of both others in the deepest networks, with and without warm-up, and "
    "behind at no depth.",
    margin=MARGIN,
)


def recommended(found: Accuracy) -> str:
    """The kind that is recommended; "" for none."""
    deepest = found.depths[-1]
    for kind in KINDS:
        others = [(kind_, warming) for kind_ in KINDS if kind_ != kind for warming in WARMING]
        leads = all(found.ahead((kind, other[1]), other, deepest) for other in others)
        trails = any(
            found.ahead(other, (kind, other[1]), depth)
            for other in others
            for depth in found.depths
        )
        if leads and not trails:
            return kind
    return ""


def advice(found: Accuracy) -> str:
    """The answer to the question of the page."""
    kind = recommended(found)
    return ADVICE[kind] if kind else text("No place of the norm wins at every depth here.")


def evidence(found: Accuracy) -> tuple[str, str]:
    """What the deepest networks reach; from which depth the place matters, and a warm-up."""
    best, deepest = recommended(found), found.depths[-1]
    shares = {kind: [found.share(kind, warming, deepest) for warming in WARMING] for kind in KINDS}
    if best:
        others = listed(
            text("{name} at most {share:.0%}", name=KINDS[kind], share=max(shares[kind]))
            for kind in KINDS
            if kind != best
        )
        reached = text(
            "With {blocks} blocks {name} gets at least {share:.0%} of the test digits right, "
            "{others}.",
            blocks=deepest,
            name=KINDS[best],
            share=min(shares[best]),
            others=others,
        )
    else:
        reached = text(
            "With {blocks} blocks: {every} of the test digits right.",
            blocks=deepest,
            every=listed(
                text("{name} {low:.0%} to {high:.0%}", name=name, low=low, high=high)
                for (kind, name) in KINDS.items()
                for low, high in [sorted(shares[kind])]
            ),
        )
    rest = [_no_difference(found), _warm_up(found)]
    return reached, " ".join(str(one) for one in rest if one)


def _no_difference(found: Accuracy) -> str:
    """Up to which depth no place is ahead of another; "" where one is at the smallest."""
    same = 0
    for depth in found.depths:
        if any(
            found.ahead((one, warming), (other, warming), depth)
            for one in KINDS
            for other in KINDS
            for warming in WARMING
        ):
            break
        same = depth
    if not same:
        return ""
    if same == found.depths[-1]:
        return text("At no depth is one place ahead of another.")
    return text("Up to {blocks} blocks the place hardly matters.", blocks=same)


def _warm_up(found: Accuracy) -> str:
    """Whom a warm-up helps in the deepest networks."""
    deepest = found.depths[-1]
    helped = [
        name
        for kind, name in KINDS.items()
        if found.ahead((kind, "with"), (kind, "without"), deepest)
    ]
    if not helped:
        return text("A warm-up changes little, once each has its best rate.")
    return text("A warm-up of the rate helps {names}.", names=listed(helped))
