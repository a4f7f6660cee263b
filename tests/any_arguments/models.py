"""Calls of models, fits, networks and recurrences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

import normgeo as ng

from .calls import (
    SIZES,
    Draw,
    a_normalizer,
    array,
    call,
    finite,
    generator,
    model_and_inputs,
    rate,
    require_finite,
    targets,
)


def check_model(answer: ng.NormalizedGLM, arguments: dict[str, Any]) -> None:
    H, _ = answer.W.shape
    for values in (answer.W, answer.b, *([] if answer.g is None else [answer.g])):
        assert np.isfinite(values).all()
        assert len(values) == H


@call("NormalizedGLM", ng.NormalizedGLM, check_model)
def _(draw: Draw) -> dict[str, Any]:
    H, D = draw(SIZES), draw(SIZES)
    W = array(draw, H, D)
    return {
        "normalizer": a_normalizer(draw),
        "family": draw(st.sampled_from([*ng.FAMILIES, *ng.FAMILIES.values()])),
        "W": W,
        "b": array(draw, H),
        "g": None,
        "phi": draw(st.sampled_from([1, 1.0, 0.5])),
        "reference": (W, np.eye(3, D)),
        "takes_stream": False,
    }


@call("NormalizedGLM.random", ng.NormalizedGLM.random, check_model)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "normalizer": a_normalizer(draw),
        "family": draw(st.sampled_from([*ng.FAMILIES])),
        "neurons": draw(SIZES),
        "features": draw(SIZES),
        "rng": generator(draw),
        "phi": 1.0,
    }


def model_call(name: str, method: Callable[..., Any], *, takes_targets: bool = False) -> None:
    """Register a method of a model that takes X, and maybe y."""

    def draw_arguments(draw: Draw) -> dict[str, Any]:
        model, X = model_and_inputs(draw)
        return {"self": model, "X": X} | ({"y": targets(draw, model, X)} if takes_targets else {})

    call(name, method, finite)(draw_arguments)


model_call("NormalizedGLM.natural_parameter", ng.NormalizedGLM.natural_parameter)
model_call("NormalizedGLM.mean", ng.NormalizedGLM.mean)
model_call("NormalizedGLM.log_likelihood", ng.NormalizedGLM.log_likelihood, takes_targets=True)
model_call("NormalizedGLM.gradient", ng.NormalizedGLM.gradient, takes_targets=True)


def check_fit(answer: Any, arguments: dict[str, Any]) -> None:
    check_model(answer.model, arguments)
    assert np.isfinite([answer.loss, answer.penalty]).all()
    assert answer.iterations <= arguments["max_iterations"]


@call("fit", ng.fit, check_fit)
def _(draw: Draw) -> dict[str, Any]:
    model, X = model_and_inputs(draw)
    return {
        "start": model,
        "X": X,
        "y": targets(draw, model, X),
        "ridge": draw(st.sampled_from([0.01, 0, 1e-300, 1e300])),
        "progress": None,
        "max_iterations": 3,
    }


def a_network(draw: Draw) -> ng.Network:
    normalizer, D = a_normalizer(draw), draw(SIZES)
    widths = draw(st.lists(st.integers(1, 4), max_size=2))
    family = draw(st.sampled_from([*ng.FAMILIES]))
    return ng.Network.random(normalizer, family, widths, D, 2, generator(draw))


def check_network(answer: ng.Network, arguments: dict[str, Any]) -> None:
    assert np.isfinite(answer.pack()).all()


@call("Network", ng.Network, check_network)
def _(draw: Draw) -> dict[str, Any]:
    network = a_network(draw)
    return {"hidden": network.hidden, "output": network.output}


@call("Network.random", ng.Network.random, check_network)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "normalizer": a_normalizer(draw),
        "family": draw(st.sampled_from([*ng.FAMILIES])),
        "widths": draw(st.lists(st.integers(1, 4), max_size=2)),
        "features": draw(SIZES),
        "outputs": draw(SIZES),
        "rng": generator(draw),
        "activation": draw(st.sampled_from(["tanh", "relu", "identity"])),
    }


@call("Network.loss_and_gradient", ng.Network.loss_and_gradient, finite)
def _(draw: Draw) -> dict[str, Any]:
    network = a_network(draw)
    X = array(draw, draw(SIZES), network.units[0].W.shape[1])
    return {"self": network, "X": X, "y": targets(draw, network.output, X)}


def a_recurrence(draw: Draw) -> ng.Recurrence:
    H, F = draw(SIZES), draw(SIZES)
    return ng.Recurrence(
        a_normalizer(draw),
        array(draw, H, H),
        array(draw, H, F),
        activation=draw(st.sampled_from(["tanh", "relu", "identity"])),
    )


def check_recurrence(answer: ng.Recurrence, arguments: dict[str, Any]) -> None:
    assert np.isfinite(answer.layer.W).all()


@call("Recurrence", ng.Recurrence, check_recurrence)
def _(draw: Draw) -> dict[str, Any]:
    H, F = draw(SIZES), draw(SIZES)
    return {
        "normalizer": a_normalizer(draw),
        "W_hh": array(draw, H, H),
        "W_xh": array(draw, H, F),
        "b": None,
        "g": None,
        "activation": "tanh",
    }


@call("Recurrence.random", ng.Recurrence.random, check_recurrence)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "normalizer": a_normalizer(draw),
        "neurons": draw(SIZES),
        "features": draw(SIZES),
        "rng": generator(draw),
        "spectral_radius": rate(draw),
        "activation": "relu",
    }


def check_run(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite([answer.factors, answer.summed_inputs, answer.hidden, answer.rms_hidden])
    assert len(answer.hidden) == answer.steps + 1
    assert answer.ended or answer.steps == len(answer.factors)


def run_arguments(draw: Draw) -> dict[str, Any]:
    recurrence, S = a_recurrence(draw), draw(SIZES)
    H = recurrence.neurons
    F = recurrence.layer.W.shape[1] - H
    T = draw(SIZES)
    return {
        "recurrence": recurrence,
        "X": array(draw, S, 3, F),
        "h0": None if draw(st.booleans()) else array(draw, S, H),
        "steps": T,
        "factors": draw(st.sampled_from([None, [1.0] * T, [1e200] * T])),
        "progress": None,
    }


call("run_recurrence", ng.run_recurrence, check_run)(run_arguments)


def check_norms(answer: Any, arguments: dict[str, Any]) -> None:
    assert answer.log10_norms.shape == (len(answer.times), len(arguments["past"].inputs))
    assert not np.isnan(answer.log10_norms).any()
    assert not np.isposinf(answer.log10_norms).any()
    assert bool(answer.notes) >= bool(np.isneginf(answer.log10_norms).any())


@call("jacobian_norms", ng.jacobian_norms, check_norms)
def _(draw: Draw) -> dict[str, Any]:
    past = ng.run_recurrence(**run_arguments(draw))
    return {"past": past, "points": draw(st.integers(2, 5)), "progress": None}
