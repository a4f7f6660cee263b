"""Calls of the Fisher information and of results from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

import normgeo as ng

from .calls import Draw, array, call, finite, model_and_inputs, require_finite, seed


@call("fisher", ng.fisher, lambda answer, arguments: finite(answer.diagonal(), arguments))
def _(draw: Draw) -> dict[str, Any]:
    model, X = model_and_inputs(draw)
    return {
        "model": model,
        "X": X,
        "form": draw(st.sampled_from(["operator", "dense", "blocks"])),
        "coupling": draw(st.sampled_from(["exact", "paper"])),
        "max_bytes": draw(st.sampled_from([2**31, 10, 0])),
    }


def a_fisher(draw: Draw) -> ng.Fisher:
    model, X = model_and_inputs(draw)
    form = draw(st.sampled_from(["operator", "operator", "dense", "blocks"]))
    return ng.fisher(model, X, form, draw(st.sampled_from(["exact", "paper"])))


def fisher_call(name: str, **others: Callable[[Draw, ng.Fisher], Any]) -> None:
    """Register a method of a Fisher information, with its other arguments."""

    def draw_arguments(draw: Draw) -> dict[str, Any]:
        F = a_fisher(draw)
        return {"self": F} | {key: value(draw, F) for key, value in others.items()}

    call(f"Fisher.{name}", getattr(ng.Fisher, name), finite)(draw_arguments)


def vectors(draw: Draw, F: ng.Fisher) -> Any:
    return array(draw, F.layout.size, 2)


fisher_call("quad", v=lambda draw, F: array(draw, F.layout.size))
fisher_call("restrict", V=vectors)
fisher_call("factor_times", V=vectors)
fisher_call("trace")
fisher_call("to_dense", max_bytes=lambda draw, F: draw(st.sampled_from([None, 8, 1e9])))
fisher_call("weights", max_bytes=lambda draw, F: draw(st.sampled_from([None, 8, 1e9])))
fisher_call("block", i=lambda draw, F: 0, j=lambda draw, F: F.layout.neurons - 1)
fisher_call(
    "solve",
    b=lambda draw, F: array(draw, F.layout.size),
    damping=lambda draw, F: draw(st.sampled_from([0, 1.0, 1e-300, 1e300])),
    rtol=lambda draw, F: draw(st.sampled_from([1e-8, 1e-300, 0.5])),
    max_iterations=lambda draw, F: draw(st.sampled_from([None, 1, 5])),
)


def check_gain_metric(answer: Any, arguments: dict[str, Any]) -> None:
    excused = any(answer.problems)
    require_finite(answer, {".exact": excused, ".printed": excused})
    lost = np.isnan(answer.exact).any(axis=(1, 2))
    assert lost.tolist() == [bool(problem) for problem in answer.problems]
    if not excused:
        require_finite(answer.total)
        assert np.isnan(answer.ratio).all() == (np.trace(answer.unscaled) == 0)
    assert answer.changes in {True, False}


@call("gain_metric", ng.gain_metric, check_gain_metric)
def _(draw: Draw) -> dict[str, Any]:
    model, X = model_and_inputs(draw)
    deltas = draw(st.lists(st.sampled_from([1.0, 2.0, 1e-300, 1e300]), min_size=1, max_size=3))
    return {"model": model, "X": X, "deltas": deltas, "progress": None}


def check_kl(answer: float, arguments: dict[str, Any]) -> None:
    assert 0 <= answer < np.inf


@call("kl", ng.kl, check_kl)
def _(draw: Draw) -> dict[str, Any]:
    model, X = model_and_inputs(draw)
    factor = draw(st.sampled_from([1.0, 1 + 1e-15, 2.0, 1e150]))
    with np.errstate(over="ignore"):
        theta = factor * model.pack()
    return {"model": model, "other": model.unpack(theta), "X": X}


def check_spectrum(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite(answer)
    assert answer.vectors.shape == (arguments["F"].layout.size, len(answer.values))
    assert 0 <= answer.share <= 1 + 1e-6


@call("spectrum", ng.spectrum, check_spectrum)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "F": a_fisher(draw),
        "k": draw(st.sampled_from([1, 2, None])),
        "weights_only": draw(st.booleans()),
        "seed": seed(draw),
        "progress": None,
    }
