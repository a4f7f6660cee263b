"""The pictures of the page Invariance, in their order there."""

from normgeo.pictures.invariance.effect import EFFECT, FLOATING_POINT
from normgeo.pictures.view import picture

PICTURES = tuple(
    map(
        picture,
        (
            EFFECT,
            FLOATING_POINT,
        ),
    )
)
