"""The pictures of the page Home, in their order there."""

from normgeo.pictures.home import averages, averages_figure
from normgeo.pictures.in_numpy import averages as averages_in_numpy
from normgeo.pictures.picture import Picture

PICTURES = (Picture(averages.STUDY, averages_figure.figure, averages_in_numpy.script),)
