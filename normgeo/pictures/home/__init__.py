"""The pictures of the page Home, in their order there."""

from normgeo.pictures.home import averages, averages_code, averages_figure
from normgeo.pictures.picture import Picture

PICTURES = (Picture(averages.STUDY, averages_figure.figure, averages_code.script),)
