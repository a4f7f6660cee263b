"""The words around the arrays: what a method is called, what shares a statistic, and z."""

from __future__ import annotations

from math import isclose
from typing import Any

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.batch.axes import Panel, Shared
from normgeo.pictures.batch.axes_places import Place
from normgeo.pictures.style.annotations import colored, note, sized
from normgeo.pictures.style.template import SIZE, SMALL


def above(panel: Panel, place: Place, color: str) -> list[str]:
    """The name of a method over its first array, and what there is one μ and one σ for."""
    found = panel.flat if place.flat_cases else panel.maps
    title = colored(f"<b>{panel.sharing.title}</b>", color, SIZE)
    return [*([title] if place.flat_cases else []), sized(_per(found, place), SMALL)]


def below(panel: Panel, place: Place) -> dict[str, Any]:
    """How many entries share a statistic, and z of the marked one."""
    found = panel.flat if place.flat_cases else panel.maps
    return note(_numbers(found, place), 0, 0, yanchor="top", yshift=-4, font={"size": SMALL})


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
    if found.entries == 1:
        of = text("μ of 1 number")
    elif found.entries == 2 and z is not None and isclose(abs(z), 1):
        of = text("μ of 2: z = ±1")
    elif place.flat_cases:
        of = text("μ of {n} numbers", n=found.entries)
    else:
        of = text("μ of {n} pixels", n=found.entries)
    return [
        sized(of, SMALL),
        text("<b>σ = 0: no z</b>") if z is None else f"<b>z of ○ = {number(z)}</b>",
    ]


def one_case(images: bool) -> str:
    """Why batch norm has no z of a neuron in a batch of one case, but of a channel."""
    alone = text(
        "One case gives batch norm one number per neuron: σ = 0, and z = 0/0 is no number."
    )
    return f"{alone} {text('A channel still has all its pixels.')}" if images else alone


def cases_drawn(m: int, place: Place) -> str:
    """Which cases are drawn: not all of a larger batch, pale ones beside a smaller one."""
    few = place.down.cells
    if m > few:
        return text("The first {few} of m = {m} cases are drawn.", few=few, m=m)
    return text("Faded cases are not in the batch.") if m < few else ""
