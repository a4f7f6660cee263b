import streamlit as st

from normgeo.base.text import text
from normgeo.ui import frame, results, symmetry
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "symmetry",
    text("Which directions in weight space does the model not see?"),
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
    ),
    tabs=symmetry.TABS,
)

picture = results.show("symmetry", settings, again=text("Compute all of it"))

if picture is not None:
    st.caption(" ".join(map(str, picture.notes)))
    tabs(settings, symmetry.TABS, "angles", picture)
