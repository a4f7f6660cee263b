"""Numbers and matrices as KaTeX."""

from __future__ import annotations

from normgeo.base.arrays import Array
from normgeo.base.numbers import latex as number

__all__ = ["matrix", "number"]


def matrix(values: Array) -> str:
    """Return a matrix, or a row vector, in parentheses."""
    rows = values.reshape(-1, values.shape[-1])
    lines = r" \\ ".join(" & ".join(map(number, row)) for row in rows)
    return rf"\begin{{pmatrix}} {lines} \end{{pmatrix}}"
