"""The parts of a linearization that decide its null space."""

from __future__ import annotations

from normgeo.base.arrays import Array
from normgeo.models.families import Family
from normgeo.models.rows import Linearized
from normgeo.normalizers.scales import NoScale, Scale


def deciding_scale(at: Linearized, family: Family, weights_only: bool, saturated: bool) -> Scale:
    """The scale, or no scale if it decides nothing.

    A weight scale has become a coordinate. With ε > 0 an averaging scale maps dC to dz by an
    invertible map: the effect of a re-scaling is small, but not 0.
    """
    part = next(at.parts()).at
    it = part.whole
    seen = not saturated and (part.gain is None or part.gain.all())
    lets_all_through = it.added > 0 and weights_only and seen and not family.coupled
    return NoScale() if lets_all_through or it.scale.unit_rows(it.point) is not None else it.scale


def likeliest_at_zero(s: Array, family: Family) -> Array:
    """Return s of certain outputs; for a softmax, relative to the most likely output."""
    return s - s.max(axis=1, keepdims=True) if family.coupled else s
