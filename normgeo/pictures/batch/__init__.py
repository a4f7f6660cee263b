"""The pictures of the page Batch, in their order there."""

from normgeo.pictures.batch import axes, axes_figure, noise, noise_figure, training, training_figure
from normgeo.pictures.in_numpy import axes as axes_in_numpy
from normgeo.pictures.picture import Picture

PICTURES = (
    Picture(axes.STUDY, axes_figure.figure, axes_in_numpy.script),
    Picture(axes.IMAGES, axes_figure.figure, axes_in_numpy.script),
    Picture(noise.STUDY, noise_figure.figure),
    Picture(training.STUDY, training_figure.figure),
)
