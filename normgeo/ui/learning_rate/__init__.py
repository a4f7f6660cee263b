"""The tabs of the page Learning rate."""

from normgeo.ui.learning_rate.tabs import TABS

__all__ = ["TABS"]
