"""Every picture by its name: what a page, an export, a notebook and the command line go through."""

from normgeo.pictures import batch, fisher, home, invariance, learning_rate, recurrent, symmetry
from normgeo.pictures.picture import Picture

__all__ = ["PICTURES", "Picture"]

PICTURES: dict[str, Picture] = {
    picture.name: picture
    for page in (home, invariance, learning_rate, batch, recurrent, symmetry, fisher)
    for picture in page.PICTURES
}
