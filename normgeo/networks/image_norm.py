"""A norm over images, z = (a − μ)/σ of an array (N, C, P), and its derivative.

Which entries share a statistic is a `Sharing`: one channel over cases and positions (batch), one
case over channels and positions (layer), a group of channels of a case, or one channel of a case
(instance). Each set becomes a row with a mean and a mean square, so the derivative is that of a
layer scale over the entries of a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import entry_of, instance_of, real_number, whole_number
from normgeo.base.arrays import Array
from normgeo.base.constant import Constant
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.networks.parameters import of_shape
from normgeo.normalizers.means import mean_along, without
from normgeo.normalizers.scales import SCALES, ScalePoint
from normgeo.normalizers.shared_statistics import SHARINGS, Sharing
from normgeo.normalizers.statistic import group_size

SCALE = SCALES["layer"]


class Moments(NamedTuple):
    """μ and σ of rows, (rows, 1) each."""

    mean: Array
    sigma: Array


@final
@dataclass(init=False, unsafe_hash=True)
class ImageNorm(Constant):
    """A norm over images, z = (a − μ)/√(σ² + ε) of an array (N, C, P).

    Attributes:
        sharing: which entries share μ and σ: "batch", "layer", "instance" or "group"; None for no
            norm. groups: G, the number of groups of channels, for group norm only.
        eps: ε ≥ 0.

    Raises:
        ValueError: an unknown sharing, or groups with a sharing that has none.

    Source: Wu and He, Group Normalization, 2018, Fig. 2.

    >>> ImageNorm("instance", eps=0).normalize([[[1.0, 3.0]]]).z
    array([[[-1.,  1.]]])

    """

    sharing: Final[Sharing | None]
    groups: Final[int]
    eps: Final[float]

    def __init__(self, sharing: Sharing | str | None, groups: int = 1, eps: float = 1e-5) -> None:
        """Take the sharing as a key or as a `Sharing`."""
        chosen = None if sharing is None else entry_of("sharing", sharing, SHARINGS, Sharing)
        self.sharing, self.eps = chosen, real_number("eps", eps, least=0)
        self.groups = whole_number("groups", groups, 1)
        if self.groups != 1 and (chosen is None or not chosen.takes_groups):
            raise Refusal(
                "`groups` splits the channels for group norm; got groups={groups} for {name}. "
                "Use groups=1 or group norm.",
                groups=self.groups,
                name=self.title,
            )

    @property
    def title(self) -> str:
        """Its name."""
        return text("no norm") if self.sharing is None else self.sharing.title

    @property
    def shared_by_cases(self) -> bool:
        """Whether the cases of a batch share statistics."""
        return self.sharing is not None and not self.sharing.within_case

    def normalize(self, A: ArrayLike, known: Moments | None = None) -> Normalized:
        """Return z of A (N, C, P); `known` moments replace those that cases share, as at test time.

        Raises:
            ValueError: bad numbers, a statistic of a single entry or of equal ones, groups that do
                not divide the channels, or `known` moments of other channels.

        """
        A = of_shape("A", A, None, None, None)
        if known is not None:
            instance_of("known", known, Moments)
        if self.sharing is None:
            return Normalized(self, A, A[:0], None)
        rows = self._rows(A)
        if rows.shape[1] == 1:
            raise Refusal(
                "Here {name} averages over a single entry, which is its own mean. Use more "
                "cases, channels or places.",
                name=self.title,
            )
        with np.errstate(all="ignore"):
            if known is None or not self.shared_by_cases:
                C = without(rows, lambda M: mean_along(M, -1))
                known = Moments(mean_along(rows, -1), SCALE.deviation(C, C, 1, self.eps))
            else:
                known = Moments(*(of_shape("known", part, len(rows), 1) for part in known))
                C = rows - known.mean
            z = C / known.sigma
        if not all(np.isfinite(part).all() for part in (z, *known)):
            raise Refusal(
                "Here {name} has no z: a variance is 0, as of equal entries, or exceeds the "
                "largest float. Use an `eps` above 0, or smaller numbers.",
                name=self.title,
            )
        return Normalized(self, self._entries(z, A.shape), z, known)

    def _rows(self, A: Array) -> Array:
        """Reshape to one row per statistic."""
        N, C, P = A.shape
        G = self._groups(C)
        blocks = A.reshape(N, G, C // G * P)
        if self.shared_by_cases:
            return blocks.swapaxes(0, 1).reshape(G, -1)
        return blocks.reshape(N * G, -1)

    def _entries(self, rows: Array, shape: tuple[int, ...]) -> Array:
        """The inverse of `_rows`."""
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
    """A normalized array, and what its derivative needs.

    Attributes:
        norm: the norm. z: (N, C, P). rows: z with one row per statistic.
        moments: μ and σ of the rows, None without a norm.

    """

    norm: ImageNorm
    z: Array
    rows: Array
    moments: Moments | None

    def vjp(self, U: Array) -> Array:
        """Map a gradient in z, U (N, C, P), to that in A, with current statistics."""
        if self.moments is None:
            return U
        at = ScalePoint(self.rows, self.moments.sigma, self.rows, 1)
        R, _ = SCALE.adjoint(self.norm._rows(U), at)
        return self.norm._entries(R - mean_along(R, -1), U.shape)


def norms(groups: int = 2, eps: float = 1e-5) -> dict[str, ImageNorm]:
    """Return the norms over images, by key; the first is none."""
    return {"without": ImageNorm(None)} | {
        key: ImageNorm(sharing, groups if sharing.takes_groups else 1, eps)
        for key, sharing in SHARINGS.items()
    }
