"""The link of a page: copied, as a QR code for a class, and as a line that embeds its figure."""

from __future__ import annotations

import re
from urllib.parse import urlencode, urlsplit

import segno
import streamlit as st

from normgeo.base.text import text
from normgeo.ui import source

_LINK = "_shared_link"
LONGEST = 2000  # characters; a longer link has squares too small for a phone at the back of a room
QUIET = 4  # squares of white around the code, required by its standard


def code(link: str) -> str:
    """A link as an image in the form of an address: black on white in every theme.

    >>> code("http://a.example/")[:18]
    'data:image/svg+xml'

    """
    return segno.make(link, micro=False).svg_data_uri(
        border=QUIET, dark="#000", light="#fff", scale=8
    )


def draw() -> None:
    """Draw what copies the page's link in its current state, and its QR code."""
    address = _address()
    fits = len(address) <= LONGEST
    _share(
        key="share_link",
        data={
            "link": str(text("Copy link")),
            "embed": str(text("Copy the line that embeds the figure")),
            "done": str(text("Copied")),
            "address": address,
            "image": code(address) if fits else "",
        },
        on_seen_change=_seen,
    )
    if not fits:
        st.caption(text("The address is too long for a QR code; Copy link has it."))
    elif urlsplit(address).hostname in ("localhost", "127.0.0.1"):
        st.caption(
            text(
                "Only this computer can open this address: `normgeo open --classroom` "
                "lets phones in."
            )
        )


def _address() -> str:
    """The address as the browser reported it, or else as the server knows it."""
    page = (st.context.url or "").partition("?")[0]
    told: str = st.session_state.pop(_LINK, "")
    if told.partition("?")[0] == page and re.fullmatch(r"https?://\S+", told):
        return told
    query = urlencode(st.query_params.to_dict())
    return f"{page}?{query}" if query else page


def _seen() -> None:
    """Take the browser's address, which includes the sliders."""
    st.session_state[_LINK] = str(st.session_state["share_link"].seen)


_share = st.components.v2.component(
    "normgeo_link",
    html='<button type="button" name="link"></button><button type="button" name="embed"></button>'
    '<span role="status" class="unseen"></span><img alt=""><p></p>',
    css=source("component.css", "share/link.css"),
    js=source("share/link.js"),
)
