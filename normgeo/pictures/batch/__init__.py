"""The pictures of the page Batch, in their order there."""

from normgeo.pictures.batch.axes import AXES, NOISE
from normgeo.pictures.batch.training import TRAINING
from normgeo.pictures.view import picture

PICTURES = tuple(
    map(
        picture,
        (
            AXES,
            NOISE,
            TRAINING,
        ),
    )
)
