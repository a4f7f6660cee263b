"""The numbers that show a "no" on a blackboard: both sides of a change that changes z, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, final

from normgeo.base.arrays import Array
from normgeo.invariance.certificate import Parameters
from normgeo.invariance.transforms import Transform
from normgeo.normalizers.normalizer import Normalizer


class Side(NamedTuple):
    """One side of a witness, before or after the change.

    Attributes:
        W, X: (H, D) and (N, D). C, v: a − μ (N, H) and σ², which broadcasts against it.

    """

    W: Array
    X: Array
    C: Array
    v: Array


@final
@dataclass(frozen=True, eq=False)
class Witness:
    """The smallest integers at which a change changes |z|; every number is a `Fraction`.

    Attributes:
        normalizer, transform: of the witness.
        parameters: δ = 2 or γ, and the row if only one changes.
        before, after: W, X, C and v.
        place: the first entry (n, h) at which |z'| ≠ |z|. z_squared, z_squared_after: c²/v there.

    """

    normalizer: Normalizer
    transform: Transform
    parameters: Parameters
    before: Side
    after: Side
    place: tuple[int, int]
    z_squared: Fraction
    z_squared_after: Fraction
