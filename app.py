"""The application: `streamlit run app.py`."""

import streamlit as st

from normgeo.ui import frame

st.set_page_config(page_title="normgeo", layout="wide", initial_sidebar_state="collapsed")
frame.run()
