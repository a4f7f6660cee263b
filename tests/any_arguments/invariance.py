"""Calls of certificates, witnesses and sweeps."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

import normgeo as ng

from .calls import KIND, SIZES, Draw, a_normalizer, array, call, require_finite, seed


def check_verdict(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite(answer)
    assert answer.invariant == (answer.witness is None)
    assert 0 <= answer.error_bound < 1e-9


def a_change(draw: Draw) -> Any:
    return draw(st.sampled_from([*ng.TRANSFORMS.values()]))


@call("certify", ng.certify, check_verdict)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "normalizer": a_normalizer(draw),
        "transform": a_change(draw),
        "eps": draw(st.sampled_from([None, 0.0, 1e-5, 1, np.float32(1e-5), Fraction(1, 3)])),
        "shape": draw(st.sampled_from([None, (3, 6, 3)])),
        "rng": draw(st.sampled_from([None, np.random.default_rng(1)])),
        "seed": seed(draw),
    }


def check_table(answer: Any, arguments: dict[str, Any]) -> None:
    rows = ng.NORMALIZERS if arguments["normalizers"] is None else arguments["normalizers"]
    assert len(answer) == len(rows) * len(arguments["transforms"])


@call("invariance_table", ng.invariance_table, check_table)
def _(draw: Draw) -> dict[str, Any]:
    change = a_change(draw)
    return {
        "normalizers": {"one": a_normalizer(draw)},
        "transforms": {change.key: change},
        "eps": draw(st.sampled_from([None, 1e-5])),
        "seed": seed(draw),
    }


def check_witness(answer: Any, arguments: dict[str, Any]) -> None:
    assert answer.z_squared != answer.z_squared_after


@call("smallest_witness", ng.smallest_witness, check_witness)
def _(draw: Draw) -> dict[str, Any]:
    key = draw(st.sampled_from([*ng.NORMALIZERS]))
    return {"normalizer": ng.NORMALIZERS[key], "transform": a_change(draw)}


def check_sweep(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite(answer, {".change": True})
    assert np.isnan(answer.change).tolist() == [bool(reason) for reason in answer.reasons]


@call("sweep", ng.sweep, check_sweep)
def _(draw: Draw) -> dict[str, Any]:
    H, D, N = draw(SIZES), draw(SIZES), draw(SIZES)
    W, X, change = array(draw, H, D), array(draw, N, D), a_change(draw)
    return {
        "normalizer": a_normalizer(draw),
        "transform": change,
        "W": W,
        "X": X,
        "strengths": draw(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=3)),
        "gamma": None if change.rescales else array(draw, *change.gamma_shape(W, X)),
        "index": 0,
        "dtype": draw(KIND),
    }
