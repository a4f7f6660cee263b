"""Where a norm stands to a weight, drawn as the signal goes: a norm is a bar, a weight a square."""

from __future__ import annotations

from collections.abc import Collection

from normgeo.base.text import text
from normgeo.measured.places import PLACES

WEIGHT = "M24,5H40V19H24Z"
LINE = "M{0},12H{1}"
BAR = "M{0},1H{1}V23H{0}Z"
SUM = "M{0},12a6,6 0 1,0 12,0a6,6 0 1,0 -12,0M{0},12h12M{1},6v12"


def drawing(places: Collection[str]) -> dict[str, str]:
    """Return the paths of a drawing in a box of 64 × 24, and its words.

    >>> drawing(["before"])["filled"]
    'M10,1H15V23H10Z'

    """
    if "unused" in places:
        return {"lines": WEIGHT, "filled": "", "title": str(PLACES["unused"])}
    lines, filled = [WEIGHT, LINE.format(2, 24)], []
    if "before" in places:
        filled.append(BAR.format(10, 15))
    if {"after", "after_with_bias"} & {*places}:
        lines.append(LINE.format(40, 62))
        filled.append(BAR.format(49, 54))
    elif "after_sum" in places:
        lines += [LINE.format(40, 46), SUM.format(46, 52)]
    elif "centered" in places:
        lines += [LINE.format(40, 50), BAR.format(50, 54), LINE.format(54, 62)]
    else:
        lines.append(LINE.format(40, 62))
    title = ", ".join(str(PLACES[place]) for place in places) or text("no norm is seen")
    return {
        "lines": "".join(lines),
        "filled": "".join(filled),
        "title": str(text("norm: {places}", places=title)),
    }
