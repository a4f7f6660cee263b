"""Pin: keep a picture in its state, and compare it with the next one beside it.

The address holds the picture's name and the query of its page: `pin=turn?method%3Dlayer`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import final
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.pictures import MAIN_PICTURES, PAGE_OF, PICTURES
from normgeo.pictures.picture import MAIN, in_words
from normgeo.settings import SETTINGS, Settings
from normgeo.ui import url
from normgeo.ui.teaching import break_it

_HERE = Path(__file__).parent
LONGEST = 2000  # characters of a pin in an address
OF_THE_PAGE = "predict", "theme"  # settings that a pin takes from the page that shows it


@final
@dataclass(frozen=True)
class Pin:
    """A picture and the state of its page."""

    name: str
    settings: Settings

    @property
    def page(self) -> str:
        """The page that the picture is on."""
        return PAGE_OF[self.name]


def read(words: str) -> Pin:
    """Return the pin that an address holds.

    Raises:
        Refusal: its first mistake.

    """
    if len(words) > LONGEST:
        raise Refusal("A pin has at most {n:,} characters; got {m:,}.", n=LONGEST, m=len(words))
    name, _, query = words.partition("?")
    if name not in PICTURES:
        raise Refusal("There is no picture {name!r} that could be pinned.", name=name[:60])
    try:
        values = dict(parse_qsl(query, keep_blank_values=True, max_num_fields=len(SETTINGS)))
    except ValueError:
        raise Refusal("A pin names at most {n} settings; got more.", n=len(SETTINGS)) from None
    for setting, value in values.items():
        Settings.from_recipe({setting: value})  # only the first mistake is reported
    kept = {setting: value for setting, value in values.items() if setting not in OF_THE_PAGE}
    return Pin(name, Settings.from_recipe(kept))


def written(name: str, state: Mapping[str, str]) -> str:
    """Return the words for a picture and the query of its page in an address."""
    kept = {setting: value for setting, value in state.items() if setting not in OF_THE_PAGE}
    return f"{name}?{urlencode(kept)}"


def button(name: str, settings: Settings) -> None:
    """Draw the button that pins a picture, unless answers are hidden."""
    if settings.predict or url.bare():
        return
    st.button(
        str(text("Pin")),
        key=f"{name}_pin",
        on_click=_pin,
        args=(name,),
        help=str(text("Keeps this picture as it is now, to see the next one beside it.")),
    )


def bar(page: str, titles: Mapping[str, str], settings: Settings) -> None:
    """Draw the bar of the pinned picture, with its buttons; nothing if nothing is pinned.

    Args:
        page: the current one. titles: of all pages. settings: of the page.

    """
    words = st.query_params.get("pin")
    if words is None or url.bare():
        return
    st.html(_HERE / "pin.css")
    with st.container(key="pin", horizontal=True, vertical_alignment="center", gap="small"):
        try:
            _tell(read(words), page, titles, settings)
        except Refusal as error:
            st.warning(text("{error} Nothing is pinned.", error=error), icon=":material/link_off:")
        st.button(str(text("Unpin")), key="unpin", on_click=_unpin)


def _tell(pin: Pin, page: str, titles: Mapping[str, str], settings: Settings) -> None:
    """Name the pinned picture, and draw the ways to it."""
    place = [] if pin.page == page else [str(text(titles[pin.page]))]
    words = " · ".join([*place, *label(pin)])
    if settings.predict:
        # A way there would reveal the answers that this page hides.
        hidden = text("**Pinned:** {words}. It is shown again with the answers.", words=words)
        st.markdown(hidden)
        return
    st.markdown(text("**Pinned:** {words}", words=words))
    if pin.page == page:
        swap = text("Goes to the pinned state, and pins this one.")
        st.button(str(text("Swap")), key="pin_swap", on_click=_swap, args=(pin,), help=str(swap))
        return
    if page in break_it.STATES:
        st.button(
            str(text("Hide") if _asked_for() else text("Show")),
            key="pin_show",
            on_click=url.show,
            kwargs={"beside": None if _asked_for() else "1"},
            help=str(text("The pinned picture, beside the first one of this page.")),
        )
    # Name every setting of the picture: its page may have other defaults.
    query = {**url.view_elsewhere(), **pin.settings.to_query(PICTURES[pin.name].uses)}
    query.pop("beside", None)
    st.page_link(f"pages/{pin.page}.py", label=str(text("Go back")), query_params=query)


def label(pin: Pin) -> list[str]:
    """The title of the picture, and the settings that identify its state."""
    picture = PICTURES[pin.name]
    return [picture.title, *(_worded(pin.settings, name) for name in picture.named(pin.settings))]


def _worded(settings: Settings, name: str) -> str:
    words = in_words(settings, name)
    return words if name in MAIN else f"{SETTINGS[name].label}: {words}"


def difference(pin: Pin, now: Settings, slider: str) -> str:
    """Say in which settings a picture differs from the pinned one.

    Its slider is left out: it shows its own value, and may move while this sentence stays.
    """
    changes = [
        text(
            "{setting} {pinned} → {now}",
            setting=SETTINGS[name].label,
            pinned=in_words(pin.settings, name),
            now=in_words(now, name),
        )
        for name in PICTURES[pin.name].uses
        if name != slider and getattr(pin.settings, name) != getattr(now, name)
    ]
    if changes:
        return text("Pinned → now: {changes}.", changes=", ".join(map(str, changes)))
    if slider:
        return text("Nothing differs, unless a slider was moved.")
    return text("Nothing differs yet: change a setting.")


def _pin(name: str) -> None:
    url.show(pin=written(name, url.state()), beside=None)


def _unpin() -> None:
    url.show(pin=None, beside=None)


def _swap(pin: Pin) -> None:
    _pin(pin.name)
    url.set_state(pin.settings)


def _asked_for() -> bool:
    return st.query_params.get("beside") == "1"


# Where the pinned picture stands.


@final
@dataclass(frozen=True)
class Place:
    """The place beside a picture for the pinned one, and the place above both for differences.

    Attributes:
        name, settings: of the picture that it is beside.

    """

    pin: Pin
    name: str
    settings: Settings
    above: AbstractContextManager[None]
    column: AbstractContextManager[None]


_PLACES: ContextVar[list[Place] | None] = ContextVar("places", default=None)


@contextmanager
def places() -> Iterator[list[Place]]:
    """Collect the places for pinned pictures, as long as the block lasts."""
    found: list[Place] = []
    token = _PLACES.set(found)
    try:
        yield found
    finally:
        _PLACES.reset(token)


@contextmanager
def beside_pinned(name: str, settings: Settings) -> Iterator[None]:
    """Draw a picture in the block; if the pinned one belongs beside it, make a place for that."""
    found, pin = _PLACES.get(), _beside(name, settings)
    if pin is None or found is None:
        yield
        return
    with st.container(key="beside", gap="small"):
        above = st.container()
        now, then = st.columns(2, gap="medium")
        found.append(Place(pin, name, settings, above, then))
        with now:
            st.markdown(f"**{text('Now')}**")
            yield


def _beside(name: str, settings: Settings) -> Pin | None:
    """The pin to show beside a picture: its own, or another picture's if the user asked for it."""
    words = st.query_params.get("pin")
    if words is None or url.bare() or settings.predict:
        return None
    page = PAGE_OF[name]
    asked = _asked_for() and MAIN_PICTURES[page] == name
    with suppress(Refusal):  # the bar reports it
        pin = read(words)
        if pin.name == name or (asked and pin.page != page):
            return pin
    return None
