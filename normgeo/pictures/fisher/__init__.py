"""The pictures of the page Fisher, in their order there."""

from normgeo.pictures.fisher.blocks import FISHER
from normgeo.pictures.fisher.empirical import LABELS
from normgeo.pictures.fisher.equal_kl import EQUAL_KL
from normgeo.pictures.fisher.equation_13 import EQUATION_13
from normgeo.pictures.fisher.longer_steps import GROWTH
from normgeo.pictures.fisher.magnitude import MAGNITUDE
from normgeo.pictures.fisher.spectra import SPECTRA
from normgeo.pictures.view import picture

PICTURES = tuple(
    map(
        picture,
        (
            FISHER,
            EQUAL_KL,
            GROWTH,
            SPECTRA,
            EQUATION_13,
            MAGNITUDE,
            LABELS,
        ),
    )
)
