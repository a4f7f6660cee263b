"""The page Your network: a layer in a picture, in a table and in words."""

from normgeo.ui.your_network.page import TABS

__all__ = ["TABS"]
