"""A figure on a page, and the slim row beneath it that takes it away."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from normgeo.base.text import text
from normgeo.pictures import PICTURES
from normgeo.pictures.style.browser import find_browser
from normgeo.pictures.style.export import STATIC, to_bytes
from normgeo.settings import Settings
from normgeo.tables.table import render
from normgeo.ui import cached
from normgeo.ui.frame import explain

MIME = {
    "html": "text/html",
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "json": "application/json",
}


def show(name: str, settings: Settings, *, alt: str) -> Any:
    """Draw a view with its export row; return its result, or None where there is no picture.

    Args:
        name: key of `PICTURES`. settings: of the picture.
        alt: what the figure shows, in a sentence, for a screen reader.

    """
    try:
        result = cached.result(name, settings)
        figure = cached.figure(name, settings)
    except ValueError as error:
        explain(error)
        return None
    draw(name, settings, result, figure, alt=alt)
    return result


def draw(name: str, settings: Settings, result: Any, figure: Any, *, alt: str) -> None:
    """Draw the figure of a result that is already there, with its export row."""
    with st.container(key=f"view_{name}"):
        st.plotly_chart(
            figure,
            key=f"figure_{name}",
            theme=None,
            alt=text(alt),
            config={
                "displaylogo": False,
                "toImageButtonOptions": {"format": "svg", "filename": f"normgeo-{name}"},
            },
        )
        _row(name, settings, result, figure)


def _row(name: str, settings: Settings, result: Any, figure: Any) -> None:
    missing = why_no_browser()
    with st.container(horizontal=True, key=f"export_{name}", vertical_alignment="center"):
        for format in ("html", *STATIC):
            download(
                name,
                format.upper(),
                format,
                partial(_figure_file, name, figure, format),
                help=missing if format in STATIC else None,
            )
        download(name, "CSV", "csv", partial(_table_file, name, result))
        download(name, text("Recipe"), "json", partial(_recipe_file, name, settings))
        with st.popover(text("Code"), type="tertiary"):
            st.code(PICTURES[name].code(settings), language="python")


def download(
    name: str, label: str, suffix: str, content: Callable[[], bytes], help: str | None = None
) -> None:
    """Draw a button that makes its file, normgeo-<name>.<suffix>, when it is clicked.

    `help` says why it is disabled, where it is.
    """
    st.download_button(
        label,
        content,
        f"normgeo-{name}.{suffix}",
        MIME[suffix],
        key=f"{name}_{suffix}",
        type="tertiary",
        on_click="ignore",
        disabled=help is not None,
        help=help,
    )


def _figure_file(name: str, figure: Any, format: str) -> bytes:
    return to_bytes(figure, format, title=PICTURES[name].title)


def _table_file(name: str, result: Any) -> bytes:
    return render(PICTURES[name].table(result), "csv").encode()


def _recipe_file(name: str, settings: Settings) -> bytes:
    recipe = PICTURES[name].recipe(settings)
    return (json.dumps(recipe, ensure_ascii=False, indent=2) + "\n").encode()


@st.cache_resource(show_spinner=False)
def why_no_browser() -> str | None:
    """Return why there are no static exports, in a sentence; None where there are."""
    try:
        found = find_browser()
    except ValueError as error:
        return str(error)
    if found is None:
        return text("PNG, SVG and PDF are drawn by a browser on the server, and it has none.")
    return None
