import streamlit as st

from normgeo.base.text import text
from normgeo.ui import frame, learning_rate, results
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "learning_rate",
    text("Why does a large weight vector turn slowly?"),
    controls=("method", "dataset"),
    more=(
        "neuron",
        "growth",
        "rate",
        "neurons",
        "weights",
        "seed",
        "family",
        "eps",
        "statistics",
        "groups",
    ),
    tabs=learning_rate.TABS,
)

picture = results.show("turn", settings)

if picture is not None:
    if picture.elsewhere:
        st.info(str(picture.elsewhere), icon=":material/info:")
    tabs(settings, learning_rate.TABS, "descent", picture)
    for note in picture.notes:
        st.caption(str(note))
