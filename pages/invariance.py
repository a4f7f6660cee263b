import streamlit as st

from normgeo.ui import export, frame, url, verdict_table
from normgeo.ui.controls import controls
from normgeo.verdict_tables import COLUMNS, ROWS

settings = frame.begin(
    "invariance",
    "What may change while z stays the same?",
    controls=("dataset",),
    more=("delta", "index", "neurons", "weights", "seed", "eps", "statistics", "groups"),
)
left, right = st.columns([540, 700], gap="medium")
with left:
    verdict_table.draw(
        ROWS[settings.rows],
        COLUMNS[settings.columns],
        key="table",
        caption="x",
        selected=settings.selected,
        negative=settings.delta < 0,
        on_pick=lambda cell: url.change(cell=cell),
    )
    with st.container(horizontal=True):
        controls(settings, ("rows", "columns"), labels=False)
with right:
    export.show("effect", settings, alt="z before and after")
