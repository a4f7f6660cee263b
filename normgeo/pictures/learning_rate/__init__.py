"""The pictures of the page Learning rate, in their order there."""

from normgeo.pictures.learning_rate import (
    angular_update,
    angular_update_figure,
    doubling,
    doubling_figure,
    ellipse,
    ellipse_figure,
)
from normgeo.pictures.learning_rate.descent import DESCENT
from normgeo.pictures.learning_rate.equilibrium import EQUILIBRIUM
from normgeo.pictures.learning_rate.exponential_twin import TWIN
from normgeo.pictures.learning_rate.spiral import SPIRAL
from normgeo.pictures.picture import Picture
from normgeo.pictures.view import picture

PICTURES = (
    Picture(angular_update.STUDY, angular_update_figure.figure),
    picture(DESCENT),
    picture(EQUILIBRIUM),
    picture(TWIN),
    picture(SPIRAL),
    Picture(doubling.STUDY, doubling_figure.figure),
    Picture(ellipse.STUDY, ellipse_figure.figure),
)
