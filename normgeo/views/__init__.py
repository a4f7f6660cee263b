"""Every picture by its name: what a page, an export, a notebook and the command line go through."""

from normgeo.views.average import AVERAGES
from normgeo.views.batch import AXES, NOISE
from normgeo.views.change import EFFECT, FLOATING_POINT
from normgeo.views.descent import DESCENT
from normgeo.views.doubling import DOUBLING, ELLIPSE
from normgeo.views.equal_kl import EQUAL_KL
from normgeo.views.equation_13 import EQUATION_13
from normgeo.views.equilibrium import EQUILIBRIUM
from normgeo.views.fisher import FISHER
from normgeo.views.growth import GROWTH
from normgeo.views.labels import LABELS
from normgeo.views.magnitude import MAGNITUDE
from normgeo.views.recurrent import RADII_VIEW, RECURRENCE
from normgeo.views.spectra import SPECTRA
from normgeo.views.spiral import SPIRAL
from normgeo.views.symmetry import COUPLING, SYMMETRY
from normgeo.views.training import TRAINING
from normgeo.views.turn import TURN
from normgeo.views.twin import TWIN
from normgeo.views.view import View

__all__ = ["VIEWS", "View"]

VIEWS: dict[str, View] = {
    view.name: view
    for view in (
        AVERAGES, EFFECT, FLOATING_POINT, TURN, DESCENT, EQUILIBRIUM, TWIN, SPIRAL, DOUBLING,
        ELLIPSE, AXES, NOISE, TRAINING, RECURRENCE, RADII_VIEW, SYMMETRY, COUPLING, FISHER,
        EQUAL_KL, GROWTH, SPECTRA, EQUATION_13, MAGNITUDE, LABELS,
    )
}  # fmt: skip
