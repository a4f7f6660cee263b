"""Numbers, matrices and lines of a formula as KaTeX."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.numbers import latex as number

__all__ = ["aligned", "matrix", "number", "words"]


SHOWN_GROUPS = 3


def matrix(values: Array, groups: int = 1, *, small: bool = False) -> str:
    """A matrix, or a row vector, in parentheses; a small one stands in a sentence.

    Beyond `SHOWN_GROUPS` equal groups of rows, or entries of a vector, dots replace all between the
    second and the last.
    """
    lines = [" & ".join(map(number, row)) for row in np.atleast_2d(values)]
    if values.ndim == 1:
        lines = [number(value) for value in values]
    if groups > SHOWN_GROUPS:
        size = len(lines) // groups
        dots = r"\cdots" if values.ndim == 1 else " & ".join([r"\vdots"] * values.shape[1])
        lines = [*lines[: 2 * size], dots, *lines[-size:]]
    joined = (" & " if values.ndim == 1 else r" \\ ").join(lines)
    if small:
        return rf"\left(\begin{{smallmatrix}} {joined} \end{{smallmatrix}}\right)"
    return rf"\begin{{pmatrix}} {joined} \end{{pmatrix}}"


def words(sentence: str) -> str:
    """Words inside a formula."""
    return rf"\text{{{sentence}}}"


def aligned(lines: Iterable[str], gap: int = 10) -> str:
    r"""Lines below each other, aligned at their &.

    >>> print(aligned(["a &= b", "&= c"], gap=6))
    \begin{aligned}a &= b\\[6pt] &= c\end{aligned}

    """
    return r"\begin{aligned}" + rf"\\[{gap}pt] ".join(lines) + r"\end{aligned}"
