from functools import partial

import streamlit as st

from normgeo.ui import frame

# isort: split
from normgeo.base.text import text
from normgeo.ui import learning_rate, results
from normgeo.ui.tabs import tabs
from normgeo.ui.teaching import predict_turn

settings = frame.begin(
    "learning_rate",
    text("Why does a long weight vector turn slowly?"),
    symbols="W, w|‖w‖|ŵ|G|Γ|η|θ|λ|β|ν|τ, k|ρ|ξ, κ|L|z|ε|F|KL|ds|K|N, H, D|g, b|t, i, j|neuron|block"
    "|angular update|equilibrium",
    controls=("optimizer", "method"),
    more=(
        "dataset",
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
    picture="turn",
)

question = st.container()
picture = results.show("turn", settings, seen=partial(predict_turn.part, settings))

if picture is not None and settings.predict:
    with question:
        predict_turn.ask(settings, picture)

if picture is not None and predict_turn.revealed(settings):
    if picture.elsewhere:
        st.info(str(picture.elsewhere), icon=":material/info:")
    tabs(settings, learning_rate.TABS, "descent", picture)
    for note in picture.notes:
        st.caption(str(note))
