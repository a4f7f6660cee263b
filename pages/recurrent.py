import streamlit as st

from normgeo.ui import frame

# isort: split
from normgeo.base.text import text
from normgeo.ui import recurrent, results
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "recurrent",
    text("What keeps a recurrent state from exploding or dying?"),
    symbols="a|h|W, w|X, x|f|g, b|μ|σ|z|ρ|T|t, i, j|J|s|c|LN|o, r, u, U|neuron",
    controls=("activation",),
    more=("method", "length", "neurons", "seed"),
    tabs=(*recurrent.TABS, *recurrent.OLD_TABS),
    picture="recurrence",
)

picture = results.show("recurrence", settings, again=text("Compute all radii"))

if picture is not None:
    tabs(settings, recurrent.TABS, "why", picture)
    for note in picture.notes:
        st.caption(str(note))
