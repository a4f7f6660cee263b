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

picture = results.show(
    "fisher",
    settings,
    alt="The Fisher information of the standard model beside that of the method. Left: a map with "
    "a cell for each pair of neurons, dark where they share curvature. Right: the block of one "
    "pair, a cell for each pair of parameters, blue below zero.",
    again=text("Compute both models"),
)

if picture is not None:
    st.caption(" ".join(map(str, picture.notes)))
    tabs(settings, fisher.TABS, "equal_kl", picture)
