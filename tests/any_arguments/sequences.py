"""Calls of recurrent cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import normgeo as ng

from .calls import SIZES, Draw, a_normalizer, array, call, generator, rate, require_finite, seed

CELLS = st.sampled_from([*ng.CELLS])


def units_of(draw: Draw, cell: str, normalizer: ng.Normalizer, H: int, F: int) -> list[Any]:
    shapes = [
        (product.gates * H, product.state * H + product.inputs * F)
        for product in ng.CELLS[cell].products
    ]
    has_gain = not normalizer.is_standard and draw(st.booleans())
    return [
        (array(draw, K, D), array(draw, K), array(draw, K) if has_gain else None) for K, D in shapes
    ]


def a_layer(draw: Draw, H: int, F: int) -> ng.CellLayer:
    cell, normalizer = draw(CELLS), a_normalizer(draw)
    units = units_of(draw, cell, normalizer, H, F)
    return ng.CellLayer(cell, normalizer, units, gate_by_gate=draw(st.booleans()))


def check_layer(answer: ng.CellLayer, arguments: dict[str, Any]) -> None:
    assert np.isfinite(answer.pack()).all()


@call("CellLayer", ng.CellLayer, check_layer)
def _(draw: Draw) -> dict[str, Any]:
    cell, normalizer, H, F = draw(CELLS), a_normalizer(draw), draw(SIZES), draw(SIZES)
    return {
        "cell": cell,
        "normalizer": normalizer,
        "units": units_of(draw, cell, normalizer, H, F),
        "memory": draw(st.sampled_from([None, (np.zeros(H), None)])),
        "gate_by_gate": draw(st.booleans()),
    }


@call("CellLayer.random", ng.CellLayer.random, check_layer)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "cell": draw(CELLS),
        "normalizer": a_normalizer(draw),
        "neurons": draw(SIZES),
        "features": draw(SIZES),
        "rng": generator(draw),
        "gain": draw(st.sampled_from([1.0, 0.1, 1e300])),
        "gate_by_gate": draw(st.booleans()),
    }


def check_run(answer: ng.CellRun, arguments: dict[str, Any]) -> None:
    assert all(np.isfinite(each).all() for each in answer.states)
    assert len(answer.hidden) == answer.steps + 1


def run_arguments(draw: Draw) -> dict[str, Any]:
    H, F, S, T = (draw(SIZES) for _ in range(4))
    layer, X = a_layer(draw, H, F), array(draw, S, T, F)
    known = None
    if draw(st.booleans()):
        known = ng.run_cell(layer, array(draw, S, 2, F)).averaged_into(None)
    start = [array(draw, S, H) for _ in range(layer.cell.states)]
    return {
        "layer": layer,
        "X": X,
        "start": draw(st.sampled_from([None, start])),
        "statistics": known,
        "beyond": draw(st.sampled_from(["refuse", "last"])),
    }


call("run_cell", ng.run_cell, check_run)(run_arguments)


def finite_gradient(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite(answer)
    assert answer.shape == arguments["self"].layer.pack().shape


@call("CellRun.vjp", ng.CellRun.vjp, finite_gradient)
def _(draw: Draw) -> dict[str, Any]:
    run = ng.run_cell(**run_arguments(draw))
    return {"self": run, "U": array(draw, *run.hidden[1:].shape)}


@call("CellRun.own_statistics", ng.CellRun.own_statistics, lambda answer, _: require_finite(answer))
def _(draw: Draw) -> dict[str, Any]:
    return {"self": ng.run_cell(**run_arguments(draw))}


def check_norms(answer: Any, arguments: dict[str, Any]) -> None:
    assert answer.log10_norms.shape == (len(answer.times), arguments["past"].hidden.shape[1])
    assert not np.isnan(answer.log10_norms).any()
    assert not np.isposinf(answer.log10_norms).any()
    assert bool(answer.notes) >= bool(np.isneginf(answer.log10_norms).any())


@call("cell_jacobian_norms", ng.cell_jacobian_norms, check_norms)
def _(draw: Draw) -> dict[str, Any]:
    past = ng.run_cell(**run_arguments(draw))
    return {"past": past, "points": draw(st.integers(2, 5)), "progress": None}


def a_model(draw: Draw, features: int, classes: int) -> ng.SequenceModel:
    rng, gain = generator(draw), draw(st.sampled_from([1.0, 0.1, 1e300]))
    return ng.SequenceModel.random(
        draw(CELLS), a_normalizer(draw), draw(SIZES), features, classes, rng, gain=gain
    )


def check_model(answer: ng.SequenceModel, arguments: dict[str, Any]) -> None:
    assert np.isfinite(answer.pack()).all()


@call("SequenceModel", ng.SequenceModel, check_model)
def _(draw: Draw) -> dict[str, Any]:
    model = a_model(draw, draw(SIZES), 3)
    return {"layer": model.layer, "output": model.output}


@call("SequenceModel.random", ng.SequenceModel.random, check_model)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "cell": draw(CELLS),
        "normalizer": a_normalizer(draw),
        "neurons": draw(SIZES),
        "features": draw(SIZES),
        "classes": draw(SIZES),
        "rng": generator(draw),
        "gain": draw(st.sampled_from([1.0, 0.1, 1e300])),
        "gate_by_gate": draw(st.booleans()),
    }


def check_sequences(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite([answer.X_train, answer.X_test])
    assert answer.steps == (arguments["steps"] or answer.steps)
    assert 0 <= answer.y_train.min() < answer.y_train.max() < answer.classes


@call("load_sequences", ng.load_sequences, check_sequences)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "task": draw(st.sampled_from(["rows", "letters"])),
        "steps": draw(st.sampled_from([None, 8, 16, 5])),
        "seed": seed(draw),
    }


def check_history(answer: ng.SequenceHistory, arguments: dict[str, Any]) -> None:
    assert len(answer.train_loss) == len(answer.seconds) == answer.steps
    assert np.isfinite(answer.train_loss).all()
    assert answer.ended or answer.steps == arguments["steps"]


@call("train_sequences", ng.train_sequences, check_history)
def _(draw: Draw) -> dict[str, Any]:
    data = ng.load_sequences("rows")
    return {
        "model": a_model(draw, data.features, data.classes),
        "data": data,
        "batch_size": draw(st.sampled_from([1, 2, 5])),
        "steps": 3,
        "optimizer": draw(st.sampled_from([*ng.OPTIMIZERS])),
        "rate": rate(draw),
        "seed": seed(draw),
        "tests": draw(st.sampled_from([0, 1, 7])),
        "progress": None,
    }
