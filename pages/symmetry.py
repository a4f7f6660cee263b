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

picture = results.show(
    "symmetry",
    settings,
    alt="Left: the roots of the eigenvalues of the Fisher information of the weights on a "
    "logarithmic scale, with the null ones marked apart below the threshold. Right: a bar for each "
    "reason, as long as the number of null directions that it explains.",
    again=text("Compute all of it"),
)

if picture is not None:
    st.caption(" ".join(map(str, picture.notes)))
    tabs(settings, symmetry.TABS, "angles", picture)
