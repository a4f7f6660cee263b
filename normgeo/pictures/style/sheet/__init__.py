"""How a figure is laid out: it says what it has, in order, and stands on any screen."""

from normgeo.pictures.style.sheet.bands import Band, Pair, Tiles, answer, told
from normgeo.pictures.style.sheet.panel import Panel, axis_name, on_panel
from normgeo.pictures.style.sheet.shapes import across, level, stretch, upright
from normgeo.pictures.style.sheet.sheet import Sheet, drawn
from normgeo.pictures.style.sheet.table_cell import marks

__all__ = [
    "Band",
    "Pair",
    "Panel",
    "Sheet",
    "Tiles",
    "across",
    "answer",
    "axis_name",
    "drawn",
    "level",
    "marks",
    "on_panel",
    "stretch",
    "told",
    "upright",
]
