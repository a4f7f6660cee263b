"""The pictures of the page Home, in their order there."""

from normgeo.pictures.home.averages import AVERAGES
from normgeo.pictures.view import picture

PICTURES = tuple(map(picture, (AVERAGES,)))
