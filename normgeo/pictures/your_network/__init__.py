"""The pictures of the page Your network, in their order there."""

from normgeo.pictures.picture import Picture
from normgeo.pictures.your_network import (
    layer,
    layer_epsilon,
    layer_epsilon_figure,
    layer_figure,
    layer_spectrum,
    layer_spectrum_figure,
    network,
    network_figure,
    training,
    training_figure,
)

PICTURES = (
    Picture(layer.STUDY, layer_figure.figure),
    Picture(layer_epsilon.STUDY, layer_epsilon_figure.figure),
    Picture(layer_spectrum.STUDY, layer_spectrum_figure.figure),
    Picture(network.STUDY, network_figure.figure),
    Picture(training.STUDY, training_figure.figure),
)
