"""A norm over images, z = (a − μ)/σ of an array (N, C, P), and its derivative.

Which entries share a statistic is a `Sharing`: one channel over the cases and places (batch), one
case over the channels and places (layer), a group of channels of a case, or one channel of it
(instance). Each becomes a row whose mean and mean square are taken, so the derivative is that of a
layer scale over the entries of a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.normalizers.means import mean_along, without
from normgeo.normalizers.scales import SCALES, ScalePoint
from normgeo.normalizers.shared_statistics import Sharing
from normgeo.normalizers.statistic import group_size

SCALE = SCALES["layer"]


class Moments(NamedTuple):
    """μ and σ of rows, (rows, 1) each."""

    mean: Array
    sigma: Array


@final
@dataclass(frozen=True)
class SharedNorm:
    """A norm over images.

    Attributes:
        sharing: who shares a statistic, None for no norm. groups: G, into which the channels are
            split, for a sharing that takes them. eps: ε.

    """

    sharing: Sharing | None
    groups: int = 1
    eps: float = 1e-5

    @property
    def title(self) -> str:
        """Its name."""
        return text("no norm") if self.sharing is None else self.sharing.title

    @property
    def shared_by_cases(self) -> bool:
        """Whether the cases of a batch share its statistics."""
        return self.sharing is not None and not self.sharing.within_case

    def normalize(self, A: Array, known: Moments | None = None) -> Normalized:
        """Return z of A (N, C, P); with `known` moments, as at test time, where cases share them.

        Raises:
            ValueError: a statistic of a single entry, or groups that do not divide the channels.

        """
        if self.sharing is None:
            return Normalized(self, A, A[:0], None)
        rows = self._rows(A)
        if rows.shape[1] == 1:
            raise Refusal(
                text(
                    "Here {name} averages over a single entry, which is its own mean. Use more "
                    "cases, channels or places.",
                    name=self.title,
                )
            )
        if known is None or not self.shared_by_cases:
            C = without(rows, lambda M: mean_along(M, -1))
            known = Moments(mean_along(rows, -1), SCALE.deviation(C, C, 1, self.eps))
        else:
            C = rows - known.mean
        z = C / known.sigma
        return Normalized(self, self._entries(z, A.shape), z, known)

    def _rows(self, A: Array) -> Array:
        """A row for each statistic."""
        N, C, P = A.shape
        G = self._groups(C)
        blocks = A.reshape(N, G, C // G * P)
        if self.shared_by_cases:
            return blocks.swapaxes(0, 1).reshape(G, -1)
        return blocks.reshape(N * G, -1)

    def _entries(self, rows: Array, shape: tuple[int, ...]) -> Array:
        """The reverse of `_rows`."""
        N, C, P = shape
        G = self._groups(C)
        if self.shared_by_cases:
            return rows.reshape(G, N, C // G * P).swapaxes(0, 1).reshape(shape)
        return rows.reshape(shape)

    def _groups(self, channels: int) -> int:
        if self.sharing is None or self.sharing.channels_apart:
            return channels
        return channels // group_size(channels, self.groups)


@final
@dataclass(frozen=True, eq=False)
class Normalized:
    """What a norm made of A.

    Attributes:
        norm: it. z: (N, C, P). rows: the same, a row for each statistic.
        moments: μ and σ of the rows, None without a norm.

    """

    norm: SharedNorm
    z: Array
    rows: Array
    moments: Moments | None

    def vjp(self, U: Array) -> Array:
        """Return what takes a gradient in z, U (N, C, P), to that in A, with current statistics."""
        if self.moments is None:
            return U
        at = ScalePoint(self.rows, self.moments.sigma, self.rows, 1)
        R, _ = SCALE.adjoint(self.norm._rows(U), at)
        return self.norm._entries(R - mean_along(R, -1), U.shape)
