"""Products of the rows of two arrays, with sums in double precision."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array

_ALONG, _ACROSS = 512, 16
"""Products that are summed in single precision, along a row and where rows stand side by side."""
_LEAST = 1e-28
"""Sums of products of single precision lose digits below it, and overflow above 1/_LEAST."""


def row_products(u: Array, v: Array) -> Array:
    """Return Σ_d u_hd v_hd, (h,), of two arrays (h, d) of single or double precision.

    In single precision the error is a few 1e-7 of ‖u_h‖‖v_h‖ at most, however long the rows are:
    products of a few columns are summed at a time, and these sums in double precision. To widen
    every number first would take about twice as long.

    >>> row_products(np.array([[3.0, 4.0]]), np.array([[1.0, 2.0]]))
    array([11.])

    """
    along = u.strides[0] >= u.strides[1]
    if u.dtype == np.float64:
        return np.asarray(np.vecdot(u, v) if along else np.einsum("hd,hd->h", u, v))
    (h, d), size = u.shape, _ALONG if along else _ACROSS
    whole = d - d % size
    with np.errstate(over="ignore", invalid="ignore"):
        if along:
            parts = [x[:, :whole].reshape(h, -1, size) for x in (u, v)]
            total = np.vecdot(*parts).sum(axis=1, dtype=np.float64)
        else:
            parts = [x.T[:whole].reshape(-1, size, h) for x in (u, v)]
            total = np.einsum("sdh,sdh->sh", *parts).sum(axis=0, dtype=np.float64)
        if whole < d:
            total += np.einsum("hd,hd->h", u[:, whole:], v[:, whole:])
    sizes = np.abs(total)
    if not (sizes.min() > _LEAST and sizes.max() < 1 / _LEAST):
        lost = np.flatnonzero(~((sizes > _LEAST) & (sizes < 1 / _LEAST)))
        lost = lost[u[lost].any(axis=1) & v[lost].any(axis=1)]
        total[lost] = np.einsum("hd,hd->h", u[lost].astype(np.float64), v[lost].astype(np.float64))
    found: Array = total
    return found
