"""Words as numbers of their letters, since arrays of JAX hold no strings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray


def points(words: Sequence[str], letters: int) -> NDArray[np.int32]:
    """Return the code points of words (N,), cut to so many letters: (N, letters), 0 after the end.

    >>> points(["ab", "c"], 3).tolist()
    [[97, 98, 0], [99, 0, 0]]

    """
    return np.array(words, dtype=f"<U{letters}").view(np.int32).reshape(len(words), letters)


def spelled(found: ArrayLike) -> str:
    """Return a word from its code points (letters,).

    >>> spelled([97, 98, 0])
    'ab'

    """
    return "".join(chr(point) for point in np.asarray(found).tolist() if point)
