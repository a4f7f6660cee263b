"""Calls of null spaces and their reasons."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import normgeo as ng

from .calls import SIZES, Draw, a_normalizer, call, model_and_inputs, require_finite
from .fisher import a_fisher


def check_null_space(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite(answer)
    F = arguments["F"]
    size = F.layout.size if not arguments["weights_only"] else len(F.layout.weights)
    assert answer.basis.shape == (F.layout.size, answer.dimension)
    assert 0 <= answer.dimension <= size


@call("null_space", ng.null_space, check_null_space)
def _(draw: Draw) -> dict[str, Any]:
    return {"F": a_fisher(draw), "weights_only": draw(st.booleans())}


@call(
    "expected_dimension",
    ng.expected_dimension,
    lambda answer, arguments: require_dimension(answer, arguments["H"] * arguments["D"]),
)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "normalizer": a_normalizer(draw),
        "H": draw(SIZES),
        "D": draw(SIZES),
        "family": draw(st.sampled_from([*ng.FAMILIES])),
    }


def require_dimension(found: int, largest: int) -> None:
    assert isinstance(found, int)
    assert 0 <= found <= largest


def check_explanation(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite([reason.angles for reason in answer.reasons])
    require_dimension(answer.explained, answer.null.dimension)
    assert answer.explained + answer.unexplained == answer.null.dimension


@call("explain", ng.explain, check_explanation)
def _(draw: Draw) -> dict[str, Any]:
    model, X = model_and_inputs(draw)
    null = ng.null_space(ng.fisher(model, X), draw(st.booleans()))
    return {"model": model, "X": X, "null": null}
