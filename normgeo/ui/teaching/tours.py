"""Tours: a bar on a page with a question, what to notice, and the way to the next stop."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, final

import streamlit as st

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.ui import source, url
from normgeo.ui.teaching.tour_file import Stop, Tour, read

_HERE = Path(__file__).parent
_SHOWN, _NOTICED = "_stop", "_noticed"
FOLDER = _HERE / "tours"
ORDER = ("ten-minutes", "lecture", "explore")
"""Tours in the order of Home; others follow by name."""


@final
@dataclass(frozen=True)
class Place:
    """A stop of a tour; `number` counts from 1."""

    tour: Tour
    number: int

    @property
    def stop(self) -> Stop:
        """The stop."""
        return self.tour.stops[self.number - 1]

    @property
    def name(self) -> str:
        """The stop in two words: the tour and the number."""
        return f"{self.tour.name} {self.number}"


def names() -> list[str]:
    """The names of all tours."""
    found = {file.stem for file in FOLDER.glob("*.md")}
    return [name for name in ORDER if name in found] + sorted(found - {*ORDER})


@cache
def _read(name: str, changed: int, pages: tuple[str, ...]) -> Tour | Refusal:
    try:
        return read(FOLDER / f"{name}.md", pages)
    except Refusal as error:
        return error


def tour(name: str, pages: Collection[str]) -> Tour:
    """A tour by its name; a changed file is read again.

    Raises:
        Refusal: there is no such tour, or its file is wrong.

    """
    if name not in names():
        raise Refusal(
            "There is no tour {name!r}; tours are {names}.", name=name, names=", ".join(names())
        )
    found = _read(name, (FOLDER / f"{name}.md").stat().st_mtime_ns, tuple(pages))
    if isinstance(found, Refusal):
        raise Refusal(*found.args)
    return found


def here(page: str, pages: Collection[str]) -> tuple[Place | None, tuple[str, ...]]:
    """The stop that the address names, and a sentence if there is no such stop.

    If the stop is on another page, that page opens.
    """
    view = url.view()
    if not {"tour", "stop"} & view.keys():
        return None, ()
    try:
        place = _place(view.get("tour", ""), view.get("stop", "1"), pages)
    except Refusal as error:
        return None, (text("{error} The page is shown without it.", error=error),)
    if place.stop.page != page:
        # Keep the rest of the address: the other page uses it, or says why it cannot.
        said = st.query_params.to_dict()
        st.switch_page(f"pages/{place.stop.page}.py", query_params={**said, **link(place)})
    if st.session_state.get(_SHOWN) != (name := link(place)):
        # A link to the open page reaches the script, but does not change the browser's address.
        st.session_state[_SHOWN] = name
        st.query_params.from_dict(st.query_params.to_dict() | name)
    return place, ()


def _place(name: str, stop: str, pages: Collection[str]) -> Place:
    found = tour(name, pages)
    count = len(found.stops)
    if not (stop.isascii() and stop.isdecimal() and len(stop) < 4 and 1 <= int(stop) <= count):
        raise Refusal(
            "The tour “{title}” has the stops 1 to {count}; got {stop!r}.",
            title=text(found.title),
            count=count,
            stop=stop,
        )
    return Place(found, int(stop))


def link(place: Place) -> dict[str, str]:
    """The query of a stop; the rest of its state is in the tour's file."""
    return {**url.view_elsewhere(), "tour": place.tour.name, "stop": str(place.number)}


def bar(place: Place, *, asks: bool = False) -> None:
    """Draw the bar of a stop above a page; without answers if the page asks for predictions."""
    stop, count = place.stop, len(place.tour.stops)
    st.html(_HERE / "tour.css")
    with st.container(key="tour", horizontal=True, gap="small", vertical_alignment="center"):
        with st.container(key="tour_words", gap=None):
            noticed = not asks and st.session_state.get(_NOTICED) == place.name
            # When presenting there is room for one sentence: one replaces the other.
            if not (noticed and url.presenting()):
                st.markdown(f"**{text(stop.question)}**")
            if noticed:
                st.markdown(text(stop.notice))
            elif not asks and not url.presenting():
                _notice(place)
        with st.container(key="tour_ways", horizontal=True, gap="small", width="content"):
            if url.presenting() and not (asks or noticed):
                _notice(place)
            counted = text("{number} of {count}", number=place.number, count=count)
            with st.popover(str(counted), help=str(text(place.tour.title))):
                stops(place.tour, "bar")
            if not asks:
                with st.popover(str(text("Notes"))):
                    st.markdown(f"**{text(stop.title)}**")
                    st.markdown(text(stop.notes))
            _way(place, -1, "tour_back", text("Back"))
            _way(place, +1, "tour_next", text("Next"))
            st.button(
                str(text("Leave")),
                key="tour_leave",
                help=str(text("Leave the tour")),
                on_click=url.leave_tour,
            )
    _guide(
        key="guide",
        data={"stop": place.name, "subject": stop.key},
    )


def _notice(place: Place) -> None:
    """Draw the button that shows what to notice at a stop; another stop hides it again."""
    st.button(
        str(text("What to notice")),
        key="tour_notice",
        help=str(text("Shows where to look (Enter)")),
        type="tertiary",
        on_click=st.session_state.update,
        args=({_NOTICED: place.name},),
    )


def _way(place: Place, by: int, key: str, label: str) -> None:
    """Draw the link to the previous or next stop, if there is one."""
    number = place.number + by
    if 1 <= number <= len(place.tour.stops):
        with st.container(key=key, width="content"):
            _link(Place(place.tour, number), str(label))


def stops(of: Tour, where: str) -> None:
    """Draw links to all stops with their questions; `where` distinguishes the lists of a page."""
    with st.container(key=f"stops_{where}_{of.name}"):
        for number, stop in enumerate(of.stops, 1):
            _link(Place(of, number), f"{number}. {text(stop.title)}")
            st.caption(text(stop.question))


def _link(place: Place, label: str) -> None:
    st.page_link(f"pages/{place.stop.page}.py", label=label, query_params=link(place))


def defaults(place: Place | None) -> Mapping[str, Any]:
    """The settings of a stop; the address overrides them."""
    return place.stop.settings if place else url.NONE


_guide = st.components.v2.component(
    "normgeo_tour",
    html="<span></span>",
    js=source("teaching/arrows.js", "teaching/tour.js"),
)
