"""The pinned picture beside another one, drawn when all else is on the page."""

from __future__ import annotations

import streamlit as st

from normgeo.base.text import text
from normgeo.pictures.style.chart import Chart
from normgeo.ui import results
from normgeo.ui.computing.server import here
from normgeo.ui.defects import Explained
from normgeo.ui.teaching.pin import Place, difference


def draw(place: Place) -> None:
    """Draw the pinned picture beside the current one, and above both their differences."""
    pin = place.pin
    with place.column, Explained():
        st.markdown(f"**{text('Pinned')}**")
        there = results.of_picture(pin.name, pin.settings, slot="pinned")
        if there is None:
            return
        drawn = results.whole(pin.name, pin.settings, there.result)
        chart = results.draw("figure_pinned", drawn, there, place.settings.theme, alone=True)
        if pin.name == place.name:
            _compare(place, chart, chart.scales[chart.place(drawn.place)])


def _compare(place: Place, pinned: Chart, scales: str) -> None:
    """Name the differences, and say whether the scales can be compared."""
    sentences = [difference(place.pin, place.settings, pinned.slider)]
    now = results.kept(place.name, place.settings)
    if now is not None:
        drawn = results.whole(place.name, place.settings, now.result)
        chart = drawn.chart(here(), now, place.settings.theme)
        if not scales or scales != chart.scales[chart.place(drawn.place)]:
            sentences.append(text("Each picture has scales of its own."))
    with place.above:
        st.markdown(" ".join(map(str, sentences)))
