"""The tabs of the page Depth."""

from normgeo.ui.depth.tabs import TABS

__all__ = ["TABS"]
