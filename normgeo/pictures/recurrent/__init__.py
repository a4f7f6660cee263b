"""The pictures of the page Recurrent, in their order there."""

from normgeo.pictures.picture import Picture
from normgeo.pictures.recurrent import (
    cells,
    cells_figure,
    learning,
    learning_figure,
    longer,
    longer_figure,
    radii,
    radii_figure,
    recurrence,
    recurrence_figure,
)

PICTURES = (
    Picture(recurrence.STUDY, recurrence_figure.figure),
    Picture(radii.STUDY, radii_figure.figure),
    Picture(cells.STUDY, cells_figure.figure),
    Picture(learning.STUDY, learning_figure.figure),
    Picture(longer.STUDY, longer_figure.figure),
)
