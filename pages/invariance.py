import streamlit as st

from normgeo.tables.verdicts import COLUMNS
from normgeo.ui import cell, export, frame, reading, url, verdict_table
from normgeo.ui.controls import controls
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "invariance",
    "What may change while z stays the same?",
    controls=("dataset",),
    more=("delta", "index", "neurons", "weights", "seed", "eps", "statistics", "groups"),
)

left, right = st.columns([540, 700], gap="medium")
with left:
    verdict_table.draw(
        reading.rows(settings, settings.rows),
        COLUMNS[settings.columns],
        key="table",
        caption="Whether z stays the same, for each method (row) and change (column)",
        selected=settings.selected,
        negative=settings.delta < 0,
        on_pick=lambda picked: url.change(cell=picked, tab="auto"),
    )
    st.caption(reading.legend())
    st.markdown(f"{reading.duality(settings)} · {reading.agreement(settings)}")
    with st.container(horizontal=True):
        controls(settings, ("rows", "columns"), labels=False)
    if settings.rows == "grid":
        for rule in reading.RULES:
            st.markdown(rule)
with right:
    picture = export.show(
        "effect", settings, alt="z before and after the change, method under method."
    )
left.caption(reading.remarks(picture))

tabs(settings, cell.DEPTHS, cell.opening(settings))
