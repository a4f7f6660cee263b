import streamlit as st

from normgeo.base.text import text
from normgeo.ui import frame, home

settings = frame.begin(
    "home",
    text("What does each method average?"),
    controls=("dataset",),
    symbols="X, x|W, w|a|μ|σ|z|‖w‖|neuron|case|γ|δ|ε|re-centering, re-scaling",
)
left, right = st.columns([836, 364], gap="small")
with left:
    home.draw_example(settings)
with right:
    home.draw_ways()
    home.draw_table(settings)
home.draw_real_data(settings)
