"""The derivative of the natural parameter s in θ over rows that come in blocks.

A mean over all cases is the sum of the blocks' means, weighted by their shares. Within a block the
derivative is that of cases in memory (see `normalizers.row_cases`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeVar, cast, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arrays import Array, require_same_features
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.rows import Rows, as_rows
from normgeo.models.linearization import ModelLinearization, ParameterLayout, Part
from normgeo.normalizers.row_moments import Gather, RowMoments

T = TypeVar("T")

Step = Callable[[Iterator[Part]], T]
Merge = Callable[[T, T], T]
Linearize = Callable[[Array], ModelLinearization]


@final
@dataclass(frozen=True, eq=False)
class RowsLinearization:
    """The derivative of s in θ at one model over rows in blocks, recomputed in each pass.

    Attributes:
        rows: X. cases: N. layout: of θ. linearize: the derivative over the cases of a block (n, D).
        in_memory: the derivative over all cases at once, if they are few. coupling: as in `Fisher`.

    """

    rows: Rows
    cases: int
    layout: ParameterLayout
    linearize: Linearize
    in_memory: Callable[[], ModelLinearization]
    coupling: str = "exact"

    def parts(self) -> Iterator[Part]:
        """Yield the blocks, in one pass over the rows.

        Raises:
            ValueError: z is undefined in a block, or other rows than before. Stop: as `Rows` does.

        """
        done = 0
        for part in _parts(self.rows, self.linearize, self.cases):
            yield part
            done += part.at.cases
        if done != self.cases:
            raise Refusal(
                "Each pass must find the same rows: the first had {N:,}, a later one {done:,}. "
                "Give a function that begins again, or a file that nobody writes.",
                N=self.cases,
                done=done,
            )

    def gathered(self, step: Step[T], merge: Merge[T]) -> T:
        """Return the result of a step over all parts, in one pass.

        Args:
            step: called with an iterator of the parts. On a cluster it gets the parts of one chunk,
                on the machine of that chunk, so it must carry its data without this linearization.
            merge: combines the results for some parts and for the following ones.

        """
        if self.rows.chunks is None:
            return step(self.parts())
        N = self.cases
        return self.rows.gathered(
            lambda rows, linearize: step(_parts(rows, linearize, N)), merge, self.linearize
        )

    def own_neuron(self) -> RowsLinearization:
        """Return the part in which each s_h depends on its own w_h, b_h, g_h only (Eq. 13, 14)."""
        return replace(self.map(ModelLinearization.own_neuron), coupling="paper")

    def map(self, change: Callable[[ModelLinearization], ModelLinearization]) -> RowsLinearization:
        """Return the linearization changed by a function that treats each case separately."""
        linearize = (
            self.linearize
        )  # a bound function alone, since it is sent to each worker of a cluster
        return replace(
            self,
            linearize=lambda X: change(linearize(X)),
            in_memory=lambda: change(self.in_memory()),
            coupling="exact",
        )


Linearized = ModelLinearization | RowsLinearization
"""The derivative of s in θ, over cases in memory or over rows in blocks."""


def checked_blocks(rows: Rows, W: Array) -> Iterator[Array]:
    """Yield blocks of X (n, D) that agree with W (H, D), of finite floats."""
    done = rows.start
    for X in rows.blocks():
        require_same_features(W, X)
        if not np.isfinite(X).all():
            n, d = np.argwhere(~np.isfinite(X))[0]
            raise Refusal(
                "`X` must hold finite numbers; got {value} in row {row:,}, column {column}, "
                "counted from 0. Remove or impute it first.",
                value=X[n, d],
                row=done + n,
                column=d,
            )
        yield X.astype(np.result_type(X, W, np.float32), copy=False)
        done += len(X)
    if done == rows.start:
        raise Refusal("There must be a row or more; what gives the rows of `X` gives none.")


def gathering(rows: Rows, W: Array) -> Gather:
    """Return a function that gathers the moments of finite rows that agree with W (H, D)."""
    return lambda W_centered: rows.gathered(
        lambda rows: RowMoments.of(W_centered, checked_blocks(rows, W)), RowMoments.merged
    )


def _parts(rows: Rows, linearize: Linearize, cases: int) -> Iterator[Part]:
    return (Part(len(X) / cases, linearize(X)) for X in rows.blocks())


def over_both(
    at: Linearized,
    other: Linearized,
    step: Callable[[Iterator[tuple[Part, Part]]], T],
    merge: Merge[T],
) -> T:
    """Return `at.gathered` of a step over the parts of two models over the same cases."""
    if isinstance(at, ModelLinearization) or at.rows.chunks is None:
        return step(zip(at.parts(), other.parts(), strict=True))
    N, there = at.cases, cast(RowsLinearization, other)

    def both(rows: Rows, linearize: Linearize, there: Linearize) -> T:
        blocks = ((len(X) / N, X) for X in rows.blocks())
        return step((Part(share, linearize(X)), Part(share, there(X))) for share, X in blocks)

    return at.rows.gathered(both, merge, at.linearize, there.linearize)


def over_labelled(
    at: Linearized,
    y: ArrayLike | Rows,
    step: Callable[[Iterator[tuple[Part, ArrayLike]]], T],
    merge: Merge[T],
) -> T:
    """Return `at.gathered` of a step over the parts, each with its rows of y (N,) or (N, H).

    Raises:
        ValueError: y has not as many rows as X.

    """
    y = as_rows(y)
    if isinstance(at, ModelLinearization):
        values = np.concatenate(list(y.blocks())) if isinstance(y, Rows) else y
        return step((part, values) for part in at.parts())
    rows = at.rows
    if rows.chunks is None:
        targets = y if isinstance(y, Rows) else Rows.of(np.asarray(y))
        return step(_labelled(at.parts(), at.cases, targets))
    N, found = at.cases, y.count if isinstance(y, Rows) else len(np.asarray(y))
    if found not in (N, None):
        raise _unequal(N, str(found))
    if not isinstance(y, Rows):
        y = Rows.of(rows.chunks.cut(np.asarray(y)))
    return rows.gathered(
        lambda X, y, linearize: step(_labelled(_parts(X, linearize, N), N, y)),
        merge,
        at.linearize,
        beside=(y.cut_as(rows),),
    )


def _labelled(parts: Iterator[Part], cases: int, y: Rows) -> Iterator[tuple[Part, ArrayLike]]:
    wanted = deque[int]()
    sizes = (wanted.popleft() for _ in count())
    targets, done = y.blocks(sizes), 0
    for part in parts:
        wanted.append(part.at.cases)
        own = next(targets, None)
        done += 0 if own is None else len(own)
        if own is None or len(own) < part.at.cases:
            raise _unequal(cases, str(done))
        yield part, own
    wanted.append(1)
    if next(targets, None) is not None:
        raise _unequal(cases, text("more"))


def _unequal(N: int, found: str) -> Refusal:
    return Refusal(
        "`X` and `y` must have a row for each of the same cases; got {X} rows in X and {y} in y.",
        X=N,
        y=found,
    )
