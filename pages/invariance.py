from functools import partial

import streamlit as st

from normgeo.ui import frame

# isort: split
from normgeo.base.text import text
from normgeo.ui import invariance, results, url, verdict_table
from normgeo.ui.controls import controls
from normgeo.ui.invariance.blackboard import in_a_line
from normgeo.ui.tabs import tabs
from normgeo.ui.teaching import predict_cell

settings = frame.begin(
    "invariance",
    text("What may change while the norm’s output z stays?"),
    symbols="a|z|μ|σ|s|v|W, w|‖w‖|X, x|δ|γ|ε|case|neuron"
    "|re-centering, re-scaling|certificate|witness",
    controls=("dataset",),
    more=("delta", "index", "neurons", "weights", "seed", "eps", "statistics", "groups"),
    tabs=invariance.TABS,
    picture="effect",
)

known = predict_cell.known(settings)
left, right = st.columns([540, 700], gap="medium")
with left:
    verdict_table.draw_with_legend(
        settings,
        settings.rows,
        settings.columns,
        selected=settings.selected,
        negative=settings.delta < 0,
        on_pick=lambda picked: url.change(cell=picked, tab="auto"),
        known=known,
    )
    if settings.predict:
        predict_cell.ask(settings)
    below = st.container(key="below_table")  # on a phone, below the figure
    with below:
        if known is None:
            st.markdown(verdict_table.about(settings))
            if counterexample := in_a_line(settings):
                st.markdown(counterexample)
        with st.container(horizontal=True):
            controls(settings, ("rows", "columns"), labels=False)
        if settings.rows == "grid" and not settings.predict:
            for rule in verdict_table.rules(settings):
                st.markdown(str(rule))
with right:
    picture = results.show("effect", settings, seen=partial(predict_cell.part, settings))

if not settings.predict:
    if picture is not None:
        below.caption(" ".join(map(str, picture.notes)))
    tabs(settings, invariance.TABS, invariance.opening(settings), picture)
elif predict_cell.revealed(settings):
    tabs(settings, invariance.OF_A_CELL, invariance.opening(settings), picture)
