"""Pictures on a page, with their buttons, figures and files."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import streamlit as st

from normgeo.base.refusal import Refusal
from normgeo.pictures import PICTURES, Picture
from normgeo.pictures.style.chart import Chart
from normgeo.settings import Settings
from normgeo.ui.computing.server import Server, here
from normgeo.ui.computing.task import AGAIN, Found, Task
from normgeo.ui.defects import Explained
from normgeo.ui.figures import figure
from normgeo.ui.share import files
from normgeo.ui.teaching import break_it, pin


@final
@dataclass(frozen=True, eq=False)
class Part:
    """A visible part of a result: a picture of all of it, or of less.

    `name` is unique among the parts of one result.
    """

    name: str
    picture: Picture
    result: Any

    @property
    def place(self) -> int | None:
        """The frame that it opens at, if a setting decides it."""
        return self.result.opening if self.picture.study.slider else None

    def chart(self, server: Server, there: Found, theme: str) -> Chart:
        """Its chart, which the server makes once."""
        draw = partial(self.picture.figure, self.result, theme)
        return server.chart(there, self.name, theme, draw)


def whole(name: str, settings: Settings, result: Any) -> Part:
    """All of a result, at the frame that the settings ask for."""
    picture = PICTURES[name]
    return Part(name, picture, picture.opened(result, settings))


def show(
    name: str,
    settings: Settings,
    *,
    start: str | None = None,
    again: str = AGAIN,
    seen: Callable[[Any], Part | None] | None = None,
    pinned: bool = True,
) -> Any:
    """Draw a picture, or its progress until it is there; return its result.

    Args:
        name: key of `PICTURES`. settings: of the picture.
        start, again: labels of buttons, as in `Server.found`; the picture's own `begins` for None.
        seen: result → the part to draw instead, without exports; None for all.
        pinned: whether it can be pinned.

    Returns:
        The result, stopped or whole; None if there is none yet, or none at all.

    """
    above = st.container() if break_it.is_broken(name, settings) else None
    result, part = None, None
    with pin.beside_pinned(name, settings), Explained():
        there = of_picture(name, settings, start=start, again=again)
        if there is not None:
            drawn = whole(name, settings, there.result)
            result = drawn.result
            part = seen(result) if seen is not None else None
            with st.container(key=f"view_{name}"):
                draw(f"figure_{name}", part or drawn, there, settings.theme)
                if part is None:
                    if pinned:
                        pin.button(name, settings)
                    files.of_picture(drawn.picture, settings, result)
    if above is not None:
        with above:
            break_it.tell(name, None if part else result)
    return result


def draw(key: str, drawn: Part, there: Found, theme: str, *, alone: bool = False) -> Chart:
    """Draw the figure of a result, or of a part of it, and return its chart."""
    chart = drawn.chart(here(), there, theme)
    figure.draw(
        key,
        chart,
        title=drawn.picture.title,
        alt=drawn.picture.description(drawn.result),
        place=drawn.place,
        alone=alone,
    )
    return chart


def of_picture(
    name: str,
    settings: Settings,
    *,
    start: str | None = None,
    again: str = AGAIN,
    slot: str = "",
) -> Found | None:
    """The result of a picture, for its numbers; if there is none, the page says why.

    `slot` names its widgets if the page shows the picture in two states.
    """
    picture = PICTURES[name]
    with Explained():
        begins = picture.study.begins if start is None else start
        task = Task.of(picture, settings)
        return here().found(task, slot or name, start=begins, again=again, slot=slot)
    return None


def kept(name: str, settings: Settings) -> Found | None:
    """The whole result of a picture, if it has been computed."""
    with suppress(Refusal):
        return here().kept.get(Task.of(PICTURES[name], settings).key)
    return None
