"""The pictures of the page Recurrent, in their order there."""

from normgeo.pictures.picture import Picture
from normgeo.pictures.recurrent import radii, radii_figure, recurrence, recurrence_figure

PICTURES = (
    Picture(radii.STUDY, radii_figure.figure),
    Picture(recurrence.STUDY, recurrence_figure.figure),
)
