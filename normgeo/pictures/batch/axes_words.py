"""The words around the arrays: what a method is called, what shares a statistic, and z."""

from __future__ import annotations

from typing import Any

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.batch.axes import Panel, Shared
from normgeo.pictures.batch.axes_places import BELOW, Place
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.template import SIZE, SMALL, Theme


def axis_name(axis: int) -> str:
    """What plotly calls the axis of a number, after its x or y."""
    return "" if axis == 1 else str(axis)


def captions(panel: Panel, places: list[Place], axis: int, color: str) -> list[dict[str, Any]]:
    """The name of a method, and what each of its statistics is of, around its arrays."""
    title = f'<b style="color:{color};font-size:{SIZE}px">{panel.sharing.title}</b>'
    at: dict[str, Any] = {
        "x": 0,
        "xref": f"x{axis_name(axis)} domain",
        "yref": f"y{axis_name(axis)}",
        "font": {"size": SMALL},
    }
    words, above = [], [title]
    for place, found in zip(places, (panel.flat, panel.maps), strict=False):
        last = place.down.cells - 1
        above.append(_per(found, place))
        words.append(note(above, **{**at, "y": place.down.low(0), "yshift": 2}))
        words.append(note(_numbers(found, place), **{**at, "y": place.down.high(last)}))
        words[-1] |= {"yanchor": "top", "yshift": -4}
        above = []
    return words


def _per(found: Shared | str | None, place: Place) -> str:
    """What there is one μ and one σ for."""
    if not isinstance(found, Shared):
        return ""
    names = {"cases": text("case"), "groups": text("group"), "channels": place.channel}
    return text("μ per {one}", one=", ".join(str(names[axis]) for axis in found.per))


def _numbers(found: Shared | str | None, place: Place) -> list[str]:
    """How many entries share a statistic, and z of the marked one."""
    if not isinstance(found, Shared):
        return [text("no equal groups:"), text("<b>no z</b>")]
    z = found.entry.z
    return [
        text("of 1 entry") if found.entries == 1 else text("of {n} entries", n=found.entries),
        text("<b>σ = 0: no z</b>") if z is None else f"<b>z = {number(z)}</b>",
    ]


def names(places: list[Place], look: Theme) -> list[dict[str, Any]]:
    """What the rows and the columns of the arrays are, beside the first of them."""
    font = {"size": SMALL, "color": look.muted}
    return [
        note(
            place.name,
            x=0,
            y=place.down.start + place.down.length / 2,
            xref="x domain",
            yref="y",
            xanchor="right",
            yanchor="middle",
            align="center",
            textangle=-90,
            xshift=-3,
            font=font,
        )
        for place in places
    ]


def cases_drawn(m: int, place: Place, look: Theme) -> dict[str, Any]:
    """How many of the cases are drawn, where the batch has more."""
    words = text("The first {few} of m = {m} cases are drawn.", few=place.down.cells, m=m)
    return note(
        words if m > place.down.cells else "",
        x=0,
        y=place.down.high(place.down.cells - 1) + BELOW,
        xref="x domain",
        yref="y",
        font={"size": SMALL, "color": look.muted},
    )
