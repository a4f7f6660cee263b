import streamlit as st

from normgeo.ui import frame

# isort: split
from normgeo.base.text import text
from normgeo.ui import results, symmetry
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "symmetry",
    text("Which directions in weight space does the model not see?"),
    symbols="W, w|‖w‖|F|KL|N, H, D|K|δ|γ|null direction|tangent|neuron|case",
    controls=("method",),
    more=(
        "dataset",
        "family",
        "neurons",
        "groups",
        "eps",
        "statistics",
        "features",
        "weights",
        "seed",
        "neuron",
        "index",
    ),
    tabs=symmetry.TABS,
    picture="walk",
)

choices = st.container(key="along_row")
walks = results.show("walk", settings, again=text("Compute all of it"))

if walks is not None:
    with choices:
        symmetry.choose(settings, walks)
    tabs(settings, symmetry.TABS, "angles", walks.found)
    st.caption(" ".join(map(str, walks.notes)))
