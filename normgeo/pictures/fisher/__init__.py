"""The pictures of the page Fisher, in their order there."""

from normgeo.pictures.fisher import (
    blocks,
    blocks_figure,
    empirical,
    empirical_figure,
    equal_kl,
    equal_kl_figure,
    equation_13,
    equation_13_figure,
    longer_steps,
    longer_steps_figure,
    magnitude,
    magnitude_figure,
    spectra,
    spectra_figure,
)
from normgeo.pictures.in_numpy import equal_kl as equal_kl_in_numpy
from normgeo.pictures.picture import Picture

PICTURES = (
    Picture(equal_kl.STUDY, equal_kl_figure.figure, equal_kl_in_numpy.script),
    Picture(blocks.STUDY, blocks_figure.figure),
    Picture(equal_kl.ACROSS, equal_kl_figure.figure),
    Picture(longer_steps.STUDY, longer_steps_figure.figure),
    Picture(spectra.STUDY, spectra_figure.figure),
    Picture(equation_13.STUDY, equation_13_figure.figure),
    Picture(magnitude.STUDY, magnitude_figure.figure),
    Picture(empirical.STUDY, empirical_figure.figure),
)
