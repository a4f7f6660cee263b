"""Statistics of cases, gathered in one pass over blocks: means, squares and products.

    x̄,    M_h = Σ_n (c_nh − c̄_h)²,    S_h = Σ_n (c_nh − c̄_h)(x_n − x̄)

Sums of two sets of n and m cases, whose means differ by δ in x and W̃ δ in c, merge by

    M ← M + M' + (W̃ δ)² nm/(n + m),    S ← S + S' + (W̃ δ) δᵀ nm/(n + m),

without cancellation of large numbers. Source: Chan, Golub and LeVeque, Algorithms for computing the
sample variance, 1983.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.normalizers.centers import Center


@final
@dataclass(frozen=True, eq=False)
class RowMoments:
    """Sums over N cases in blocks, in double precision.

    Attributes:
        cases: N. origin: a case near the others, (D,), subtracted from each.
        mean: x̄ minus the origin, (D,), so that x − x̄ keeps its digits.
        sizes, squares: the means of |x| and of x², (D,). largest: the largest |x|.
        variances: the mean of (c − c̄)², (H,). products: of (c − c̄)(x − x̄), (H, D).
        W_centered: W̃ (H, D), which gives c = W̃ x.

    """

    cases: int
    origin: Array
    mean: Array
    sizes: Array
    squares: Array
    largest: float
    variances: Array
    products: Array
    W_centered: Array

    @classmethod
    def of(cls, W_centered: Array, blocks: Iterable[Array]) -> RowMoments:
        """Gather the moments of blocks (n, D), one or more, for W̃ (H, D) of any floats."""
        each = iter(blocks)
        found = cls._of_block(W_centered, next(each), None)
        for X in each:
            found = found.merged(cls._of_block(W_centered, X, found.origin))
        return found

    @classmethod
    @np.errstate(over="ignore", invalid="ignore")
    def _of_block(cls, W_centered: Array, X: Array, origin: Array | None) -> RowMoments:
        n, kind = len(X), X.dtype
        if origin is None:
            origin = X.mean(axis=0, dtype=np.float64).astype(kind).astype(np.float64)
        near = X - origin.astype(kind)
        mean = near.mean(axis=0, dtype=np.float64)
        near = near - mean.astype(kind)
        C = near @ W_centered.astype(kind).T
        size = np.abs(X)
        return cls(
            n,
            origin,
            mean,
            size.mean(axis=0, dtype=np.float64),
            np.einsum("nd,nd->d", size, size).astype(np.float64) / n,
            float(size.max()),
            (C * C).sum(axis=0, dtype=np.float64) / n,
            (C.T @ near).astype(np.float64) / n,
            W_centered.astype(np.float64),
        )

    @np.errstate(over="ignore", invalid="ignore")
    def merged(self, other: RowMoments) -> RowMoments:
        """Return the moments of these cases and of others, for the same W̃."""
        cases = self.cases + other.cases
        own, share = self.cases / cases, other.cases / cases
        apart = (other.origin - self.origin) + (other.mean - self.mean)
        between = self.W_centered @ apart
        return RowMoments(
            cases,
            self.origin,
            self.mean + share * apart,
            own * self.sizes + share * other.sizes,
            own * self.squares + share * other.squares,
            max(self.largest, other.largest),
            own * self.variances + share * other.variances + own * share * between**2,
            own * self.products + share * other.products + own * share * np.outer(between, apart),
            self.W_centered,
        )

    @property
    def mean_case(self) -> Array:
        """x̄ (D,)."""
        case: Array = self.origin + self.mean
        return case

    def around(self, center: Center) -> tuple[Array, Array]:
        """The means of c² (H,) and of c x̃ (H, D), for x̃ after the center."""
        if center.shared_by_cases:
            return self.variances, self.products
        mean = self.W_centered @ self.origin + self.W_centered @ self.mean
        return self.variances + mean**2, self.products + np.outer(mean, self.mean_case)

    def square_sizes(self, center: Center) -> Array:
        """The mean of x̃² without cancellation, (D,), which decides rounding errors."""
        if not center.shared_by_cases:
            return self.squares
        spread: Array = self.squares + 3 * self.sizes**2  # of |x| + mean |x|
        return spread


Gather = Callable[[Array], RowMoments]
"""Returns the moments of all cases for W̃ (H, D), in one pass."""
