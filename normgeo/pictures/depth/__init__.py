"""The pictures of the page Depth, in their order there."""

from normgeo.pictures.depth import (
    attention,
    attention_figure,
    images,
    images_figure,
    placement,
    placement_figure,
    places,
    places_figure,
    training,
    training_figure,
)
from normgeo.pictures.picture import Picture

PICTURES = (
    Picture(placement.STUDY, placement_figure.figure),
    Picture(training.STUDY, training_figure.figure),
    Picture(places.STUDY, places_figure.figure),
    Picture(attention.STUDY, attention_figure.figure),
    Picture(images.STUDY, images_figure.figure),
)
