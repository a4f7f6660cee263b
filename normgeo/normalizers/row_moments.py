"""What the cases share, gathered in one pass over blocks of them: means, squares and products.

    x̄,    M_h = Σ_n (c_nh − c̄_h)²,    S_h = Σ_n (c_nh − c̄_h)(x_n − x̄)

Sums of two sets of n and m cases, whose means differ by δ in x and W̃ δ in c, merge by

    M ← M + M' + (W̃ δ)² nm/(n + m),    S ← S + S' + (W̃ δ) δᵀ nm/(n + m),

so nothing large cancels. Source: Chan, Golub and LeVeque, Algorithms for computing the sample
variance, 1983.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.normalizers.centers import Center


@final
@dataclass(frozen=True, eq=False)
class RowMoments:
    """Sums over N cases that came in blocks, in double precision.

    Attributes:
        cases: N. origin: a case near the others, (D,), which each was counted from.
        mean: x̄ minus it, (D,), which so keeps the digits of x − x̄.
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
        N, W = 0, W_centered.astype(np.float64)
        H, D = W.shape
        origin = mean = sizes = squares = np.zeros(D)
        M, S, largest = np.zeros(H), np.zeros((H, D)), 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            for X in blocks:
                n, kind = len(X), X.dtype
                if not N:
                    origin = X.mean(axis=0, dtype=np.float64).astype(kind).astype(np.float64)
                near = X - origin.astype(kind)
                own = near.mean(axis=0, dtype=np.float64)
                near = near - own.astype(kind)
                C = near @ W_centered.astype(kind).T
                share = n / (N + n)
                apart = own - mean
                between = W @ apart
                M = M + (C * C).sum(axis=0, dtype=np.float64) + between**2 * N * share
                S = S + C.T @ near + np.outer(between, apart) * N * share
                mean = mean + share * apart
                size = np.abs(X)
                largest = max(largest, float(size.max()))
                sizes = sizes + share * (size.mean(axis=0, dtype=np.float64) - sizes)
                square = np.einsum("nd,nd->d", size, size) / n
                squares = squares + share * (square - squares)
                N += n
        return cls(N, origin, mean, sizes, squares, largest, M / N, S / N, W)

    @property
    def mean_case(self) -> Array:
        """x̄ (D,)."""
        case: Array = self.origin + self.mean
        return case

    def around(self, center: Center) -> tuple[Array, Array]:
        """The means of c² (H,) and of c x̃ (H, D), x̃ being what a center leaves of x."""
        if center.shared_by_cases:
            return self.variances, self.products
        mean = self.W_centered @ self.origin + self.W_centered @ self.mean
        return self.variances + mean**2, self.products + np.outer(mean, self.mean_case)

    def square_sizes(self, center: Center) -> Array:
        """The mean of what x̃² would be if nothing canceled, (D,): rounding is of it."""
        if not center.shared_by_cases:
            return self.squares
        spread: Array = self.squares + 3 * self.sizes**2  # of |x| + mean |x|
        return spread
