"""The cells that runs, menus and claims choose from: tanh, LSTM and GRU.

⊙ is the entrywise product, σ(·) the logistic function, and LN the normalization, with its own gains
and shifts. Source: the supplementary material of the paper, Eq. 20 to 25; without LN: Hochreiter
and Schmidhuber, Long short-term memory, 1997, with the forget gate of Gers, Schmidhuber and
Cummins, 2000; Cho et al., Learning phrase representations …, 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from normgeo.base.arguments import entry_of
from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.sequences.cell import Cell, Inner, Product, State, sigmoid, slope


@final
class TanhCell(Cell):
    """h' = tanh(LN(W_hh h + W_xh x)), Eq. 4: one sum, one statistic."""

    key, title = "tanh", text("tanh RNN")
    latex = (r"h^t = \tanh(\mathrm{LN}(W_{hh} h^{t-1} + W_{xh} x^t))",)
    products = (Product(1, state=True, inputs=True),)

    def step(self, sums: Sequence[Array], state: State, inner: Inner) -> tuple[State, Any]:
        h = np.tanh(sums[0])
        return (h,), h

    def back(
        self, kept: Any, change: State, inner: Inner
    ) -> tuple[tuple[Array, ...], tuple[Array | float, ...]]:
        return (change[0] * (1 - kept * kept),), (0.0,)


@final
class LSTM(Cell):
    """Eq. 20 to 22: gates f, i, o and a candidate u of LN(W_h h) + LN(W_x x).

    c' = σ(f) ⊙ c + σ(i) ⊙ tanh(u),    h' = σ(o) ⊙ tanh(LN(c'))

    The forget gate starts with a bias of 1. Source of that: Jozefowicz, Zaremba and Sutskever, An
    empirical exploration of recurrent network architectures, 2015.
    """

    key, title = "lstm", text("LSTM")
    latex = (
        r"(f, i, o, u) = \mathrm{LN}(W_h h^{t-1}) + \mathrm{LN}(W_x x^t)",
        r"c^t = \sigma(f) \odot c^{t-1} + \sigma(i) \odot \tanh(u)",
        r"h^t = \sigma(o) \odot \tanh(\mathrm{LN}(c^t))",
    )
    products = (
        Product(4, state=True, first_biases=(1.0, 0.0, 0.0, 0.0)),
        Product(4, inputs=True),
    )
    memory = True

    def step(self, sums: Sequence[Array], state: State, inner: Inner) -> tuple[State, Any]:
        total, (_, c) = np.add(sums[0], sums[1], out=sums[0]), state
        H = c.shape[-1]
        gates, u = sigmoid(total[..., : 3 * H]), np.tanh(total[..., 3 * H :])
        f, i, o = gates[..., :H], gates[..., H : 2 * H], gates[..., 2 * H :]
        memory = f * c + i * u
        shown = np.tanh(inner(memory))
        return (o * shown, memory), (gates, u, c, shown)

    def back(
        self, kept: Any, change: State, inner: Inner
    ) -> tuple[tuple[Array, ...], tuple[Array | float, ...]]:
        (gates, u, c, shown), (dh, dc) = kept, change
        H = c.shape[-1]
        f, i, o = gates[..., :H], gates[..., H : 2 * H], gates[..., 2 * H :]
        dc = dc + inner(dh * o * (1 - shown * shown))
        total = np.empty((*dh.shape[:-1], 4 * H))
        total[..., :H] = dc * c
        total[..., H : 2 * H] = dc * u
        total[..., 2 * H : 3 * H] = dh * shown
        total[..., : 3 * H] *= slope(gates)
        total[..., 3 * H :] = dc * i * (1 - u * u)
        return (total, total), (0.0, dc * f)


@final
class GRU(Cell):
    """Eq. 23 to 25: gates z, r of LN(W_h h) + LN(W_x x), and a candidate that reads h through r.

    u = tanh(LN(W x) + σ(r) ⊙ LN(U h)),    h' = (1 − σ(z)) ⊙ h + σ(z) ⊙ u
    """

    key, title = "gru", text("GRU")
    latex = (
        r"(z, r) = \mathrm{LN}(W_h h^{t-1}) + \mathrm{LN}(W_x x^t)",
        r"u = \tanh(\mathrm{LN}(W x^t) + \sigma(r) \odot \mathrm{LN}(U h^{t-1}))",
        r"h^t = (1 - \sigma(z)) \odot h^{t-1} + \sigma(z) \odot u",
    )
    products = (
        Product(2, state=True),
        Product(2, inputs=True),
        Product(1, inputs=True),
        Product(1, state=True),
    )

    def step(self, sums: Sequence[Array], state: State, inner: Inner) -> tuple[State, Any]:
        (h,) = state
        H = h.shape[-1]
        gates = sigmoid(np.add(sums[0], sums[1], out=sums[0]))
        z, r = gates[..., :H], gates[..., H:]
        u = np.tanh(sums[2] + r * sums[3])
        return (h + z * (u - h),), (gates, u, h, sums[3])

    def back(
        self, kept: Any, change: State, inner: Inner
    ) -> tuple[tuple[Array, ...], tuple[Array | float, ...]]:
        (gates, u, h, of_state), (dh,) = kept, change
        H = h.shape[-1]
        z, r = gates[..., :H], gates[..., H:]
        du = dh * z * (1 - u * u)
        dgates = np.empty((*dh.shape[:-1], 2 * H))
        dgates[..., :H] = dh * (u - h)
        dgates[..., H:] = du * of_state
        dgates *= slope(gates)
        return (dgates, dgates, du, du * r), (dh * (1 - z),)


CELLS: dict[str, Cell] = {cell.key: cell for cell in (TanhCell(), LSTM(), GRU())}


def cell_of(cell: str | Cell) -> Cell:
    """Return a cell, or the one with this key of CELLS.

    Raises:
        ValueError: an unknown key.

    """
    return entry_of("cell", cell, CELLS, Cell)
