"""The pictures of the page Symmetry, in their order there."""

from normgeo.pictures.picture import Picture
from normgeo.pictures.symmetry import (
    coupling,
    coupling_figure,
    null_directions,
    null_directions_figure,
    walk,
    walk_figure,
)

PICTURES = (
    Picture(walk.STUDY, walk_figure.figure),
    Picture(null_directions.STUDY, null_directions_figure.figure),
    Picture(coupling.STUDY, coupling_figure.figure),
)
