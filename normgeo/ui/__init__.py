"""What the pages share on the screen: with them, the only place that imports Streamlit."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def source(*names: str) -> str:
    """The script or style of a component, from files of this folder, in order."""
    return "\n".join((_HERE / name).read_text("utf-8") for name in names)
