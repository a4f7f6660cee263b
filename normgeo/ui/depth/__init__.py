"""The tabs of the page Depth."""

from normgeo.ui.depth.tabs import TABS, nearest

__all__ = ["TABS", "nearest"]
