import streamlit as st

from normgeo.ui import frame, progress, recurring
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "recurrent",
    "What keeps a recurrent state from exploding or dying?",
    controls=("activation",),
    more=("radius", "length", "neurons", "seed"),
)

picture = progress.show(
    "recurrence",
    settings,
    alt="Left: the size of the summed inputs and of the state at each step, without and with layer "
    "norm. Right: how much of a change of an earlier state reaches the last one. Without layer "
    "norm all grow or shrink as powers of the spectral radius; with it the state keeps its size.",
    again="Compute all radii",
)

if picture is not None:
    for note in picture.notes:
        st.caption(note)
    tabs(settings, recurring.DEPTHS, "radii")
