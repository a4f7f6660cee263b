"""Every picture by its name: what a page, an export, a notebook and the command line go through."""

from importlib import import_module

from normgeo.pictures.picture import Picture

__all__ = ["MAIN_PICTURES", "PAGE_OF", "PICTURES", "Picture"]

# Each has a folder here, whose pictures are in their order on the page.
_PAGES = (
    "home",
    "invariance",
    "learning_rate",
    "batch",
    "recurrent",
    "depth",
    "experiments",
    "symmetry",
    "fisher",
    "your_network",
)

_FOUND = [
    (page, picture)
    for page in _PAGES
    for picture in import_module(f"normgeo.pictures.{page}").PICTURES
]
PICTURES: dict[str, Picture] = {picture.name: picture for _, picture in _FOUND}
PAGE_OF: dict[str, str] = {picture.name: page for page, picture in _FOUND}
MAIN_PICTURES: dict[str, str] = {page: picture.name for page, picture in reversed(_FOUND)}
"""The first picture of each page."""
