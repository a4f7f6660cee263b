"""Numbers, matrices and lines of a formula as KaTeX."""

from __future__ import annotations

from collections.abc import Iterable

from normgeo.base.arrays import Array
from normgeo.base.numbers import latex as number

__all__ = ["aligned", "matrix", "number", "words"]


def matrix(values: Array) -> str:
    """A matrix, or a row vector, in parentheses."""
    rows = values.reshape(-1, values.shape[-1])
    lines = r" \\ ".join(" & ".join(map(number, row)) for row in rows)
    return rf"\begin{{pmatrix}} {lines} \end{{pmatrix}}"


def words(sentence: str) -> str:
    """Words inside a formula."""
    return rf"\text{{{sentence}}}"


def aligned(lines: Iterable[str], gap: int = 10) -> str:
    r"""Lines below each other, aligned at their &.

    >>> print(aligned(["a &= b", "&= c"], gap=6))
    \begin{aligned}a &= b\\[6pt] &= c\end{aligned}

    """
    return r"\begin{aligned}" + rf"\\[{gap}pt] ".join(lines) + r"\end{aligned}"
