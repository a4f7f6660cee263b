"""The words around an array: what a method is called, what shares a statistic, and z."""

from __future__ import annotations

from math import isclose
from typing import Any

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.batch.axes import Shared
from normgeo.pictures.style.annotations import colored, note, sized
from normgeo.pictures.style.template import SIZE, SMALL


def above(title: str, found: Shared | str, color: str, *, images: bool) -> list[str]:
    """The name of a method, and what there is one μ and one σ for."""
    return [colored(f"<b>{title}</b>", color, SIZE), sized(_per(found, images), SMALL)]


def below(found: Shared | str, *, images: bool) -> dict[str, Any]:
    """How many entries share a statistic, and z of the marked one."""
    return note(_numbers(found, images), 0, 0, yanchor="top", yshift=-4, font={"size": SMALL})


def _per(found: Shared | str, images: bool) -> str:
    """What there is one μ and one σ for."""
    if isinstance(found, str):
        return ""
    channel = text("channel") if images else text("neuron")
    names = {"cases": text("case"), "groups": text("group"), "channels": channel}
    return text("μ per {one}", one=", ".join(str(names[axis]) for axis in found.per))


def _numbers(found: Shared | str, images: bool) -> list[str]:
    """How many entries share a statistic, and z of the marked one."""
    if isinstance(found, str):
        return [text("no equal groups:"), text("<b>no z</b>")]
    z = found.entry.z
    if found.entries == 1:
        of = text("μ of 1 number")
    elif found.entries == 2 and z is not None and isclose(abs(z), 1):
        of = text("μ of 2: z = ±1")
    elif images:
        of = text("μ of {n} pixels", n=found.entries)
    else:
        of = text("μ of {n} numbers", n=found.entries)
    return [
        sized(of, SMALL),
        text("<b>σ = 0: no z</b>") if z is None else f"<b>z of ○ = {number(z)}</b>",
    ]


def one_case(images: bool) -> str:
    """What a batch of one case leaves batch norm."""
    if images:
        return text("Of one image, batch norm and instance norm have the same μ and σ.")
    return text("One case gives batch norm one number per neuron: σ = 0, and z = 0/0 is no number.")


def cases_drawn(m: int, few: int) -> str:
    """Which cases are drawn: not all of a larger batch, pale ones beside a smaller one."""
    if m > few:
        return text("Drawn: the first {few} cases.", few=few)
    return text("Faded: not in the batch.") if m < few else ""
