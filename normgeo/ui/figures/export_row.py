"""The export row beneath a figure: files, numbers, a recipe, code."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextvars import copy_context
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
from normgeo.ui.teaching import pin

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


def draw(picture: Picture, settings: Settings, result: Any) -> None:
    """Draw the row of a picture whose result is there."""
    name, missing, file = picture.name, why_no_browser(), picture.file_name(settings)
    link = url.link(settings)  # the click is handled outside of any session
    with st.container(horizontal=True, key=f"export_{name}", vertical_alignment="center"):
        html = partial(_figure_file, picture, settings, result, link, "html")
        download(name, "HTML", "html", html, file=file)
        for format in DRAWN_THERE:
            drawn(name, format, file=file, title=picture.title)
        pdf = partial(_figure_file, picture, settings, result, link, "pdf")
        download(name, "PDF", "pdf", pdf, file=file, help=missing)
        download(name, "CSV", "csv", partial(_table_file, picture, result), file=file)
        recipe = partial(_recipe_file, picture, settings)
        download(name, text("Recipe"), "json", recipe, file=file)
        # Opening it reruns the script, which reads the slider's position from the address.
        with st.popover(str(text("Code")), type="tertiary", key=f"{name}_code", on_change="rerun"):
            st.code(picture.code(settings), language="python")
            if lines := picture.in_numpy(settings, result):
                st.markdown(str(text("**In NumPy**: the numbers on the screen, in few lines")))
                st.code(lines, language="python")
        pin.button(name, settings)


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


def drawn(name: str, format: str, *, file: str, title: str) -> None:
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


def _table_file(picture: Picture, result: Any) -> bytes:
    return render(picture.table(result), "csv").encode()


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
    css=source("component.css", "figures/image.css"),
    js=source("figures/image.js"),
)
