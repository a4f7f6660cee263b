"""Whole-number relations between derivatives: which powers of factors cancel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from normgeo.base.arrays import Array

Powers = tuple[int, ...]

LARGEST = 4
"""The largest power that a relation may have."""


def relations(derivatives: Array, tolerances: Iterable[float]) -> Iterator[list[Powers]]:
    """Yield bases of the whole-number powers a with Σ aᵢ ∂f/∂log θᵢ = 0.

    Args:
        derivatives: (outputs, tensors) of the outputs by the logarithm of a factor of each tensor.
        tolerances: of a sum over the derivatives in it; each basis is longer than the one before.

    >>> (basis,) = relations(np.array([[1.0, 1.0, 0.0], [3.0, 3.0, 1.0]]), [1e-9, 1e-3])
    >>> sparsest(basis)
    [(1, -1, 0)]

    """
    if derivatives.shape[1] < 2:
        return
    lengths = np.linalg.norm(derivatives, axis=0)
    _, sizes, right = np.linalg.svd(np.linalg.qr(derivatives / lengths, mode="r"))
    last = 0
    for tolerance in tolerances:
        rank = int((sizes > tolerance * sizes[0]).sum())
        if len(right) - rank > last:
            last = len(right) - rank
            yield _whole(_reduced(right[rank:]) / lengths)


def _reduced(rows: Array) -> Array:
    """Eliminate: each row has a column of its own, its largest entry, where the others are 0."""
    rows = rows.copy()
    for i in range(len(rows)):
        column = int(np.argmax(np.abs(rows[i])))
        for j in range(len(rows)):
            if j != i:
                rows[j] -= rows[i] * (rows[j, column] / rows[i, column])
    return rows


def _whole(rows: Array) -> list[Powers]:
    """The rows that are multiples of small whole numbers, as such."""
    found = []
    for row in rows:
        for unit in sorted(np.abs(row[np.abs(row) > 0.2 * np.abs(row).max()])):
            scaled = row / unit
            whole = np.round(scaled)
            if np.abs(whole).max() <= LARGEST and np.abs(scaled - whole).max() < 0.1:
                found.append(tuple(int(value) for value in whole))
                break
    return found


def sparsest(
    basis: Iterable[Powers], known: Iterable[Powers] = (), costs: Sequence[float] | None = None
) -> list[Powers]:
    """Return the relations with as small powers as sums with others and known ones give them.

    Args:
        basis: whole-number relations. known: others that may be added. costs: of a power, each
            1 where None.

    >>> sparsest([(1, 1, 0, 1, -1), (0, 0, 1, 1, -1)])
    [(1, 1, -1, 0, 0), (0, 0, 1, 1, -1)]

    """
    rows = [np.array(powers) for powers in basis]
    added = [np.array(powers) for powers in known]
    price = np.ones(len(rows[0])) if costs is None and rows else np.array(costs)
    going = True
    while going:
        going = False
        for i, row in enumerate(rows):
            others = [*rows[:i], *rows[i + 1 :], *added]
            best = min(_sums(row, others), key=lambda one: float(price @ np.abs(one)))
            if price @ np.abs(best) < price @ np.abs(row):
                rows[i], going = best, True
    return list(dict.fromkeys(_signed(row) for row in rows if row.any()))


def _sums(row: Array, others: Sequence[Array]) -> Iterator[Array]:
    """The row, with one or two others added or taken off, without a common factor."""
    yield row
    for i, other in enumerate(others):
        for one in (row + other, row - other):
            if ((row != 0) & (other != 0)).any():
                yield _primitive(one)
                for another in others[i + 1 :]:
                    if ((one != 0) & (another != 0)).any():
                        yield _primitive(one + another)
                        yield _primitive(one - another)


def _primitive(row: Array) -> Array:
    """The row without a common factor."""
    return np.asarray(row // max(1, np.gcd.reduce(row)))


def _signed(row: Array) -> Powers:
    """The relation without a common factor, its first power positive."""
    row = _primitive(row) * np.sign(row[np.flatnonzero(row)[0]])
    return tuple(int(value) for value in row)
