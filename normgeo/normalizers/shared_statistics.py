"""Which entries of an array share a mean and a variance, method by method.

    batch     every case, one channel           one statistic for each channel
    layer     one case, every channel           one for each case
    instance  one case, one channel             one for each case and channel
    group     one case, the channels of a group one for each case and group

An array is (N, C), or (N, C, R, …) with positions, images for example, whose entries always share
the statistic. With the channels split into groups all four are one rule, "average over a group and
its positions, within a case or over all of them", and differ in the number of groups.
Source: Wu and He, Group Normalization, 2018, Fig. 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import whole_number, word_of
from normgeo.base.arrays import Array, real_array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.normalizers.means import without
from normgeo.normalizers.statistic import group_size


@final
@dataclass(frozen=True)
class Sharing:
    """A method as a rule about which entries share a statistic.

    Attributes:
        key, title: its names. rule: which entries share a statistic, in words.
        within_case: whether each case has its own statistic.
        channels_apart: whether each channel is its own group.
        takes_groups: whether the number of groups is free; otherwise all channels form one group,
            or each its own.

    """

    key: str
    title: str
    rule: str
    within_case: bool
    channels_apart: bool
    takes_groups: bool = False


SHARINGS: dict[str, Sharing] = {
    sharing.key: sharing
    for sharing in (
        Sharing(
            "batch",
            text("batch norm"),
            text("one channel, over the cases"),
            within_case=False,
            channels_apart=True,
        ),
        Sharing(
            "layer",
            text("layer norm"),
            text("one case, over the channels"),
            within_case=True,
            channels_apart=False,
        ),
        Sharing(
            "instance",
            text("instance norm"),
            text("one case, one channel"),
            within_case=True,
            channels_apart=True,
        ),
        Sharing(
            "group",
            text("group norm"),
            text("one case, a group of channels"),
            within_case=True,
            channels_apart=False,
            takes_groups=True,
        ),
    )
}


class Entry(NamedTuple):
    """z = (a − μ)/σ of one entry of an array; z is None if σ vanishes."""

    a: float
    mu: float
    sigma: float
    z: float | None


@final
@dataclass(frozen=True, eq=False)
class Statistics:
    """The statistics of one method on one array.

    Attributes:
        sharing: the method. groups: G, into which the channels are split.
        values: the array, (N, C, …).
        labels: the statistic of each entry, from 0, of the shape of `values`.
        axes: of the statistics: some of "cases", "channels" and "groups".
        entries: the number of entries that share each statistic.
        mean, sigma: μ and σ, of the shape `axes` names, as (N,), (C,), (N, C) or (N, G).
        z: (values − μ)/σ, 0 where σ vanishes, of the shape of `values`.
        problem: why z is meaningless, in part or at all; "" if it is not.

    """

    sharing: Sharing
    groups: int
    values: Array
    labels: Array
    axes: tuple[str, ...]
    entries: int
    mean: Array
    sigma: Array
    z: Array
    problem: str

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of μ and of σ: the number of statistics along each of `axes`."""
        shape: tuple[int, ...] = self.mean.shape
        return shape

    def at(self, place: tuple[int, ...]) -> Entry:
        """Return Eq. 5 at one entry, in numbers."""
        own = np.unravel_index(self.labels[place], self.shape)
        mean, sigma = float(self.mean[own]), float(self.sigma[own])
        z = float(self.z[place]) if sigma else None
        return Entry(float(self.values[place]), mean, sigma, z)


