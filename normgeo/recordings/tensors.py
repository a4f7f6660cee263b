"""One array of weights in a recording: its blocks, and how far they have turned since a step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from normgeo.base.arguments import whole_number
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.normalizers.blocks import Blocks, dots
from normgeo.normalizers.normalizer import Normalizer
from normgeo.recordings.foreign import viewed
from normgeo.recordings.row_products import row_products

_CHUNK = 2**19  # bytes of weights that are looked at together: what a core keeps near
_NARROWEST = 32  # columns of a part: rows of less are slow to reach


@final
@dataclass(frozen=True)
class Tensor:
    """An array of weights whose rows are neurons, and the norm that stands behind it.

    Attributes:
        name: in the mapping of the weights. shape: as it is there.
        axis: which axis counts the neurons: 0 as PyTorch has it, −1 as Flax has it.
        normalizer: of which the homogeneous blocks and the center are meant.

    """

    name: str
    shape: tuple[int, ...]
    axis: int
    normalizer: Normalizer

    @classmethod
    def of(cls, name: str, values: Any, axis: int, normalizer: Normalizer) -> Tensor:
        """Return what an array is, from one of its kind.

        Raises:
            ValueError: no matrix or convolution of weights, or no split into homogeneous blocks.

        """
        shape = viewed(name, values).shape
        if len(shape) < 2 or 0 in shape:
            raise Refusal(
                text(
                    "Recorded weights are matrices or convolutions, with an axis for the neurons "
                    "and others for what each of them weighs; {name!r} has the shape {shape}. "
                    "Leave it out.",
                    name=name,
                    shape=shape,
                )
            )
        tensor = cls(name, shape, axis, normalizer)
        tensor.blocks  # noqa: B018 - refuses a number of groups that does not split the neurons
        return tensor

    @cached_property
    def blocks(self) -> Blocks:
        """The homogeneous blocks, or where there are none each neuron by itself."""
        return Blocks.of(self.normalizer, self.shape[self.axis])

    @property
    def size(self) -> int:
        """K·D, the weights of a block."""
        return int(np.prod(self.shape)) // len(self.blocks.neurons)

    def matrix(self, values: Any) -> Array:
        """Return an array of this shape as W (H, D), a view of it where it can be one.

        Raises:
            ValueError: another shape, or no numbers.

        """
        array = viewed(self.name, values)
        if array.shape != self.shape:
            raise Refusal(
                text(
                    "The weights of a run keep their shapes; {name!r} had {shape} when the "
                    "recording began and has {now} now. Begin another recording.",
                    name=self.name,
                    shape=self.shape,
                    now=array.shape,
                )
            )
        H = self.shape[self.axis]
        return array.reshape(H, -1) if self.axis == 0 else array.reshape(-1, H).T

    def described(self) -> dict[str, Any]:
        """What a file keeps of it."""
        words = self.normalizer.words
        kept = {"name": self.name, "shape": [*self.shape], "axis": self.axis}
        return kept | {"center": words[0], "scale": words[1], "groups": self.normalizer.groups}

    @classmethod
    def from_description(cls, kept: dict[str, Any]) -> Tensor:
        """Return what `described` was of.

        Raises:
            ValueError, KeyError, TypeError: it was of nothing.

        """
        shape = tuple(whole_number("shape", length, 1) for length in kept["shape"])
        normalizer = Normalizer(kept["center"], kept["scale"], groups=kept["groups"])
        tensor = cls(str(kept["name"]), shape, kept["axis"], normalizer)
        if tensor.axis not in (0, -1) or len(shape) < 2 or not len(tensor.blocks.neurons):
            raise ValueError(kept["axis"])
        return tensor


@final
class Turning:
    """How a tensor's blocks turn from one look to the next: it keeps the weights of the last one.

    A look reads the weights once, and reads and writes the kept ones once, a part at a time.
    """

    def __init__(self, tensor: Tensor) -> None:
        self._tensor, self._blocks = tensor, tensor.blocks
        centering = self._blocks.normalizer.centering
        self._projects = centering.projects_weights
        self._whole_columns = centering.neuron_dimensions_lost > 0  # a mean over neurons
        self._means_at_end = self._whole_columns and self._blocks.homogeneous  # of those of a block
        self._centers_parts = self._projects and not self._means_at_end
        self._kept: Array | None = None
        self._looked = False
        self._mean: Array | None = None  # near the mean row of each group, (G, D), if it is long

    def keep(self, values: Any) -> None:
        """Take weights as those that the next look measures from."""
        W = self._tensor.matrix(values)
        if self._kept is None:
            self._kept = np.empty_like(W, dtype=_precision(W), subok=False)
        np.copyto(self._kept, W)

    def look(self, values: Any) -> tuple[Array, Array, Array]:
        """Return ‖w̃‖, the angle since the kept weights, radians, and ‖Δw̃‖ of each block, (B,).

        The weights are then the kept ones. Without any, angle and ‖Δw̃‖ are NaN.
        """
        W, kept, first = self._tensor.matrix(values), self._kept, self._kept is None
        if kept is None:
            kept = self._kept = np.zeros_like(W, dtype=_precision(W), subok=False)
        with np.errstate(over="ignore", invalid="ignore"):
            if self._means_at_end and not self._looked:
                groups = W.reshape(*self._blocks.neurons.shape, -1)
                self._mean = groups.mean(axis=1, dtype=np.float64)
            squares, products, steps = self._products(W, kept)
            self._looked = True
            norms = np.sqrt(squares)
            if first:
                unknown = np.full_like(norms, np.nan)
                return norms, unknown, unknown
            return norms, _angles(squares, products, steps), np.sqrt(steps)

    def lengths(self, gradients: Any) -> Array:
        """Return ‖G‖ of each block, (B,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            lengths: Array = np.sqrt(self._products(self._tensor.matrix(gradients))[0])
            return lengths

    def _products(self, W: Array, kept: Array | None = None) -> Array:
        """‖w̃‖², w̃·δ and ‖δ‖² of each block, (3, B), where w̃ has changed by δ from what was kept.

        Where a block is a group of K neurons whose mean row is taken off, that is done at the end,

            ‖w̃‖² = Σ‖w_h − m‖² − ‖Σ(w_h − m)‖²/K,

        with a row m near the mean where that is long, so that it takes no digits; else with m = 0.
        """
        blocks, (H, D) = self._blocks.neurons, W.shape
        sums, rests = np.zeros((3, H)), np.zeros((2, len(blocks), D))
        for rows, columns in self._parts(W):
            group = rows.start // blocks.shape[1], columns
            mean = None if self._mean is None or kept is None else self._mean[group]
            w, then = W[rows, columns], None if kept is None else kept[rows, columns]
            found, rest = self._sums(w, then, mean)
            sums[: len(found), rows] += found
            if rest is not None:
                rests[:, *group] += rest
            if then is not None:
                np.copyto(then, w)
        total: Array = sums[:, blocks].sum(axis=-1)
        if self._means_at_end:
            (w, step), K = rests, blocks.shape[1]
            total -= np.array([dots(w, w), dots(w, step), dots(step, step)]) / K
            if kept is not None:
                mean = w / K if self._mean is None else self._mean + w / K
                self._mean = mean if (K * dots(mean, mean) > total[0] / 2).any() else None
        total[[0, 2]] = np.maximum(total[[0, 2]], 0)  # squares, of which rounding may leave less
        return total

    def _sums(self, w: Array, then: Array | None, mean: Array | None) -> tuple[Array, Array | None]:
        """The products of the rows of a part, (1 or 3, h), and the sums of its columns, (2, d).

        They are of single precision for weights that are, where no mean of them comes off first:
        differences are then rounded once, as they would be if stored.
        """
        narrow = w.dtype.itemsize <= 4 and not self._centers_parts
        w = w.astype(np.float32 if narrow else np.float64, copy=False)
        step = rest = None
        if then is not None:  # in the memory of what was kept, which is written over anyway
            place = then if then.dtype == w.dtype else None
            step = self._centered(np.subtract(w, then, out=place))
        if mean is not None:
            w = w - mean.astype(w.dtype)
        if self._means_at_end:
            # Sums down the columns as products with ones, which take a third of the time.
            ones, rest = np.ones(len(w), w.dtype), np.zeros((2, w.shape[1]))
            rest[0] = ones @ w
            if step is not None:
                rest[1] = ones @ step
        w = self._centered(w)
        return row_products(w) if step is None else row_products(w, step), rest

    def _parts(self, W: Array) -> list[tuple[slice, slice]]:
        """Parts of W (H, D), each of one group where its mean row is taken off at the end."""
        H, D = W.shape
        across = self._whole_columns and not self._means_at_end
        along = self._projects and not self._whole_columns
        chunk = _CHUNK // max(W.dtype.itemsize, 4)
        height, width = max(1, chunk // D), D
        if across or (not along and W.strides[0] < W.strides[1]):
            height, width = H, max(_NARROWEST, chunk // H)
        size = self._blocks.neurons.shape[1] if self._means_at_end else H
        return [
            (slice(h, min(h + height, first + size)), slice(d, d + width))
            for first in range(0, H, size)
            for h in range(first, first + size, height)
            for d in range(0, D, width)
        ]

    def _centered(self, part: Array) -> Array:
        if not self._centers_parts:
            return part
        normalizer = self._blocks.normalizer
        groups = normalizer.groups if self._whole_columns else 1
        return normalizer.centering.project_weights(part, groups)


def _precision(W: Array) -> Any:
    return np.float64 if W.dtype.itemsize > 4 else np.float32


def _angles(squares: Array, products: Array, steps: Array) -> Array:
    """The angles from u to w = u + δ, from ‖w‖², w·δ and ‖δ‖²; 0 where u is zero.

    tan θ = √(‖δ‖² − (u·δ)²/‖u‖²) / (‖u‖ + u·δ/‖u‖)
    """
    along = products - steps
    before = np.sqrt(np.maximum(squares - 2 * products + steps, 0))
    radial = along / np.where(before > 0, before, 1)
    across = np.sqrt(np.maximum(steps - radial**2, 0))
    return np.where(before == 0, 0.0, np.arctan2(across, before + radial))
