"""What a kernel of a convolution sees of images: windows at a stride, with padding and dilation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any, final

import numpy as np

from normgeo.base.arguments import digits, whole_number, whole_numbers
from normgeo.base.arrays import Array, require_room
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.weights import Arrangement

Counts = int | Iterable[int]
"""One whole number for all axes of an image, or one for each."""

SAME = "same"
"""The padding that leaves ⌈n/stride⌉ places of n, as JAX has it: the odd zero comes last."""


@final
@dataclass(frozen=True)
class Sliding:
    """How a kernel moves over images: one number for all axes, or one for each.

    Attributes:
        stride: between places. padding: zeros at each end, None for SAME. dilation: between the
            pixels of a window.

    """

    stride: tuple[int, ...] = (1,)
    padding: tuple[int, ...] | None = (0,)
    dilation: tuple[int, ...] = (1,)

    @classmethod
    def of(cls, stride: Counts = 1, padding: Counts | str = 0, dilation: Counts = 1) -> Sliding:
        """Check the arguments: one number each, or several, or "same" for the padding.

        Raises:
            ValueError: other numbers or words.

        """
        same = isinstance(padding, str) and padding == SAME
        return cls(
            _counts("stride", stride, 1),
            None if same else _counts("padding", padding, 0),
            _counts("dilation", dilation, 1),
        )

    def __str__(self) -> str:
        """Say it in a few words."""
        padding = text("same") if self.padding is None else _shown(self.padding)
        return text(
            "stride {stride}, padding {padding}, dilation {dilation}",
            stride=_shown(self.stride),
            padding=padding,
            dilation=_shown(self.dilation),
        )

    def windows(self, images: Array, how: Arrangement) -> Array:
        """Return every window of images (N, C, rows, columns) as a case, (windows, features).

        A batch statistic over these rows is one over the cases and positions of each channel. A
        window has all channels, also for a convolution in groups.

        Raises:
            ValueError: weights that are no convolution of such images.

        """
        kernel, channels = how.kernel, images.shape[1]
        axes = tuple(range(2, 2 + len(kernel)))
        if images.ndim != 2 + len(kernel) or not how.groups(channels):
            raise _refused(images, how)
        stride = _for_axes("stride", self.stride, kernel)
        dilation = _for_axes("dilation", self.dilation, kernel)
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
        images = np.pad(images, [(0, 0), (0, 0), *self._ends(images.shape[2:], reach, stride)])
        if any(n < k for n, k in zip(images.shape[2:], reach, strict=True)):
            raise _refused(images, how)
        seen = np.lib.stride_tricks.sliding_window_view(images, reach, axis=axes)
        places, pixels = (tuple(slice(None, None, n) for n in ns) for ns in (stride, dilation))
        seen = seen[:, :, *places, *pixels]
        require_room(text("The windows of the images"), *seen.shape)
        return np.moveaxis(seen, 1, 1 + len(kernel)).reshape(-1, channels * prod(kernel))

    def _ends(
        self, sizes: tuple[int, ...], reach: list[int], stride: tuple[int, ...]
    ) -> list[tuple[int, int]]:
        """The zeros before and after each axis."""
        if self.padding is not None:
            return [(n, n) for n in _for_axes("padding", self.padding, sizes)]
        each = zip(sizes, reach, stride, strict=True)
        total = [max(0, (-(-n // s) - 1) * s + k - n) for n, k, s in each]
        return [(n // 2, n - n // 2) for n in total]


ONE_BY_ONE = Sliding()
"""Stride 1, without padding or dilation."""


def typed(word: str) -> Any:
    """Parse numbers with commas between them; return any other word as it is.

    >>> typed("2,1"), typed("same")
    ((2, 1), 'same')

    """
    numbers = tuple(digits(part.strip()) for part in word.split(","))
    return word if None in numbers else numbers


def _counts(name: str, value: object, least: int) -> tuple[int, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (whole_number(name, value, least),)
    return whole_numbers(name, value, least)


def _for_axes(name: str, counts: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    if len(counts) not in {1, len(axes)}:
        raise Refusal(
            "`{name}` must be one number, or one for each of the {count} axes of a kernel; "
            "got {given!s}.",
            name=name,
            count=len(axes),
            given=_shown(counts),
        )
    return counts if len(counts) == len(axes) else counts * len(axes)


def _shown(counts: tuple[int, ...]) -> str:
    return " × ".join(map(str, counts))


def _refused(images: Array, how: Arrangement) -> Refusal:
    return Refusal(
        "Images of a convolution must have shape (N, C, rows, columns) with the {channels} "
        "channels of its kernel, or a multiple of them, in as many groups as divide its "
        "neurons; and with their padding be no smaller than it; got {images} for weights of "
        "shape {weights}.",
        channels=how.channels,
        images=images.shape,
        weights=how.tensor,
    )
