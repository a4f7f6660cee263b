"""Training cases, and held-out cases for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from normgeo.base.arguments import instance_of, real_number, seed_number
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.datasets.dataset import Dataset


@final
@dataclass(frozen=True, eq=False)
class Split:
    """Training cases and held-out cases.

    Attributes:
        X_train, X_test: (N, D), standardized by the training cases only.
        y_train, y_test: as the family takes them.
        kept: which raw features vary among the training cases, (D_raw,); the others are left out.

    """

    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array
    kept: Array


def hold_out(data: Dataset, *, test_share: float = 0.2, seed: int = 0) -> Split:
    """Hold out a share of the cases, drawn at random.

    Raises:
        ValueError: a share that leaves fewer than 2 training cases or no test case.

    """
    train, test = held_out_cases(data, test_share=test_share, seed=seed)
    kept = np.ptp(data.raw[train], axis=0) > 0
    raw = data.raw[:, kept]
    X = (raw - raw[train].mean(axis=0)) / raw[train].std(axis=0)
    return Split(X[train], data.y[train], X[test], data.y[test], kept)


def held_out_cases(
    data: Dataset, *, test_share: float = 0.2, seed: int = 0
) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Return the indices of training cases and of held-out cases; raises as `hold_out` does."""
    instance_of("data", data, Dataset)
    held_back = round(data.N * real_number("test_share", test_share, above=0, below=1))
    if not 1 <= held_back <= data.N - 2:
        raise Refusal(
            "`test_share` must leave 2 or more of the {N} cases to train on and 1 or more to "
            "test; got {test_share}.",
            N=data.N,
            test_share=test_share,
        )
    order = np.random.default_rng(seed_number(seed)).permutation(data.N)
    return np.sort(order[held_back:]), np.sort(order[:held_back])
