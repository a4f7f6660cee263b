"""The files of each figure of a page, with its numbers, recipe and code, in the popover *Share*."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar, copy_context
from functools import cache, partial
from typing import Any

import streamlit as st

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.pictures import Picture
from normgeo.pictures.style.browser import find_browser
from normgeo.pictures.style.export import to_bytes
from normgeo.pictures.style.static import HEIGHT, WIDTH, options
from normgeo.settings import Settings
from normgeo.tables.formats import render
from normgeo.ui import source, url
from normgeo.ui.share import link as page_link

MIME = {
    "html": "text/html",
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "json": "application/json",
    "md": "text/markdown",
    "tex": "application/x-tex",
}
DRAWN_THERE = ("png", "svg")
"""The static formats that the visitor's browser makes."""
TABLES = ("CSV", "csv", "csv"), ("LaTeX", "tex", "latex")
"""The label, the end of the file's name and the format of the numbers."""


_PLACE: ContextVar[AbstractContextManager[Any] | None] = ContextVar("place", default=None)


def button(shown: bool) -> None:
    """Draw the button, and the page's link in what it opens; figures add their files.

    Only what is open costs the page anything.
    """
    _PLACE.set(None)
    if not shown:
        return
    opened = st.popover(str(text("Share")), key="share", on_change=url.catch_up)
    if opened.open:
        _PLACE.set(opened)
        with opened:
            page_link.draw()


def row(name: str, title: str) -> AbstractContextManager[Any] | None:
    """A row in what the button opens for the files of a figure, under its title; None if closed."""
    place = _PLACE.get()
    if place is None:
        return None
    with place:
        st.markdown(f"**{title}**")
        return st.container(horizontal=True, key=f"export_{name}", vertical_alignment="center")


def of_picture(picture: Picture, settings: Settings, result: Any) -> None:
    """Add the files of a picture whose result is there, and the code that makes it."""
    name, missing, file = picture.name, why_no_browser(), picture.file_name(settings)
    place, beneath = row(name, picture.title), _PLACE.get()
    if place is None or beneath is None:
        return
    link = url.link(settings)  # the click is handled outside of any session
    with place:
        html = partial(_figure_file, picture, settings, result, link, "html")
        download(name, "HTML", "html", html, file=file)
        for format in DRAWN_THERE:
            drawn_there(name, format, file=file, title=picture.title)
        pdf = partial(_figure_file, picture, settings, result, link, "pdf")
        download(name, "PDF", "pdf", pdf, file=file, help=missing)
        for label, suffix, format in TABLES:
            table = partial(_table_file, picture, result, format)
            download(name, label, suffix, table, file=file)
        recipe = partial(_recipe_file, picture, settings)
        download(name, text("Recipe"), "json", recipe, file=file)
    with beneath, st.expander(str(text("Code")), key=f"{name}_code"):
        st.code(picture.code(settings), language="python")
        if lines := picture.in_numpy(settings, result):
            st.markdown(text("**In NumPy**: the numbers on the screen, in few lines"))
            st.code(lines, language="python")


def download(
    name: str,
    label: str,
    suffix: str,
    content: Callable[[], bytes],
    *,
    file: str,
    help: str | None = None,
) -> None:
    """Draw a button that makes its file, <file>.<suffix>, when it is clicked.

    `help` says why it is disabled, where it is.
    """
    here = copy_context()  # another thread handles the click, and must mark words as this one does
    st.download_button(
        str(label),
        lambda: here.copy().run(content),
        f"{file}.{suffix}",
        MIME[suffix],
        key=f"{name}_{suffix}",
        type="tertiary",
        on_click="ignore",
        disabled=help is not None,
        help=None if help is None else str(help),
    )


def drawn_there(name: str, format: str, *, file: str, title: str) -> None:
    """Draw a button that saves the figure of a view, as it is on the page, as <file>.<format>.

    The visitor's browser makes the file, in the page's font.
    """
    _image(
        key=f"{name}_{format}",
        data={
            "figure": f"figure_{name}",
            "alt": f"alt_figure_{name}",
            "format": format,
            "label": format.upper(),
            "file": f"{file}.{format}",
            "mime": MIME[format],
            "size": {"width": WIDTH, "height": HEIGHT, "scale": options(format)["scale"]},
            "title": title,
        },
        width="content",
    )


def _figure_file(
    picture: Picture, settings: Settings, result: Any, link: str, format: str
) -> bytes:
    return to_bytes(
        picture.figure(result, settings.theme),
        format,
        title=picture.title,
        alt=picture.description(result),
        about=picture.about(settings),
        link=link,
    )


def _table_file(picture: Picture, result: Any, format: str) -> bytes:
    return render(picture.table(result), format).encode()


def _recipe_file(picture: Picture, settings: Settings) -> bytes:
    recipe = picture.recipe(settings)
    return (json.dumps(recipe, ensure_ascii=False, indent=2) + "\n").encode()


@cache
def why_no_browser() -> str | None:
    """Why PDF is not available, in a sentence; None if it is."""
    try:
        found = find_browser()
    except Refusal as error:
        return text("{error}", error=error)
    if found is None:
        return text("PDF is drawn by a browser on the server, and it has none.")
    return None


_image = st.components.v2.component(
    "normgeo_image",
    html='<button type="button"></button>',
    css=source("component.css", "share/image.css"),
    js=source("share/image.js"),
)
