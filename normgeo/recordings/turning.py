"""Angular updates of the blocks of recorded weights, from one measurement to the next."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.normalizers.blocks import dots
from normgeo.recordings.foreign import GRADIENTS, WEIGHTS
from normgeo.recordings.row_products import row_products
from normgeo.recordings.tensors import Tensor

_CHUNK = 2**19  # bytes of weights that are measured together, to fit into a core's cache
_SHORTEST = 1e-140  # range of ‖w̃‖ whose square keeps its digits
_NARROWEST = 32  # least columns of a part: shorter rows are slow to read


class Look(NamedTuple):
    """A measurement of each block of weights, (B,); NaN for an unknown number.

    Attributes:
        norms: ‖w̃‖. angles: radians, since the kept weights. steps: ‖Δw̃‖ since the kept weights.
        before: ‖w̃‖ of the kept weights.

    """

    norms: Array
    angles: Array
    steps: Array
    before: Array

    def times(self, powers: Array) -> Look:
        """The measurement of weights that are 2^p times as long."""
        norms, steps, before = (np.ldexp(x, powers) for x in (self.norms, self.steps, self.before))
        return Look(norms, self.angles, steps, before)


@final
class Turning:
    """Measures the angular updates of a tensor's blocks; it keeps the weights of the last step.

    A measurement reads the weights once, and reads and writes the kept ones once, part by part.
    """

    def __init__(self, tensor: Tensor) -> None:
        self.tensor, self._blocks = tensor, tensor.blocks
        of_bias = tensor.of_bias
        self._bias = None if of_bias is None else Turning(of_bias)
        self._is_extreme = False
        centering = self._blocks.normalizer.centering
        self._projects = centering.projects_weights
        self._whole_columns = centering.neuron_dimensions_lost > 0  # a mean over neurons
        self._means_at_end = self._whole_columns and self._blocks.homogeneous  # of those of a block
        self._centers_parts = self._projects and not self._means_at_end
        self._kept: Array | None = None
        self._looked = False
        self._mean: Array | None = (
            None  # an estimate of the mean row of each group, (G, D), if that is long
        )

    def keep(self, values: Any, bias: Any = None) -> None:
        """Keep weights, from which the next measurement starts."""
        self._keep(*self._matrices(values, bias))

    def look(self, values: Any, bias: Any = None) -> Look:
        """Return the norms of the weights and their change since the kept ones; then keep these.

        Without kept weights, only ‖w̃‖ is known. The same holds at the one measurement at which a
        block leaves the range in which squares of floats keep their digits.
        """
        W, b = self._matrices(values, bias)
        if self._is_extreme and self._kept is not None:
            powers = np.maximum(self._powers(W, b), self._powers(*self._kept_ones))
            scaled = Turning(self.tensor)
            scaled._keep(*self._scaled(powers, *self._kept_ones))
            look = scaled._look(*self._scaled(powers, W, b)).times(powers)
            self._keep(W, b)
            self._is_extreme = self._extreme(look.norms, W, b)
            return look
        look = self._look(W, b)
        self._is_extreme = self._extreme(look.norms, W, b)
        if not self._is_extreme:
            return look
        unknown = np.full_like(look.norms, np.nan)
        return Look(self._scaled_lengths(W, b), unknown, unknown, unknown)

    def lengths(self, gradients: Any, bias: Any = None) -> Array:
        """Return ‖G‖ of each block, (B,)."""
        G = self._matrices(gradients, bias, GRADIENTS)
        lengths = self._lengths(*G)
        return self._scaled_lengths(*G) if self._extreme(lengths, *G) else lengths

    def _matrices(self, values: Any, bias: Any, what: str = WEIGHTS) -> tuple[Array, Array | None]:
        """W (H, D), and the bias (H, 1) if there is one."""
        W = self.tensor.matrix(values, what)
        return W, None if self._bias is None else self._bias.tensor.matrix(bias, what)

    @property
    def _kept_ones(self) -> tuple[Array, Array | None]:
        assert self._kept is not None  # noqa: S101 - asked for after a look alone
        return self._kept, None if self._bias is None else self._bias._kept

    def _keep(self, W: Array, b: Array | None) -> None:
        if self._kept is None:
            self._kept = np.empty_like(W, dtype=_precision(W), subok=False)
        np.copyto(self._kept, W)
        if self._bias is not None and b is not None:
            self._bias._keep(b, None)

    def _look(self, W: Array, b: Array | None) -> Look:
        first = self._kept is None
        with np.errstate(over="ignore", invalid="ignore"):
            products = self._change(W)
            if self._bias is not None and b is not None:
                products = products + self._bias._change(b)
            norms, before = np.sqrt(products[0]), _before(*products)
            if first:
                unknown = np.full_like(norms, np.nan)
                return Look(norms, unknown, unknown, unknown)
            return Look(norms, _angles(*products), np.sqrt(products[2]), before)

    def _change(self, W: Array) -> Array:
        """The products with the kept weights, which W then replaces."""
        if self._kept is None:
            self._kept = np.zeros_like(W, dtype=_precision(W), subok=False)
        if self._means_at_end and not self._looked:
            groups = W.reshape(*self._blocks.neurons.shape, -1)
            self._mean = groups.mean(axis=1, dtype=np.float64)
        products = self._products(W, self._kept)
        self._looked = True
        return products

    def _lengths(self, W: Array, b: Array | None) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            squares = self._products(W)[0]
            if self._bias is not None and b is not None:
                squares = squares + self._bias._products(b)[0]
            lengths: Array = np.sqrt(squares)
            return lengths

    def _scaled_lengths(self, W: Array, b: Array | None) -> Array:
        powers = self._powers(W, b)
        lengths: Array = np.ldexp(self._lengths(*self._scaled(powers, W, b)), powers)
        return lengths

    def _extreme(self, norms: Array, W: Array, b: Array | None) -> bool:
        """Whether squares of finite weights overflow, or lose digits to underflow."""
        outside = ~((norms > _SHORTEST) & (norms < 1 / _SHORTEST)) & ~np.isnan(norms)
        if not outside.any():
            return False
        rows = self._blocks.neurons[outside].ravel()
        parts = [M[rows] for M in (W, b) if M is not None]
        return any(M.any() for M in parts) and all(np.isfinite(M).all() for M in parts)

    def _powers(self, W: Array, b: Array | None) -> Array:
        """The powers of two that scale the largest weight of each block to order one, (B,)."""
        largest = np.zeros(len(self._blocks.neurons))
        for M in (W, b):
            if M is not None:
                rows = np.abs(M).max(axis=1).astype(np.float64)
                largest = np.maximum(largest, rows[self._blocks.neurons].max(axis=1))
        powers: Array = np.frexp(largest)[1]
        return powers

    def _scaled(self, powers: Array, W: Array, b: Array | None) -> tuple[Array, Array | None]:
        """The weights of each block over its power of two, in double precision."""
        of_rows = np.empty((len(W), 1), dtype=int)
        of_rows[self._blocks.neurons] = powers[:, None, None]
        with np.errstate(under="ignore"):
            scaled = [
                None if M is None else np.ldexp(M.astype(np.float64), -of_rows) for M in (W, b)
            ]
        return np.asarray(scaled[0]), scaled[1]

    def _products(self, W: Array, kept: Array | None = None) -> Array:
        """‖w̃‖², w̃·δ and ‖δ‖² of each block, (3, B), where w̃ has changed by δ from what was kept.

        Where a block is a group of K neurons whose mean row is taken off, that is done at the end,

            ‖w̃‖² = Σ‖w_h − m‖² − ‖Σ(w_h − m)‖²/K,

        with a row m near the mean where that is long, so that it takes no digits; else with m = 0.
        """
        blocks, (H, D) = self._blocks.neurons, W.shape
        sums = np.zeros((3, H))
        rests = np.zeros((2, len(blocks), D)) if self._means_at_end else None
        for rows, columns in self._parts(W):
            group = rows.start // blocks.shape[1], columns
            mean = None if self._mean is None or kept is None else self._mean[group]
            w, then = W[rows, columns], None if kept is None else kept[rows, columns]
            found, rest = self._sums(w, then, mean)
            sums[: len(found), rows] += found
            if rests is not None and rest is not None:
                rests[:, *group] += rest
            if then is not None:
                np.copyto(then, w)
        total: Array = sums[:, blocks].sum(axis=-1)
        if rests is not None:
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


def _before(squares: Array, products: Array, steps: Array) -> Array:
    """‖u‖ of u = w − δ, from ‖w‖², w·δ and ‖δ‖²."""
    norms: Array = np.sqrt(np.maximum(squares - 2 * products + steps, 0))
    return norms


def _angles(squares: Array, products: Array, steps: Array) -> Array:
    """The angles from u to w = u + δ, from ‖w‖², w·δ and ‖δ‖²; 0 where u is zero.

    tan θ = √(‖δ‖² − (u·δ)²/‖u‖²) / (‖u‖ + u·δ/‖u‖)
    """
    along, before = products - steps, _before(squares, products, steps)
    radial = along / np.where(before > 0, before, 1)
    across = np.sqrt(np.maximum(steps - radial**2, 0))
    return np.where(before == 0, 0.0, np.arctan2(across, before + radial))
