"""Calls of normalizers and of batch statistics."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

import normgeo as ng

from .calls import SIZES, Draw, a_normalizer, array, call, generator, require_finite


def check_normalizer(answer: ng.Normalizer, arguments: dict[str, Any]) -> None:
    assert answer.groups >= 1
    assert 0 <= answer.eps < np.inf
    assert answer.words in ng.GRID


@call("Normalizer", ng.Normalizer, check_normalizer)
def _(draw: Draw) -> dict[str, Any]:
    words = st.sampled_from(["none", "batch", "layer", "weight"])
    return {
        "center": draw(words),
        "scale": draw(words),
        "groups": draw(SIZES),
        "eps": draw(st.sampled_from([0, 1e-5, Fraction(1, 3), 1e300])),
        "statistics": draw(st.sampled_from(["current", "frozen"])),
    }


def check_normalized(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite(answer)
    shape = np.shape(arguments["X"])[0], np.shape(arguments["W"])[0]
    assert answer.z.shape == answer.summed_inputs.shape == answer.mu.shape == shape
    assert (answer.sigma > 0).all()


@call("Normalizer.normalize", ng.Normalizer.normalize, check_normalized)
def _(draw: Draw) -> dict[str, Any]:
    H, D, N = draw(SIZES), draw(SIZES), draw(SIZES)
    W, X = array(draw, H, D), array(draw, N, D)
    return {"self": a_normalizer(draw), "W": W, "X": X, "reference": (W, X)}


def check_noise(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite(answer)
    M, H = len(answer.sizes), np.shape(arguments["A"])[1]
    assert answer.mean_error.shape == answer.predicted_sigma_error.shape == (M, H)


@call("batch_noise", ng.batch_noise, check_noise)
def _(draw: Draw) -> dict[str, Any]:
    N = draw(st.integers(1, 6))
    sizes = draw(st.sampled_from([None, [1, 2], [N], (2,)]))
    return {
        "A": array(draw, N, draw(SIZES)),
        "rng": generator(draw),
        "sizes": sizes,
        "batches": draw(st.integers(2, 5)),
        "replacement": draw(st.booleans()),
        "progress": None,
    }


def check_drift(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite(answer, {".change": any(answer.reasons)})
    assert np.isnan(answer.change).tolist() == [bool(reason) for reason in answer.reasons]


@call("batch_drift", ng.batch_drift, check_drift)
def _(draw: Draw) -> dict[str, Any]:
    N, D = draw(st.integers(1, 6)), draw(SIZES)
    return {
        "normalizer": a_normalizer(draw),
        "W": array(draw, draw(SIZES), D),
        "X": array(draw, N, D),
        "rng": generator(draw),
        "sizes": draw(st.sampled_from([None, [1, 2], [N]])),
        "batches": draw(st.integers(1, 5)),
        "progress": None,
    }


def check_statistics(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite(answer)
    assert answer.z.shape == answer.labels.shape == np.shape(arguments["values"])


@call("shared_statistics", ng.shared_statistics, check_statistics)
def _(draw: Draw) -> dict[str, Any]:
    shape = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    key = draw(st.sampled_from(["batch", "layer", "instance", "group"]))
    groups = draw(SIZES) if key == "group" else 1
    return {"key": key, "values": array(draw, *shape), "groups": groups}
