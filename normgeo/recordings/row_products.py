"""Products of the rows of one or two arrays, with sums in double precision."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np

from normgeo.base.arrays import Array

_ALONG, _ACROSS = 512, 32
"""How many products are summed in single precision, along a row and across rows side by side."""
_LEAST = 1e-28
"""Sums of products in single precision lose digits below this, and overflow above 1/_LEAST."""


def row_products(*arrays: Array) -> Array:
    """Return the products of the rows, Σ_d, of u (h, d) as (1, h), of u and v as (3, h).

    Two arrays give u·u, u·v and v·v; both are of single or of double precision. In single
    precision the error is at most a few 1e-7 of the rows' lengths, for rows of any length: products
    of a few columns are summed at a time, and these sums are added in double precision. Widening
    every number first would take about twice as long.

    >>> row_products(np.array([[3.0, 4.0]]), np.array([[1.0, 2.0]]))
    array([[25.],
           [11.],
           [ 5.]])

    """
    first = arrays[0]
    along = first.strides[0] >= first.strides[1]
    pairs = [*combinations_with_replacement(arrays, 2)]
    if first.dtype == np.float64:
        return np.array([np.vecdot(u, v) if along else _across(u, v) for u, v in pairs])
    h, d = first.shape
    size = _part(d) if along else _ACROSS
    whole = d - d % size
    shape = (len(pairs), h, whole // size) if along else (len(pairs), whole // size, h)
    sums = np.empty(shape, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        if whole:
            if along:
                parts = [x[:, :whole].reshape(h, -1, size) for x in arrays]
            else:
                parts = [x.T[:whole].reshape(-1, size, h) for x in arrays]
            for found, (u, v) in zip(sums, combinations_with_replacement(parts, 2), strict=True):
                if along:
                    np.vecdot(u, v, out=found)
                else:
                    np.einsum("sdh,sdh->sh", u, v, out=found)
        total: Array = sums.sum(axis=2 if along else 1, dtype=np.float64)
        if whole < d:
            total += [_across(u[:, whole:], v[:, whole:]) for u, v in pairs]
    squares = total[::2]  # products are near enough wherever both squares are
    if not (squares.min() > _LEAST and squares.max() < 1 / _LEAST):
        lost = np.zeros(h, dtype=bool)
        for x, square in zip(arrays, squares, strict=True):
            rows = np.flatnonzero(~((square > _LEAST) & (square < 1 / _LEAST)))
            lost[rows[x[rows].any(axis=1)]] = True
        wide = [x[lost].astype(np.float64) for x in arrays]
        total[:, lost] = [_across(u, v) for u, v in combinations_with_replacement(wide, 2)]
    return total


@lru_cache(maxsize=1024)
def _part(d: int) -> int:
    """How many columns of d are summed at a time: a divisor of d, so that none are left, if any."""
    return next((size for size in range(_ALONG, _ALONG // 4, -1) if d % size == 0), _ALONG)


def _across(u: Array, v: Array) -> Array:
    found: Array = np.einsum("hd,hd->h", u, v)
    return found
