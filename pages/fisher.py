import streamlit as st

from normgeo.base.text import text
from normgeo.ui import fisher, frame, results
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "fisher",
    text("What is the shape of parameter space?"),
    controls=("method", "dataset"),
    more=(
        "neuron",
        "other",
        "entries",
        "family",
        "neurons",
        "weights",
        "seed",
        "features",
        "eps",
        "statistics",
        "groups",
    ),
    tabs=fisher.TABS,
)

picture = results.show("fisher", settings, again=text("Compute both models"))

if picture is not None:
    st.caption(" ".join(map(str, picture.notes)))
    tabs(settings, fisher.TABS, "equal_kl", picture)
