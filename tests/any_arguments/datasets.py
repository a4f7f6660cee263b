"""Calls of functions that make data sets."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from hypothesis import strategies as st

import normgeo as ng
from normgeo.base.refusal import Refusal
from normgeo.datasets.dataset import Dataset
from normgeo.datasets.datasets import load
from normgeo.datasets.hold_out import Split

from .calls import Draw, array, call, finite, seed


def check_split(split: Split, arguments: dict[str, Any]) -> None:
    finite(split, arguments)
    assert len(split.X_train) == len(split.y_train) >= 2
    assert len(split.X_test) == len(split.y_test) >= 1
    data: Dataset = arguments["data"]
    assert len(split.X_train) + len(split.X_test) == data.N
    assert split.X_train.shape[1] == split.X_test.shape[1] == split.kept.sum()


@call("hold_out", ng.hold_out, check_split)
def _(draw: Draw) -> dict[str, Any]:
    share = draw(st.floats(0, 1, exclude_min=True, exclude_max=True))
    return {"data": load("linnerud"), "test_share": share, "seed": seed(draw)}


def rows_of(source: Any, **options: Any) -> np.ndarray:
    try:
        blocks = list(ng.Rows.of(source, **options).blocks())
    except OSError as error:  # no such file, which is not the function's fault
        raise Refusal(str(error)) from error
    return np.concatenate(blocks) if blocks else np.zeros((0, 0))


def check_rows(rows: np.ndarray, arguments: dict[str, Any]) -> None:
    if getattr(arguments["source"], "shape", ()) == (7, 3):
        with np.errstate(over="ignore"):
            expected = np.asarray(arguments["source"], rows.dtype)
        np.testing.assert_array_equal(rows, expected)


rows_of.__signature__ = signature(ng.Rows.of)  # type: ignore[attr-defined]


@call("Rows", rows_of, check_rows)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "source": array(draw, 7, 3),
        "block": draw(st.sampled_from([None, 1, 4, 100])),
        "dtype": draw(st.sampled_from([None, "float32", np.float64])),
        "progress": None,
    }
