"""The pictures of the page Invariance, in their order there."""

from normgeo.pictures.in_numpy import effect as effect_in_numpy
from normgeo.pictures.invariance import (
    effect,
    effect_figure,
    floating_point,
    floating_point_figure,
    where_z_lives,
    where_z_lives_figure,
)
from normgeo.pictures.picture import Picture

PICTURES = (
    Picture(effect.STUDY, effect_figure.figure, effect_in_numpy.script),
    Picture(floating_point.STUDY, floating_point_figure.figure),
    Picture(where_z_lives.STUDY, where_z_lives_figure.figure),
)
