"""Calls of functions that measure a network."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st

import normgeo as ng
from normgeo.base.budget import Budget
from normgeo.measured.tree import is_array, leaves, viewed

from .calls import SIZES, Draw, array, call, seed
from .recordings import in_a_folder


def network(parameters: Any, *inputs: Any) -> list[Any]:
    """Takes any tree of arrays: tanh of the sum over the last axis."""
    arrays = (viewed(name, one) for name, one in leaves(parameters).items() if is_array(one))
    floats = [one for one in arrays if one.dtype.kind == "f" and one.ndim]
    return [np.tanh(one.sum(axis=-1)) for one in floats] or [np.ones(2)]


def check_table(table: ng.MeasuredTable, arguments: dict[str, Any]) -> None:
    assert table.complete
    assert {*table.tensors} == {*table.roles} == {*table.names}
    for one in table.tensors.values():
        assert one.influence >= 0
        assert one.parameters == prod(one.shape)
        assert {*one.rows} | {*one.untried} <= {*range(one.neurons)}
    assert sum(group.parameters for group in table.groups().groups) == sum(
        one.parameters for one in table.tensors.values()
    )
    assert table.render().endswith("\n")


def some_parameters(draw: Draw) -> dict[str, Any]:
    H, D = draw(SIZES), draw(SIZES)
    return {"W": array(draw, H, D), "more": [array(draw, H), None, 3]}


@call("measure", ng.measure, check_table)
def _(draw: Draw) -> dict[str, Any]:
    parameters, number = some_parameters(draw), seed(draw)
    several = draw(st.sampled_from([None, None, [1.0], [np.eye(2), np.eye(3)]]))
    done = ng.measure(network, parameters, several, seed=number)
    return {
        "f": network,
        "parameters": parameters,
        "inputs": several,
        "neurons": 0,
        "embeddings": draw(st.sampled_from([(), ("W",)])),
        "matrices": draw(st.sampled_from([None, (), ("W",)])),
        "negative": False,
        "tries": 4,
        "float64": True,
        "seed": number,
        "budget": draw(st.sampled_from([None, Budget(1e9, 1e3)])),
        "progress": None,
        "resume": draw(st.sampled_from([None, done])),
    }


@call("read_measured", in_a_folder(ng.read_measured), check_table)
def _(draw: Draw) -> dict[str, Any]:
    return {"path": "there.json"}


def check_cost(cost: ng.MeasuringCost, arguments: dict[str, Any]) -> None:
    assert cost.passes > 0
    assert cost.bytes > 0


@call("measuring_cost", ng.measuring_cost, check_cost)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "parameters": some_parameters(draw),
        "neurons": draw(st.sampled_from([0, -1])),
        "tries": draw(st.sampled_from([0, 4, 100])),
    }
