"""The Fisher information by pairs of neurons: which pairs share curvature, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.fisher.operator import Fisher
from normgeo.fisher.rounding import diagonal_rounding

ENTRIES = ("raw", "log", "normalized")
"""Ways to show an entry F_kl: itself, log₁₀|F_kl|, or F_kl/√(F_kk F_ll)."""

SCREEN = 64
"""The most rows and columns shown; a larger matrix is shown by the largest entry of each tile."""


@final
@dataclass(frozen=True, eq=False)
class NeuronBlocks:
    """F as an H × H map of its blocks, and one block of it in detail.

    Attributes:
        norms: ‖F_ij‖, the Frobenius norm of the block of neurons i and j, (H, H).
        pair: (i, j). block: F_ij (p, p), in the order [w, b, g], p = P/H.
        rows, columns: the roots of the diagonals of F_ii and F_jj, (p,).
        trace: of F. silent: the number of parameters without effect: their entry of the diagonal
            is 0, up to rounding, and their rows and columns are set to 0.

    """

    norms: Array
    pair: tuple[int, int]
    block: Array
    rows: Array
    columns: Array
    trace: float
    silent: int

    @classmethod
    def of(cls, F: Fisher, i: int, j: int) -> NeuronBlocks:
        """Return F by its neurons, with the block of neurons i and j in detail.

        Raises:
            ValueError: there is no such neuron, or F would take more than 2 GiB.

        """
        H, p = F.layout.neurons, F.layout.per_neuron
        if not (0 <= i < H and 0 <= j < H):
            raise Refusal(
                "Neurons are numbered from 0 to {last}; got the pair {pair}. Choose others.",
                last=H - 1,
                pair=(i, j),
            )
        dense = F.to_dense()
        # F is positive semi-definite: a row with a 0 on the diagonal is 0, despite rounding.
        silent = dense.diagonal() <= diagonal_rounding(F.structure)
        if silent.any():
            dense = dense.copy()
            dense[silent], dense[:, silent] = 0, 0
        roots = np.sqrt(dense.diagonal()).reshape(H, p)
        block = dense.reshape(H, p, H, p)[i, :, j].copy()
        return cls(
            block_norms(dense, H),
            (i, j),
            block,
            roots[i],
            roots[j],
            float(dense.trace()),
            int(np.count_nonzero(silent)),
        )

    @property
    def between(self) -> float:
        """Return the share of ‖F‖² between different neurons; 0 if F is zero."""
        squares = self.norms**2
        if not squares.any():
            return 0.0
        return max(0.0, float(1 - np.trace(squares) / squares.sum()))  # rounding must not give −0

    def overview(self, entries: str) -> Array:
        """Return the map of the norms as one of ENTRIES, (H, H) or less; NaN where there is none.

        Its normalized form ‖F_ij‖/√(‖F_ii‖‖F_jj‖) is at most 1, as |F_kl|/√(F_kk F_ll) is.
        """
        roots = np.sqrt(self.norms.diagonal())
        return _seen(self.norms, entries, roots, roots)

    def detail(self, entries: str) -> Array:
        """Return the block as one of ENTRIES, (p, p) or less; NaN where there is none."""
        return _seen(self.block, entries, self.rows, self.columns)

    def norms_over(self, other: NeuronBlocks) -> Array:
        """Return ‖F_ij‖ over √(‖G_ii‖‖G_jj‖) of another model's G, (H, H); NaN where that is 0.

        1 on the diagonal is a neuron's own block of the same norm.
        """
        roots = np.sqrt(other.norms.diagonal())
        return _over(self.norms, roots, roots)

    def block_over(self, other: NeuronBlocks) -> Array:
        """Return the entries F_kl of the block over √(G_kk G_ll) of another model's G.

        Only the parameters that both have, (q, q), q the smaller p; NaN where that is 0.
        """
        q = min(len(self.rows), len(other.rows))
        return _over(self.block[:q, :q], other.rows[:q], other.columns[:q])


def block_norms(matrix: Array, neurons: int) -> Array:
    """Return the Frobenius norms (H, H) of the blocks of a matrix (P, P) by pairs of neurons."""
    blocks = matrix.reshape(neurons, len(matrix) // neurons, neurons, -1)
    norms: Array = np.sqrt(np.einsum("ipjq,ipjq->ij", blocks, blocks))
    return norms


def _seen(values: Array, entries: str, rows: Array, columns: Array) -> Array:
    if entries == "normalized":
        values = _over(values, rows, columns)
    seen = pooled(values)
    if entries == "log":
        with np.errstate(divide="ignore"):
            logs = np.log10(np.abs(seen))
        seen = np.where(np.isfinite(logs), logs, np.nan)
    return seen


def _over(values: Array, rows: Array, columns: Array) -> Array:
    """Return the entries over the products of factors; NaN where those are 0."""
    scale = np.outer(rows, columns)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios: Array = np.where(scale > 0, values / scale, np.nan)
    return ratios


def pooled(values: Array, most: int = SCREEN) -> Array:
    """Return a matrix with at most so many rows and columns: of each tile the largest in size.

    >>> pooled(np.array([[1.0, -3.0], [2.0, 0.5]]), most=1)
    array([[-3.]])

    """
    for axis in (0, 1):
        length = values.shape[axis]
        if length > most:
            edges = np.linspace(0, length, most + 1).astype(int)[:-1]
            high = np.fmax.reduceat(values, edges, axis=axis)
            low = np.fmin.reduceat(values, edges, axis=axis)
            values = np.where(high >= -low, high, low)
    return values
