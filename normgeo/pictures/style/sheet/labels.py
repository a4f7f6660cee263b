"""The labels of an axis: how wide they are, and which of them have room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil, log10

from normgeo.pictures.style.sheet.bands import Layout

TICK = 7  # pixels of a tick, with what is between it and its label
LABEL = 40  # pixels of a label that plotly chooses
USUAL = "0.000", "0.0000"  # such labels, plain and logarithmic


def axis_labels(axis: Layout, widest: str = "") -> list[str]:
    """Return the labels of an axis, with the widest; those that plotly makes are as usual."""
    if axis.get("visible") is False or axis.get("showticklabels") is False:
        return []
    labels = own_labels(axis) + [widest] * bool(widest)
    return labels or [USUAL[axis.get("type") == "log"]]


def own_labels(axis: Layout) -> list[str]:
    """Return the labels that an axis states."""
    if "ticktext" in axis:
        return [str(label) for label in axis["ticktext"]]
    form = axis.get("tickformat", "g")
    return [format(value, form).replace("e", "×10") for value in axis.get("tickvals", ())]


def places(axis: Layout) -> list[float]:
    """Return where the stated labels of an axis are, on its scale."""
    values = [float(value) for value in axis["tickvals"]]
    return [log10(value) for value in values] if axis.get("type") == "log" else values


def shown(axis: Layout) -> int:
    """Return how many of the stated labels are in the range of an axis."""
    low, high = sorted(axis["range"])
    return max(1, sum(bool(low <= place <= high) for place in places(axis)))


def fitting(axis: Layout, length: float, needs: Callable[[str], float]) -> Layout:
    """Return which labels an axis keeps on so many pixels, none too close to the one before.

    Args:
        axis: with its range; without one all labels stay.
        length: in pixels. needs: label → its pixels along the axis.

    """
    if "range" not in axis:
        return {}
    low, high = sorted(map(float, axis["range"]))
    each = length / ((high - low) or 1.0)
    if "dtick" in axis and axis.get("type") != "log":
        step = float(axis["dtick"])
        label = max((f"{end:.0f}" for end in (low, high)), key=len)
        return {"dtick": step * max(1, ceil(needs(label) / (step * each)))}
    if "tickvals" not in axis:
        return {}
    kept = _apart(places(axis), own_labels(axis), each, needs)
    return {
        key: [axis[key][place] for place in kept] for key in ("tickvals", "ticktext") if key in axis
    }


def _apart(
    at: Sequence[float], labels: Sequence[str], each: float, needs: Callable[[str], float]
) -> list[int]:
    """The places of the labels that stay: whole tens before others, where some must go."""
    for every in (1, 2, 3, 4, 5, 6, 10):
        kept = list(range(0, len(at), every))
        gaps = pairwise(kept)
        if all(
            abs(at[b] - at[a]) * each >= (needs(labels[a]) + needs(labels[b])) / 2 for a, b in gaps
        ):
            return kept
    return kept
