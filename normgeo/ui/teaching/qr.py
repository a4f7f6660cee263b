"""The link of a page as a QR code, for the phones of a class."""

from __future__ import annotations

import re
from urllib.parse import urlencode, urlsplit

import segno
import streamlit as st

from normgeo.base.text import text
from normgeo.ui import source

_LINK = "_qr_link"
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
    """Draw a button that opens the QR code of the page in its current state, and its link.

    The code is made only when it is open, not in every run of every page.
    """
    opened = st.popover("QR", key="qr", on_change="rerun")
    if opened.open:
        with opened:
            _code()


def _code() -> None:
    link = _link()
    fits = len(link) <= LONGEST
    _qr(
        key="qr_code",
        data={"link": link, "image": code(link) if fits else ""},
        on_seen_change=_seen,
    )
    if not fits:
        st.info(str(text("The address is too long for a QR code; Copy link has it.")))
    elif urlsplit(link).hostname in ("localhost", "127.0.0.1"):
        st.caption(
            str(
                text(
                    "Only this computer can open this address: `normgeo open --classroom` "
                    "lets phones in."
                )
            )
        )


def _link() -> str:
    """The address as the browser reported it, or else as the server knows it."""
    page = (st.context.url or "").partition("?")[0]
    told: str = st.session_state.pop(_LINK, "")
    if told.partition("?")[0] == page and re.fullmatch(r"https?://\S+", told):
        return told
    query = urlencode(st.query_params.to_dict())
    return f"{page}?{query}" if query else page


def _seen() -> None:
    """Take the browser's address, which includes the sliders."""
    st.session_state[_LINK] = str(st.session_state["qr_code"].seen)


_qr = st.components.v2.component(
    "normgeo_qr",
    html='<img alt=""><p></p>',
    css=source("teaching/qr.css"),
    js=source("teaching/qr.js"),
)
