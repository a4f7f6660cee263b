"""The pictures of the page Recurrent, in their order there."""

from normgeo.pictures.recurrent.recurrence import RADII_VIEW, RECURRENCE
from normgeo.pictures.view import picture

PICTURES = tuple(
    map(
        picture,
        (
            RECURRENCE,
            RADII_VIEW,
        ),
    )
)
