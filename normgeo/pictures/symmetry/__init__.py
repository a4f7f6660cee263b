"""The pictures of the page Symmetry, in their order there."""

from normgeo.pictures.symmetry.null_directions import COUPLING, SYMMETRY
from normgeo.pictures.view import picture

PICTURES = tuple(
    map(
        picture,
        (
            SYMMETRY,
            COUPLING,
        ),
    )
)
