"""Pictures as files that the visitor's browser makes: PNG and SVG, in the page's font."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from normgeo.pictures.style.static import HEIGHT, WIDTH, options

DRAWN_HERE = ("png", "svg")
"""The formats that need no browser on the server."""
_HERE = Path(__file__).parent


def download(name: str, format: str, mime: str, *, file: str, title: str) -> None:
    """Draw a button that saves the figure of a view, as it is on the page, as <file>.<format>."""
    _component(
        key=f"{name}_{format}",
        data={
            "figure": f"figure_{name}",
            "alt": f"alt_figure_{name}",
            "format": format,
            "label": format.upper(),
            "file": f"{file}.{format}",
            "mime": mime,
            "size": {"width": WIDTH, "height": HEIGHT, "scale": options(format)["scale"]},
            "title": title,
        },
        width="content",
    )


_component = st.components.v2.component(
    "normgeo_image",
    html='<button type="button"></button>',
    css=(_HERE / "image.css").read_text("utf-8"),
    js=(_HERE / "image.js").read_text("utf-8"),
)
