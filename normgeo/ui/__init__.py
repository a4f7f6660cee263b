"""What the pages share on the screen: with them, the only place that imports Streamlit."""
