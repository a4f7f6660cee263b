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

_CHUNK = 16_384  # weights that are looked at together: what a core keeps near
_NARROWEST = 64  # columns of a part: rows of less are slow to reach


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
        self._kept: Array | None = None
        self._mean: Array | None = None  # near the mean row of each group, (G, D)

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
            if self._means_at_end and self._mean is None:
                groups = W.reshape(*self._blocks.neurons.shape, -1)
                self._mean = groups.mean(axis=1, dtype=np.float64)
            squares, products, steps = self._products(W, kept)
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

        with a row m near the mean, so that it takes no digits; of gradients the mean is near 0.
        """
        blocks, (H, D) = self._blocks.neurons, W.shape
        sums, rests = np.zeros((3, H)), np.zeros((2, len(blocks), D))
        for part in self._parts(W):
            group = part[0].start // blocks.shape[1], part[1]
            w = W[part].astype(np.float64)
            step = np.zeros_like(w) if kept is None else self._centered(w - kept[part])
            if kept is not None:
                kept[part] = w
            if self._means_at_end:
                if kept is not None and self._mean is not None:
                    w -= self._mean[group]
                rests[0][group] += w.sum(axis=0)
                rests[1][group] += step.sum(axis=0)
            w = self._centered(w)
            for total, (u, v) in zip(sums, ((w, w), (w, step), (step, step)), strict=True):
                total[part[0]] += np.einsum("hd,hd->h", u, v)
        found: Array = sums[:, blocks].sum(axis=-1)
        if self._means_at_end:
            w, step = rests
            found -= np.array([dots(w, w), dots(w, step), dots(step, step)]) / blocks.shape[1]
            if kept is not None and self._mean is not None:
                self._mean += w / blocks.shape[1]
        found[[0, 2]] = np.maximum(found[[0, 2]], 0)  # squares, of which rounding may leave less
        return found

    @property
    def _whole_columns(self) -> bool:
        """Whether the center takes a mean over neurons."""
        return bool(self._blocks.normalizer.centering.neuron_dimensions_lost)

    @property
    def _means_at_end(self) -> bool:
        """Whether that mean is of the neurons of a block."""
        return self._whole_columns and self._blocks.homogeneous

    def _parts(self, W: Array) -> list[tuple[slice, slice]]:
        """Parts of W (H, D), each of one group where its mean row is taken off at the end."""
        H, D = W.shape
        across = self._whole_columns and not self._means_at_end
        along = self._blocks.normalizer.centering.projects_weights and not self._whole_columns
        height, width = max(1, _CHUNK // D), D
        if across or (not along and W.strides[0] < W.strides[1]):
            height, width = H, max(_NARROWEST, _CHUNK // H)
        size = self._blocks.neurons.shape[1] if self._means_at_end else H
        return [
            (slice(h, min(h + height, first + size)), slice(d, d + width))
            for first in range(0, H, size)
            for h in range(first, first + size, height)
            for d in range(0, D, width)
        ]

    def _centered(self, part: Array) -> Array:
        if self._means_at_end:
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
