"""Calls of recurrent cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import normgeo as ng

from .calls import SIZES, Draw, a_normalizer, array, call, generator, require_finite

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
