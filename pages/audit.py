import streamlit as st

from normgeo.base.text import text
from normgeo.tables.report import PAPER
from normgeo.ui import audit, frame

settings = frame.begin(
    "audit",
    text("Where is the paper exact, and where not?"),
    symbols="z|F|‖w‖|δ|ε|Fisher information|effective learning rate|null direction",
)

if audit.show(settings):
    st.caption(
        text(
            "{paper} Every verdict comes from a computation, on the digits or on seeded random "
            "numbers; what other works and practice add is named under its source.",
            paper=text(PAPER),
        )
    )
