import streamlit as st

from normgeo.base.text import text
from normgeo.ui import frame, home, results, verdict_table

settings = frame.begin("home", text("What does each method average?"), controls=("dataset",))

left, right = st.columns([720, 480], gap="medium")
with left:
    results.show("averages", settings)
    st.caption(text("Sections 2 and 3, Eq. 2 and 3; section 5.1, Eq. 5: z = (a − μ)/σ."))
with right:
    st.markdown(text("**What follows:** the changes that leave z = (a − μ)/σ as it is"))
    verdict_table.draw_with_legend(
        settings,
        "paper",
        "paper",
        on_pick=lambda cell: st.switch_page(
            "pages/invariance.py", query_params={**settings.to_query(), "cell": cell}
        ),
    )

home.draw_ways()