def shared_statistics(key: str, values: ArrayLike, groups: int = 1) -> Statistics:
    """Return the mean, the scale and the sharing of one method on an array.

    Args:
        key: one of SHARINGS. values: (N, C) or (N, C, R, …), finite.
        groups: G equal groups of channels, only for group norm.

    Raises:
        ValueError: an unknown key, fewer than 2 axes, bad numbers, groups that do not divide the
            channels, or groups for a method without any.

    >>> shared_statistics("layer", [[1.0, 3.0], [2.0, 6.0]]).mean
    array([2., 4.])
    >>> shared_statistics("batch", [[1.0, 3.0], [2.0, 6.0]]).labels
    array([[0, 1],
           [0, 1]])

    """
    sharing = SHARINGS[word_of("key", key, SHARINGS)]
    array = real_array("values", values, 0, 32).astype(np.float64)
    if array.ndim < 2:
        raise Refusal(
            "`values` must have cases and channels, (N, C), and may have positions, "
            "(N, C, R, …); got an array of shape {shape}.",
            shape=array.shape,
        )
    whole_number("groups", groups, 1, by_type=True)
    if groups != 1 and not sharing.takes_groups:
        raise Refusal(
            "`groups` splits the channels for group norm; got groups={groups} for {name}. "
            "Use groups=1 or group norm.",
            groups=groups,
            name=sharing.title,
        )
    N, C = array.shape[:2]
    G = C if sharing.channels_apart else groups
    blocks = array.reshape(N, G, group_size(C, G), -1)
    over = (2, 3) if sharing.within_case else (0, 2, 3)
    size = np.abs(blocks).max(axis=over, keepdims=True)
    # In units of a power of two near the largest value, squares neither overflow nor underflow.
    exponent = np.frexp(size)[1]
    centered = without(np.ldexp(blocks, -exponent), lambda M: M.mean(axis=over, keepdims=True))
    deviation = np.sqrt((centered * centered).mean(axis=over, keepdims=True))
    mean = np.ldexp(np.ldexp(blocks, -exponent).mean(axis=over, keepdims=True), exponent)
    # σ of equal numbers is their rounding, not always 0.
    entries = blocks.size // mean.size
    vanishes = deviation <= entries * np.finfo(np.float64).eps / 2
    z = np.where(vanishes, 0.0, centered / np.where(vanishes, 1.0, deviation))
    sigma = np.ldexp(deviation, exponent)
    labels = np.broadcast_to(np.arange(mean.size).reshape(mean.shape), blocks.shape)
    kept = [("cases", N)] if sharing.within_case else []
    if sharing.channels_apart:
        kept.append(("channels", C))
    elif sharing.takes_groups:
        kept.append(("groups", G))
    shape = tuple(length for _, length in kept)
    return Statistics(
        sharing,
        G,
        array,
        labels.reshape(array.shape),
        tuple(axis for axis, _ in kept),
        entries,
        mean.reshape(shape),
        np.where(vanishes, 0.0, sigma).reshape(shape),
        z.reshape(array.shape),
        _problem(sharing, entries, int(vanishes.sum()), mean.size),
    )


def _problem(sharing: Sharing, entries: int, vanishing: int, count: int) -> str:
    if entries == 1:
        return text(
            "Here {name} averages over a single entry, which is its own mean: σ = 0, and nothing "
            "is left to normalize. Use more cases, channels or positions.",
            name=sharing.title,
        )
    if vanishing:
        return text(
            "σ = 0 in {vanishing} of {count} statistics of {name}, where all entries that share "
            "it are equal. Their z is left at 0.",
            vanishing=vanishing,
            count=count,
            name=sharing.title,
        )
    return ""


FILTERS: dict[str, tuple[tuple[int, ...], ...]] = {
    "blur": ((1, 1, 1), (1, 1, 1), (1, 1, 1)),
    "upright edges": ((-1, 0, 1), (-1, 0, 1), (-1, 0, 1)),
    "level edges": ((-1, -1, -1), (0, 0, 0), (1, 1, 1)),
    "spots": ((-1, -1, -1), (-1, 8, -1), (-1, -1, -1)),
}
"""Small filters that make channels from gray images."""


def feature_maps(images: ArrayLike) -> Array:
    """Return images (N, R, S) filtered by each of FILTERS, (N, 4, R − 2, S − 2).

    Raises:
        ValueError: images smaller than a filter, 3 × 3.

    """
    pixels = real_array("images", images, 3)
    if min(pixels.shape[1:]) < 3:
        raise Refusal(
            "Images must be at least as large as the filters, 3 × 3; got {height} × {width} "
            "pixels.",
            height=pixels.shape[1],
            width=pixels.shape[2],
        )
    windows = np.lib.stride_tricks.sliding_window_view(pixels, (3, 3), axis=(1, 2))
    maps: Array = np.einsum("nrsij,cij->ncrs", windows, np.array(list(FILTERS.values())))
    return maps
