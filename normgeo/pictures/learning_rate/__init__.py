"""The pictures of the page Learning rate, in their order there."""

from normgeo.pictures.learning_rate.angular_update import TURN
from normgeo.pictures.learning_rate.descent import DESCENT
from normgeo.pictures.learning_rate.doubling import DOUBLING, ELLIPSE
from normgeo.pictures.learning_rate.equilibrium import EQUILIBRIUM
from normgeo.pictures.learning_rate.exponential_twin import TWIN
from normgeo.pictures.learning_rate.spiral import SPIRAL
from normgeo.pictures.view import picture

PICTURES = tuple(
    map(
        picture,
        (
            TURN,
            DESCENT,
            EQUILIBRIUM,
            TWIN,
            SPIRAL,
            DOUBLING,
            ELLIPSE,
        ),
    )
)
