"""A picture of a visitor's own files, with downloads; nothing is kept for other visitors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from normgeo.base.text import text
from normgeo.pictures import Picture
from normgeo.pictures.style.chart import Chart
from normgeo.pictures.style.export import to_bytes
from normgeo.pictures.style.printing import document
from normgeo.tables.formats import render
from normgeo.tables.table import Table
from normgeo.ui.figures import figure
from normgeo.ui.share.files import DRAWN_THERE, TABLES, download, drawn_there, row, why_no_browser


def draw(picture: Picture, drawn: Any, theme: str, file: str) -> None:
    """Draw a picture of a visitor's own files, with its downloads, named <file>."""
    name = picture.name
    with st.container(key=f"view_{name}"):
        figure.draw(
            f"figure_{name}",
            Chart.of(picture.figure(drawn, theme)),
            title=picture.title,
            alt=picture.description(drawn),
        )
    place = row(name, picture.title)
    if place is None:
        return
    with place:
        html = partial(figure_file, picture, drawn, theme, "html")
        download(name, "HTML", "html", html, file=file)
        for format in DRAWN_THERE:
            drawn_there(name, format, file=file, title=picture.title)
        pdf = partial(figure_file, picture, drawn, theme, "pdf")
        download(name, "PDF", "pdf", pdf, file=file, help=why_no_browser())
        for label, suffix, format in (*TABLES, ("JSON", "json", "json")):
            content = partial(table_file, picture, drawn, format)
            download(name, label, suffix, content, file=file)


def figure_file(picture: Picture, drawn: Any, theme: str, format: str) -> bytes:
    """The picture as a file, with the name of its layer or run."""
    return to_bytes(
        picture.figure(drawn, theme),
        format,
        title=picture.title,
        alt=picture.description(drawn),
        about=[drawn.title],
    )


def table_file(picture: Picture, drawn: Any, format: str) -> bytes:
    """The numbers of the picture as a file."""
    return render(picture.table(drawn), format).encode()


def report(
    table: Callable[[], Table], file: str, *, records: Callable[[], Table] | None = None
) -> None:
    """Draw the downloads of a report, named <file>, and of its records if no picture has them."""
    formats = [
        (text("Report as HTML"), "html", table, None),
        (text("Report as PDF"), "pdf", table, why_no_browser()),
    ]
    if records is not None:
        formats += [("CSV", "csv", records, None), ("JSON", "json", records, None)]
    with st.container(horizontal=True, key="export_report"):
        for title, format, made, missing in formats:
            content = partial(_report_file, made, format)
            download("report", title, format, content, file=file, help=missing)


def _report_file(table: Callable[[], Table], format: str) -> bytes:
    return document(format, table())
