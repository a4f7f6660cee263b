"""What of a linearization decides its null space, and the sizes in it, which do not."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.models.families import Family
from normgeo.models.glm import ModelLinearization
from normgeo.normalizers.linearization import Linearization
from normgeo.normalizers.scales import NoScale, Scale


def whole(at: ModelLinearization) -> Linearization:
    """Return the linearization of z, with the words of Eq. 14 where it is the own-neuron one."""
    it = at.normalized
    return it if isinstance(it, Linearization) else it.full


def deciding_scale(at: ModelLinearization, family: Family, weights_only: bool) -> Scale:
    """The scale, or none where it decides nothing.

    A weight scale has become a coordinate. With ε > 0 an averaging scale's dz is an invertible map
    of dC: what it lets through of a re-scaling is small, and not 0.
    """
    it = whole(at)
    seen = family.covariance_diagonal(at.s).all() and (at.gain is None or at.gain.all())
    lets_all_through = it.added > 0 and weights_only and seen and not family.coupled
    return NoScale() if lets_all_through or it.scale.unit_rows(it.point) is not None else it.scale


def saturated(s: Array, family: Family) -> Array:
    """The s of outputs that are certain; of a softmax against the likeliest, which is at 0."""
    return s - s.max(axis=1, keepdims=True) if family.coupled else s


def case_sizes(X: Array) -> Array:
    """Return the size of each case of X (N, D) in units of its features' medians, (N, 1)."""
    seen = np.where(X == 0, np.nan, np.abs(X.astype(np.float64)))
    some = ~np.isnan(seen).all(axis=0)
    if not some.any():
        return np.ones((len(X), 1))
    shares = seen[:, some] / np.nanmedian(seen[:, some], axis=0)
    sizes = np.nan_to_num(shares, nan=0.0).max(axis=1, keepdims=True)
    return np.where(sizes == 0, 1.0, sizes)


def column_sizes(M: Array) -> Array:
    """Return the root mean square of each column, 1 where it is 0."""
    largest = np.abs(M).max(axis=0)
    largest = np.where(largest == 0, 1.0, largest)
    sizes = largest * np.sqrt(((M / largest) ** 2).mean(axis=0))
    return np.where(sizes == 0, 1.0, sizes)
