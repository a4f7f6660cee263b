"""Images with classes, as windows of a convolution, with some held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from numpy.typing import ArrayLike

from normgeo.base.arguments import whole_number
from normgeo.base.arrays import Array, real_array, require_same_cases
from normgeo.base.constant import Constant
from normgeo.datasets.datasets import DATASETS
from normgeo.datasets.hold_out import held_out_cases
from normgeo.models.families import FAMILIES
from normgeo.networks.convolution import image_windows
from normgeo.networks.parameters import of_shape

CATEGORICAL = FAMILIES["categorical"]
MOST_CLASSES = 10_000


@final
@dataclass(init=False, eq=False)
class Images(Constant):
    """Square images with classes, as windows of a convolution, some of them held out.

    Attributes:
        side: of the images, in pixels. seen_train, seen_test: their windows (N, 9, side²).
        y_train, y_test: their classes (N,), integers from 0.

    Raises:
        ValueError: images that are not square or differ in size, bad numbers, or windows that take
            too much memory.

    """

    side: Final[int]
    seen_train: Final[Array]
    y_train: Final[Array]
    seen_test: Final[Array]
    y_test: Final[Array]

    def __init__(
        self, X_train: ArrayLike, y_train: ArrayLike, X_test: ArrayLike, y_test: ArrayLike
    ) -> None:
        """Take images (N, side, side) and classes (N,), for training and held out."""
        train = real_array("X_train", X_train, 3)
        self.side = train.shape[1]
        train = of_shape("X_train", train, None, self.side, self.side)
        test = of_shape("X_test", X_test, None, self.side, self.side)
        self.seen_train, self.seen_test = image_windows(train), image_windows(test)
        self.y_train, self.y_test = _classes("y_train", y_train), _classes("y_test", y_test)
        require_same_cases(train, self.y_train)
        require_same_cases(test, self.y_test)

    @classmethod
    def digits(cls, seed: int = 0, most: int | None = None) -> Images:
        """Return the digits, ink from 0 to 1, a fifth of them held out.

        Args:
            seed: chooses the held-out images. most: limit on the training images, None for all.

        Raises:
            ValueError: bad arguments.

        """
        most = None if most is None else whole_number("most", most, 1)
        data = DATASETS["digits"].load()
        train, test = held_out_cases(data, seed=seed)
        train = train[:most]
        side = int(data.raw.shape[1] ** 0.5)
        ink = data.raw.reshape(-1, side, side) / data.raw.max()
        return cls(ink[train], data.y[train], ink[test], data.y[test])


def _classes(name: str, y: ArrayLike) -> Array:
    """Class labels as whole numbers."""
    values = real_array(name, y, 1)
    largest = whole_number(name, values.max(), 0, MOST_CLASSES - 1)
    labels: Array = CATEGORICAL.encode(values, largest + 1).argmax(axis=1)
    return labels
