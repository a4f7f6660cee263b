"""The pictures of the page Batch, in their order there."""

from normgeo.pictures.batch import axes, axes_figure, noise, noise_figure, training, training_figure
from normgeo.pictures.picture import Picture

PICTURES = (
    Picture(axes.STUDY, axes_figure.figure),
    Picture(noise.STUDY, noise_figure.figure),
    Picture(training.STUDY, training_figure.figure),
)
