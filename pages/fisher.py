import streamlit as st

from normgeo.ui import frame, progress, shaping
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "fisher",
    "What is the shape of parameter space?",
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
)

picture = progress.show(
    "fisher",
    settings,
    alt="The Fisher information of the standard model beside that of the method. Left: a map with "
    "a cell for each pair of neurons, dark where they share curvature. Right: the block of one "
    "pair, a cell for each pair of parameters, blue below zero.",
    again="Compute both models",
)

if picture is not None:
    st.caption(" ".join(picture.notes))
    tabs(settings, shaping.DEPTHS, "equal_kl")
