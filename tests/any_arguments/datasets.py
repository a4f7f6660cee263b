"""Calls of what makes data sets."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import normgeo as ng
from normgeo.datasets.dataset import Dataset
from normgeo.datasets.datasets import load
from normgeo.datasets.hold_out import Split

from .calls import Draw, call, finite, seed


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
