"""A figure on a page: the browser draws and moves it, and reports where its slider rests.

The frame to open at is sent beside the figure's text, so that the text stays the same. It is sent
only if it differs from the frame on the screen: the browser's own report is not sent back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import final

import streamlit as st

from normgeo.pictures.style.chart import Chart
from normgeo.pictures.style.player import PLOTLY, SCRIPT, VERSION
from normgeo.ui import source, url

_OPENED = "_opened"


@final
@dataclass(frozen=True)
class _Opened:
    """What a figure shows, as far as Python knows.

    Attributes:
        text: of the figure, in short. setting, value: of its slider.
        resets: how often the session had returned to its defaults.
        sent: the place that the browser was told last, and how many it was told.

    """

    text: int
    setting: str
    value: str
    resets: int
    sent: tuple[int, int]


def draw(
    key: str, chart: Chart, *, title: str, alt: str, place: int | None = None, alone: bool = False
) -> None:
    """Draw a figure.

    Args:
        key: of the component. title, alt: for a screen reader.
        place: of the frame that it shows; None for the one that it was made at.
        alone: whether it moves without others, and the address is not about it.

    """
    st.html(f'<p id="alt_{key}" class="alt">{escape(alt)}</p>')
    _component(
        key=key,
        data={
            "plotly": _plotly(),
            "figure": chart.text,
            "title": title,
            "alt": f"alt_{key}",
            "opened": _opened(key, chart, chart.place(place), alone),
            "alone": alone,
        },
        on_rest_change=lambda: _rested(key),
    )


def _known() -> dict[str, _Opened]:
    known: dict[str, _Opened] = st.session_state.setdefault(_OPENED, {})
    return known


def _opened(key: str, chart: Chart, place: int, alone: bool) -> tuple[int, int]:
    """The frame to open at, and how many were sent; the last one if nothing is new."""
    before = _known().get(key)
    sent = before.sent if before is not None else (0, 0)
    setting, value = ("" if alone else chart.slider), (chart.values or ("",))[place]
    now = _Opened(hash(chart.text), setting, value, url.resets(), sent)
    if now != before or key not in st.session_state:  # where it was not on the page
        now = replace(now, sent=(place, sent[1] + 1))
    _known()[key] = now
    return now.sent


def _rested(key: str) -> None:
    """Take the value at which a slider rests, for all figures that show the setting."""
    setting, (value, _) = _known()[key].setting, st.session_state[key].rest
    if url.move(setting, value):
        for name, opened in _known().items():
            if opened.setting == setting:
                _known()[name] = replace(opened, value=value)


@st.cache_resource(show_spinner=False)
def _plotly() -> str:
    """The address of plotly's script in the installed package; each version has its own.

    Streamlit serves the folders of components; this component exists for that alone.
    """
    served = st.components.v1.declare_component("plotly", path=PLOTLY.parent)
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"{base and f'/{base}'}/component/{served.name}/{PLOTLY.name}?{VERSION}"


_component = st.components.v2.component(
    "normgeo_figure",
    html='<div class="figure"></div>',
    js=f"{SCRIPT}\n{source('figures/figure.js')}",
    isolate_styles=False,
)
