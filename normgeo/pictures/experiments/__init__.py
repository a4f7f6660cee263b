"""The pictures of the page Experiments, in their order there."""

from normgeo.pictures.experiments import (
    convolution,
    convolution_figure,
    draw,
    draw_figure,
    handwriting,
    handwriting_figure,
    mnist,
    mnist_figure,
    multiples,
    multiples_figure,
    order,
    order_figure,
    reader,
    reader_figure,
    skip_thoughts,
    skip_thoughts_figure,
)
from normgeo.pictures.picture import Picture

PICTURES = (
    Picture(multiples.STUDY, multiples_figure.figure),
    Picture(order.STUDY, order_figure.figure),
    Picture(reader.STUDY, reader_figure.figure),
    Picture(skip_thoughts.STUDY, skip_thoughts_figure.figure),
    Picture(draw.STUDY, draw_figure.figure),
    Picture(handwriting.STUDY, handwriting_figure.figure),
    Picture(mnist.STUDY, mnist_figure.figure),
    Picture(convolution.STUDY, convolution_figure.figure),
)
