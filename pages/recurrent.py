import streamlit as st

from normgeo.base.text import text
from normgeo.ui import frame, recurrent, results
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "recurrent",
    text("What keeps a recurrent state from exploding or dying?"),
    controls=("activation",),
    more=("radius", "length", "neurons", "seed"),
    tabs=recurrent.TABS,
)

picture = results.show(
    "recurrence",
    settings,
    alt="Left: the size of the summed inputs and of the state at each step, without and with layer "
    "norm. Right: how much of a change of an earlier state reaches the last one. Without layer "
    "norm all grow or shrink as powers of the spectral radius; with it the state keeps its size.",
    again=text("Compute all radii"),
)

if picture is not None:
    for note in picture.notes:
        st.caption(str(note))
    tabs(settings, recurrent.TABS, "radii", picture)
