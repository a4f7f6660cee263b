"""Every picture by its name: what a page, an export, a notebook and the command line go through."""

from normgeo.pictures.batch.axes import AXES, NOISE
from normgeo.pictures.batch.training import TRAINING
from normgeo.pictures.fisher.blocks import FISHER
from normgeo.pictures.fisher.empirical import LABELS
from normgeo.pictures.fisher.equal_kl import EQUAL_KL
from normgeo.pictures.fisher.equation_13 import EQUATION_13
from normgeo.pictures.fisher.longer_steps import GROWTH
from normgeo.pictures.fisher.magnitude import MAGNITUDE
from normgeo.pictures.fisher.spectra import SPECTRA
from normgeo.pictures.home.averages import AVERAGES
from normgeo.pictures.invariance.effect import EFFECT, FLOATING_POINT
from normgeo.pictures.learning_rate.angular_update import TURN
from normgeo.pictures.learning_rate.descent import DESCENT
from normgeo.pictures.learning_rate.doubling import DOUBLING, ELLIPSE
from normgeo.pictures.learning_rate.equilibrium import EQUILIBRIUM
from normgeo.pictures.learning_rate.exponential_twin import TWIN
from normgeo.pictures.learning_rate.spiral import SPIRAL
from normgeo.pictures.picture import View
from normgeo.pictures.recurrent.recurrence import RADII_VIEW, RECURRENCE
from normgeo.pictures.symmetry.null_directions import COUPLING, SYMMETRY

__all__ = ["VIEWS", "View"]

VIEWS: dict[str, View] = {
    view.name: view
    for view in (
        AVERAGES, EFFECT, FLOATING_POINT, TURN, DESCENT, EQUILIBRIUM, TWIN, SPIRAL, DOUBLING,
        ELLIPSE, AXES, NOISE, TRAINING, RECURRENCE, RADII_VIEW, SYMMETRY, COUPLING, FISHER,
        EQUAL_KL, GROWTH, SPECTRA, EQUATION_13, MAGNITUDE, LABELS,
    )
}  # fmt: skip
