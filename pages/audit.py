import streamlit as st

from normgeo.base.text import text
from normgeo.tables.report import PAPER
from normgeo.ui import audit, frame

settings = frame.begin("audit", text("Where is the paper exact, and where not?"))

try:
    shown = audit.show(settings)
except RuntimeError as error:
    st.error(str(error))
else:
    if shown:
        st.caption(
            text(
                "{paper} Every verdict comes from a computation, on the digits or on seeded random "
                "numbers; what other works and practice add is named under its source.",
                paper=text(PAPER),
            )
        )
