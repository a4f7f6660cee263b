"""The pictures of the page Learning rate, in their order there."""

from normgeo.pictures.in_numpy import angular_update as turn_in_numpy
from normgeo.pictures.learning_rate import (
    angular_update,
    angular_update_figure,
    descent,
    descent_figure,
    doubling,
    doubling_figure,
    ellipse,
    ellipse_figure,
    equilibrium,
    equilibrium_figure,
    exponential_schedule,
    exponential_schedule_figure,
    spiral,
    spiral_figure,
)
from normgeo.pictures.picture import Picture

PICTURES = (
    Picture(angular_update.STUDY, angular_update_figure.figure, turn_in_numpy.script),
    Picture(descent.STUDY, descent_figure.figure),
    Picture(equilibrium.STUDY, equilibrium_figure.figure),
    Picture(exponential_schedule.STUDY, exponential_schedule_figure.figure),
    Picture(spiral.STUDY, spiral_figure.figure),
    Picture(doubling.STUDY, doubling_figure.figure),
    Picture(ellipse.STUDY, ellipse_figure.figure),
)
