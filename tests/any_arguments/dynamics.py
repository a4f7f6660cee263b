"""Calls of descents, laws of the norm and training."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import normgeo as ng
from normgeo.datasets.hold_out import Split

from .calls import (
    SIZES,
    Draw,
    array,
    call,
    finite,
    model_and_inputs,
    rate,
    require_finite,
    seed,
    targets,
)
from .models import a_network


@call("Constant", ng.Constant, lambda answer, arguments: finite(answer.rates(np.arange(3)), {}))
def _(draw: Draw) -> dict[str, Any]:
    return {"rate": rate(draw)}


@call("Exponential", ng.Exponential, lambda answer, arguments: finite(answer, {}))
def _(draw: Draw) -> dict[str, Any]:
    return {"rate": rate(draw), "ratio": rate(draw)}


def block_arguments(draw: Draw) -> dict[str, Any]:
    model, X = model_and_inputs(draw)
    return {"model": model, "X": X, "y": targets(draw, model, X)}


def check_updates(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite(answer)
    predictions = (answer.predicted_angles, answer.predicted_loss, answer.predicted_gradient_norms)
    require_finite([*predictions, answer.halved_angles, answer.predicted_fisher_lengths])


@call("angular_updates", ng.angular_updates, check_updates)
def _(draw: Draw) -> dict[str, Any]:
    norms = draw(st.lists(st.sampled_from([1.0, 2.0, 1e-161, 1e160, 1e300]), min_size=1))
    more = {"rate": rate(draw), "block": 0, "homogeneous": draw(st.booleans())}
    optimizer = draw(st.sampled_from([*ng.OPTIMIZERS]))
    return block_arguments(draw) | {"norms": norms, "optimizer": optimizer, **more}


def check_rows(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite(answer)
    for row in answer:
        assert (row.measured is None) == bool(row.reason), row


@call("doubling_table", ng.doubling_table, check_rows)
def _(draw: Draw) -> dict[str, Any]:
    return block_arguments(draw) | {"block": 0}


def check_trajectory(run: Any, arguments: dict[str, Any]) -> None:
    T, B = run.angles.shape
    require_finite(
        [run.rates[:-1], run.loss, run.norms, run.gradient_norms, run.step_norms, run.angles],
    )
    require_finite([run.radial, run.parameters])
    assert len(run.loss) == len(run.norms) == T + 1 == len(run.rates)
    assert run.diverged or arguments["steps"] == T
    assert run.vectors().shape[:2] == (len(run.kept), B)


def descent_arguments(draw: Draw) -> dict[str, Any]:
    return block_arguments(draw) | {
        "optimizer": draw(st.sampled_from([*ng.OPTIMIZERS])),
        "steps": draw(SIZES),
        "rate": draw(st.sampled_from([rate(draw), ng.Exponential(0.1, 1e100)])),
        "block": draw(st.sampled_from([None, None, 0])),
        "checkpoint_bytes": draw(st.sampled_from([2**26, 0])),
        "affine_rate": draw(st.sampled_from([None, 0.0, 1.0])),
        "decay": draw(st.sampled_from([0, 0.1, 1e-300, 1e300])),
        "batch_size": draw(st.sampled_from([None, 1, 2])),
        "seed": seed(draw),
        "progress": None,
    }


call("descend", ng.descend, check_trajectory)(descent_arguments)


def a_run(draw: Draw) -> ng.Trajectory:
    return ng.descend(**descent_arguments(draw))


def check_comparison(answer: Any, arguments: dict[str, Any]) -> None:
    for quantity in answer.values():
        assert quantity.measured.shape == quantity.predicted.shape
        require_finite([quantity.measured, quantity.predicted, quantity.deviation])


@call("compare", ng.compare, check_comparison)
def _(draw: Draw) -> dict[str, Any]:
    return {"run": a_run(draw)}


def check_path(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite(answer)
    assert answer.coordinates.shape == (len(answer.steps), 2)


@call("plane_path", ng.plane_path, check_path)
def _(draw: Draw) -> dict[str, Any]:
    plane = draw(st.sampled_from(["principal", "first_step"]))
    return {"run": a_run(draw), "block": 0, "plane": plane}


def check_twins(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite([answer.angles, answer.growth, answer.predicted_growth])
    assert answer.angles.shape == answer.growth.shape


@call("decay_as_schedule", ng.decay_as_schedule, check_twins)
def _(draw: Draw) -> dict[str, Any]:
    return block_arguments(draw) | {
        "rate": rate(draw),
        "decay": draw(st.sampled_from([0.01, 1e-300, 1e300, 0.999999])),
        "steps": draw(SIZES),
        "batch_size": draw(st.sampled_from([None, 1, 2])),
        "seed": seed(draw),
        "tolerance": 1e-9,
        "block": None,
        "checkpoint_bytes": 2**26,
        "progress": None,
    }


def check_balance(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite(answer)
    require_finite(answer.settled)
    assert len(answer.norms) == len(answer.angles) + 1 == arguments["steps"] + 1
    assert (answer.norms > 0).all()


@call("simulate_balance", ng.simulate_balance, check_balance)
def _(draw: Draw) -> dict[str, Any]:
    norm = draw(st.sampled_from([1.0, 1e-160, 1e200, 1e-300, 1e300]))
    return {
        "optimizer": draw(st.sampled_from([*ng.OPTIMIZERS])),
        "rate": rate(draw),
        "decay": draw(st.sampled_from([0.1, 1e-300, 1e-8, 1e300])),
        "gradient_norm": draw(st.sampled_from([1.0, 1e-300, 1e300])),
        "weights": draw(st.integers(3, 5)),
        "norm": norm,
        "steps": draw(st.integers(2, 5)),
        "seed": seed(draw),
    }


def check_rotation(answer: Any, arguments: dict[str, Any]) -> None:
    known = arguments["gradient_norm"] is not None
    require_finite([answer.angle, answer.forgotten] if known else answer.returns)
    assert not answer.norm < 0
    assert not answer.half_life < 0


@call("rotational_equilibrium", ng.rotational_equilibrium, check_rotation)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "optimizer": draw(st.sampled_from([*ng.OPTIMIZERS])),
        "rate": rate(draw),
        "decay": draw(st.sampled_from([0.1, 1e-300, 1e-8, 1e300])),
        "weights": draw(st.integers(2, 5)),
        "gradient_norm": draw(st.sampled_from([None, 1.0, 1e-300, 1e300])),
    }


def check_history(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite([answer.train_loss, answer.test_loss, answer.network.pack()])
    assert answer.ended or len(answer.epoch_ends) == arguments["epochs"]


@call("train", ng.train, check_history)
def _(draw: Draw) -> dict[str, Any]:
    network = a_network(draw)
    D = network.units[0].W.shape[1]
    X, X_test = array(draw, 4, D), array(draw, draw(SIZES), D)
    y, y_test = (targets(draw, network.output, part) for part in (X, X_test))
    return {
        "network": network,
        "data": Split(X, y, X_test, y_test, np.ones(D, dtype=bool)),
        "batch_size": draw(SIZES),
        "epochs": 2,
        "optimizer": draw(st.sampled_from([*ng.OPTIMIZERS])),
        "rate": rate(draw),
        "decay": draw(st.sampled_from([0.0, 0.1])),
        "seed": seed(draw),
        "progress": None,
    }
