"""The pictures of the page Home, in their order there."""

from normgeo.pictures.home import (
    averages,
    averages_figure,
    contrast,
    contrast_figure,
    counterexamples,
    counterexamples_figure,
    rays,
    rays_figure,
    table_1,
    table_1_figure,
)
from normgeo.pictures.in_numpy import averages as averages_in_numpy
from normgeo.pictures.picture import Picture

PICTURES = (
    Picture(contrast.STUDY, contrast_figure.figure),
    Picture(averages.STUDY, averages_figure.figure, averages_in_numpy.script),
    Picture(table_1.STUDY, table_1_figure.figure),
    Picture(counterexamples.STUDY, counterexamples_figure.figure),
    Picture(rays.STUDY, rays_figure.figure),
)
