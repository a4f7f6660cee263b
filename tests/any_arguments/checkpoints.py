"""Calls of layers: made from arrays, read from files, and reported."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import normgeo as ng
from normgeo.checkpoints.basis import BASES, Basis
from normgeo.checkpoints.examples import EXAMPLES

from .calls import SIZES, Draw, a_normalizer, array, call, rate, require_finite, seed


def check_layer(answer: ng.TrainedLayer, arguments: dict[str, Any]) -> None:
    require_finite(answer)
    assert answer.W.ndim == 2
    assert answer.blocks.neurons.size == len(answer.W)


def check_report(answer: ng.LayerReport, arguments: dict[str, Any]) -> None:
    H, B = len(answer.layer.W), len(answer.blocks.neurons)
    assert (answer.norms.shape, answer.row_norms.shape) == ((B,), (H,))
    assert answer.off.shape == (H,)
    for values in (answer.effective_rates, answer.angles, answer.frozen, answer.without_gradient):
        assert values is None or values.shape == (B,)
    if answer.angles is not None:
        assert (answer.angles >= 0).all()
    assert (answer.gain_shares >= 0).all()


def a_layer(draw: Draw) -> ng.TrainedLayer:
    H, D, N = draw(SIZES), draw(SIZES), draw(SIZES)
    place = draw(st.sampled_from([*ng.PLACES]))
    given = {"X": array(draw, N, D)} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        given["gradient"] = array(draw, H, D)
    return ng.TrainedLayer("w", array(draw, H, D), a_normalizer(draw), place, **given)


@call("TrainedLayer", ng.TrainedLayer, check_layer)
def _(draw: Draw) -> dict[str, Any]:
    H, D, N = draw(SIZES), draw(SIZES), draw(SIZES)
    place = ng.PLACES[draw(st.sampled_from([*ng.PLACES]))]
    channels = D if place.over_features else H
    return {
        "title": "w",
        "W": array(draw, H, D),
        "normalizer": a_normalizer(draw),
        "place": draw(st.sampled_from([place, place.key])),
        "gain": array(draw, channels),
        "shift": array(draw, channels),
        "bias": array(draw, H),
        "running_var": abs(array(draw, channels)),
        "X": array(draw, N, D),
        "stream": array(draw, N, H),
        "labels": np.arange(N) % H,
        "gradient": draw(st.sampled_from([array(draw, H, D), array(draw, 2, H, D)])),
        "seen": draw(st.sampled_from([None, np.ones((H, D))])),
        "why": "",
        "notes": (),
        "basis": draw(st.sampled_from([None, *map(Basis, BASES)])),
    }


@call("layer_report", ng.layer_report, check_report)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "layer": a_layer(draw),
        "optimizer": draw(st.sampled_from([*ng.OPTIMIZERS])),
        "rate": draw(st.sampled_from([None, rate(draw)])),
        "decay": draw(st.sampled_from([0.0, 1e-3])),
        "batch_size": draw(st.sampled_from([None, 1, 2])),
        "family": draw(st.sampled_from([None, *ng.FAMILIES])),
        "frozen_below": 0.01,
        "eigenvalues": draw(st.sampled_from([0, 3, None])),
        "null_directions": draw(st.booleans()),
        "seed": seed(draw),
        "progress": None,
    }


@call("load_layer", ng.load_layer, check_layer)
def _(draw: Draw) -> dict[str, Any]:
    optional = ("x", "stream", "labels", "gradient", "roles", "norm", "normalizer", "groups")
    return {
        "files": EXAMPLES[draw(st.sampled_from([*EXAMPLES]))].path,
        "place": draw(st.sampled_from([None, *ng.PLACES])),
        "eps": draw(st.sampled_from([None, 0.0, 1e-5])),
        "one_plus": draw(st.sampled_from([None, False, True])),
        "layer": None,
        "stride": 1,
        "padding": 0,
        "dilation": 1,
        **dict.fromkeys(optional),
    }
