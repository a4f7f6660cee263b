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
from normgeo.normalizers.blocks import Blocks
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
        W, sums = self._tensor.matrix(values), np.zeros((3, self._blocks.neurons.size))
        first, kept = self._kept is None, self._kept
        if kept is None:
            kept = np.zeros_like(W, dtype=_precision(W), subok=False)
        with np.errstate(over="ignore", invalid="ignore"):
            for part in self._parts(W):
                w = W[part].astype(np.float64)
                step = self._centered(w - kept[part])
                kept[part] = w
                w = self._centered(w)
                sums[0, part[0]] += np.einsum("hd,hd->h", w, w)
                sums[1, part[0]] += np.einsum("hd,hd->h", w, step)
                sums[2, part[0]] += np.einsum("hd,hd->h", step, step)
            self._kept = kept
            squares, products, steps = sums[:, self._blocks.neurons].sum(axis=-1)
            norms = np.sqrt(squares)
            if first:
                unknown = np.full_like(norms, np.nan)
                return norms, unknown, unknown
            return norms, _angles(squares, products, steps), np.sqrt(steps)

    def lengths(self, gradients: Any) -> Array:
        """Return ‖G‖ of each block, (B,)."""
        G, squares = self._tensor.matrix(gradients), np.zeros(self._blocks.neurons.size)
        with np.errstate(over="ignore", invalid="ignore"):
            for part in self._parts(G):
                g = self._centered(G[part].astype(np.float64))
                squares[part[0]] += np.einsum("hd,hd->h", g, g)
            lengths: Array = np.sqrt(squares[self._blocks.neurons].sum(axis=-1))
            return lengths

    @property
    def _whole_columns(self) -> bool:
        """Whether the center takes a mean over neurons, so that a part must hold all of them."""
        return bool(self._blocks.normalizer.centering.neuron_dimensions_lost)

    def _parts(self, W: Array) -> list[tuple[slice, slice]]:
        """Parts of W (H, D) that its center can be taken off one by one."""
        H, D = W.shape
        whole_rows = self._blocks.normalizer.centering.projects_weights and not self._whole_columns
        if self._whole_columns or (not whole_rows and W.strides[0] < W.strides[1]):
            width = max(_NARROWEST, _CHUNK // H)
            return [(slice(0, H), slice(d, d + width)) for d in range(0, D, width)]
        height = max(1, _CHUNK // D)
        return [(slice(h, h + height), slice(0, D)) for h in range(0, H, height)]

    def _centered(self, part: Array) -> Array:
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
