"""The derivative of the natural parameter s in θ over rows that come in blocks.

A mean over all cases is the sum over the blocks of the block's mean times its share, and of a
block the derivative is that of cases in memory (see `normalizers.row_cases`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arrays import Array, require_same_features
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.rows import Rows
from normgeo.models.linearization import ModelLinearization, ParameterLayout, Part


@final
@dataclass(frozen=True, eq=False)
class RowsLinearization:
    """The derivative of s in θ at one model over rows in blocks, made anew for each pass.

    Attributes:
        rows: X. cases: N. layout: of θ. linearize: the derivative over the cases of a block (n, D).
        in_memory: the derivative over all of them at once, for few. coupling: as in `Fisher`.

    """

    rows: Rows
    cases: int
    layout: ParameterLayout
    linearize: Callable[[Array], ModelLinearization]
    in_memory: Callable[[], ModelLinearization]
    coupling: str = "exact"

    def parts(self) -> Iterator[Part]:
        """Yield the blocks, in one pass over the rows.

        Raises:
            ValueError: z is undefined in a block, or other rows than before. Stop: as `Rows` does.

        """
        done = 0
        for X in self.rows.blocks():
            yield Part(len(X) / self.cases, self.linearize(X))
            done += len(X)
        if done != self.cases:
            raise Refusal(
                text(
                    "Each pass must find the same rows: the first had {N:,}, a later one {done:,}. "
                    "Give a function that begins again, or a file that nobody writes.",
                    N=self.cases,
                    done=done,
                )
            )

    def own_neuron(self) -> RowsLinearization:
        """Return the part in which each s_h answers to its own w_h, b_h, g_h only (Eq. 13, 14)."""
        return replace(self.map(ModelLinearization.own_neuron), coupling="paper")

    def map(self, change: Callable[[ModelLinearization], ModelLinearization]) -> RowsLinearization:
        """Return what a change that treats each case by itself makes of it."""
        return replace(
            self,
            linearize=lambda X: change(self.linearize(X)),
            in_memory=lambda: change(self.in_memory()),
            coupling="exact",
        )


Linearized = ModelLinearization | RowsLinearization
"""The derivative of s in θ, over cases in memory or over rows in blocks."""


def checked_blocks(rows: Rows, W: Array) -> Iterator[Array]:
    """Yield blocks of X (n, D) that agree with W (H, D), of finite floats."""
    done = 0
    for X in rows.blocks():
        require_same_features(W, X)
        if not np.isfinite(X).all():
            n, d = np.argwhere(~np.isfinite(X))[0]
            raise Refusal(
                text(
                    "`X` must hold finite numbers; got {value} in row {row:,}, column {column}, "
                    "counted from 0. Remove or impute it first.",
                    value=X[n, d],
                    row=done + n,
                    column=d,
                )
            )
        yield X.astype(np.result_type(X, W, np.float32), copy=False)
        done += len(X)
    if not done:
        raise Refusal(text("There must be a row or more; what gives the rows of `X` gives none."))


def labelled(at: Linearized, y: ArrayLike | Rows) -> Iterator[tuple[Part, ArrayLike]]:
    """Yield the parts, each with its rows of y (N,) or (N, H).

    Raises:
        ValueError: y has not as many rows as X.

    """
    if isinstance(at, ModelLinearization):
        values = np.concatenate(list(y.blocks())) if isinstance(y, Rows) else y
        yield from ((part, values) for part in at.parts())
        return
    wanted = deque[int]()
    sizes = (wanted.popleft() for _ in count())
    targets = (y if isinstance(y, Rows) else Rows.of(np.asarray(y))).blocks(sizes)
    done = 0
    for part in at.parts():
        wanted.append(part.at.cases)
        own = next(targets, None)
        done += 0 if own is None else len(own)
        if own is None or len(own) < part.at.cases:
            raise _unequal(at.cases, str(done))
        yield part, own
    wanted.append(1)
    if next(targets, None) is not None:
        raise _unequal(at.cases, text("more"))


def _unequal(N: int, found: str) -> Refusal:
    return Refusal(
        text(
            "`X` and `y` must have a row for each of the same cases; got {X} rows in X and {y} "
            "in y.",
            X=N,
            y=found,
        )
    )
