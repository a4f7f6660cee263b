"""Handwritten digits to learn from: scikit-learn's, or MNIST, which OpenML keeps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from normgeo.base.refusal import Failure, Refusal
from normgeo.base.text import text
from normgeo.datasets.datasets import load

OPENML = "openml"
OWN = text("openml, the 70,000 digits of MNIST, which scikit-learn fetches and keeps")
HELD_OUT = {64: (300, 300), 784: (10_000, 10_000)}
"""Pictures for validation and for the test, by the number of pixels."""

Pictures = tuple[NDArray[np.float32], NDArray[np.int32]]
"""Pictures (N, pixels), with ink from 0 to 1, and their digits (N,)."""


def parts(where: str | None = None) -> tuple[Pictures, Pictures, Pictures]:
    """Return pictures to learn from, for validation and for the test.

    Those of MNIST are in their order, with the 10,000 of its test set last.

    Raises:
        ValueError: neither None nor "openml", or other pictures than MNIST's. Failure: nothing
            could be fetched.

    """
    if where is None:
        digits = load("digits", standardize=False)
        order = np.random.default_rng(0).permutation(digits.N)
        ink, labels = digits.raw[order] / 16, digits.y[order]
    elif where == OPENML:
        ink, labels = _mnist()
    else:
        raise Refusal("The data of digits are openml, or none; got {where!r}.", where=where)
    validation, test = HELD_OUT[ink.shape[1]]
    ends = [len(ink) - validation - test, len(ink) - test]
    pictures = np.split(ink.astype(np.float32), ends)
    learned, validated, tested = zip(pictures, np.split(labels.astype(np.int32), ends), strict=True)
    return learned, validated, tested


def _mnist() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    from sklearn.datasets import fetch_openml

    try:
        found = fetch_openml("mnist_784", version=1, as_frame=False)
    except (OSError, ValueError) as error:
        raise Failure(
            "MNIST could not be fetched from OpenML ({why!s}). It takes a connection to "
            "api.openml.org, once; without one leave `--data` out.",
            why=error,
        ) from error
    ink, labels = np.asarray(found.data, float), np.asarray(found.target).astype(int)
    enough = sum(HELD_OUT[784])
    if ink.ndim != 2 or ink.shape[1] != 784 or len(ink) <= enough or len(labels) != len(ink):
        raise Refusal(
            "MNIST has more than {enough} pictures of 784 pixels, each with its digit; OpenML "
            "gave {pictures} and {labels} digits. Remove what scikit-learn keeps, and try "
            "again.",
            enough=enough,
            pictures=ink.shape,
            labels=len(labels),
        )
    return ink / 255, labels
