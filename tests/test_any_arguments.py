"""Whatever the arguments, a public function answers or refuses.

No other exception, no warning, and no call without an end. An answer has the shape that is
promised, and numbers where no reason says why there is none.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cache
from inspect import isclass, signature
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import normgeo as ng
from normgeo.base.refusal import Refusal
from normgeo.datasets.dataset import Dataset
from normgeo.datasets.datasets import load
from normgeo.datasets.hold_out import Split

LONGEST = 30.0
"""Seconds that a call may take at the sizes drawn here: they take milliseconds."""

EXAMPLES = 12
Draw = Callable[[st.SearchStrategy[Any]], Any]


@contextmanager
def watched(seconds: float) -> Iterator[None]:
    """Fail a call that has not come to an end after so many seconds."""
    late = threading.Event()

    def interrupt() -> None:
        late.set()
        _thread.interrupt_main()

    timer = threading.Timer(seconds, interrupt)
    timer.start()
    try:
        yield
    except KeyboardInterrupt:
        if not late.is_set():
            raise
        pytest.fail(f"no end after {seconds:g} s", pytrace=False)
    finally:
        timer.cancel()


# What anybody may put anywhere.


def anything() -> tuple[Any, ...]:
    """Values of every kind, the extreme and the wrong ones; made anew, since some have a state."""
    return (
        None,
        True,
        False,
        0,
        1,
        -1,
        2.5,
        float("nan"),
        float("inf"),
        -float("inf"),
        1e308,
        -1e-300,
        5e-324,
        2**63,
        10**9 + 1,
        10**400,
        -(10**400),
        Fraction(1, 3),
        np.float32(0.5),
        np.float16(2),
        np.int8(2),
        np.True_,
        1j,
        "",
        "gaussian",
        "⟦",
        b"layer",
        (),
        [],
        {},
        [[]],
        [1.0],
        [1, 2],
        [[1.0]],
        [[1.0], [1.0, 2.0]],
        [[float("nan"), 1.0]],
        [[10**400, 1]],
        [None, None],
        ["a", "b"],
        np.zeros((0, 3)),
        np.ones((2, 2, 2)),
        np.ones((3, 2), dtype=np.longdouble),
        np.array("a"),
        np.array(1.0),
        np.ma.masked,
        np.ma.masked_array(np.ones((4, 3)), mask=np.eye(4, 3)),
        np.ones(4, dtype="M8[s]"),
        range(3),
        {1, 2},
        object(),
        int,
        lambda *numbers: None,
        ng.NORMALIZERS["layer"],
        ng.NORMALIZERS["standard"],
        ng.TRANSFORMS["case_rescaling"],
        ng.FAMILIES["poisson"],
        ng.OPTIMIZERS["adam"],
        ng.Constant(0.1),
        np.random.default_rng(0),
        a_model(),
        fisher_of_a_model(),
    )


KINDS = 61  # of `anything`


@cache
def a_model() -> ng.NormalizedGLM:
    rng = np.random.default_rng(0)
    return ng.NormalizedGLM.random(ng.NORMALIZERS["layer"], "gaussian", 4, 3, rng)


@cache
def fisher_of_a_model() -> ng.Fisher:
    return ng.fisher(a_model(), np.eye(5, 3) + 1)


# Arguments that fit, at sizes and sizes of numbers that may not.

SIZES = st.sampled_from([1, 2, 3, 3, 4, 4])
SCALES = st.sampled_from([*[1.0] * 12, 1e-8, 1e8, 1e-161, 1e-300, 1e160, 1e300, 0.0])
KIND = st.sampled_from([*[np.float64] * 4, np.float32, np.float16])


def array(draw: Draw, *shape: int) -> Any:
    """Numbers of a size and type, some of them equal rows or with an offset."""
    values = np.random.default_rng(draw(st.integers(0, 3))).standard_normal(shape)
    kind = draw(st.sampled_from([*["plain"] * 6, "equal rows", "offset", "whole", "ones"]))
    if kind == "equal rows":
        values[:] = values[:1]
    elif kind == "offset":
        values += 1e6
    elif kind in {"whole", "ones"}:
        return values.round().astype(int) if kind == "whole" else np.ones(shape)
    with np.errstate(all="ignore"):
        return (values * draw(SCALES)).astype(draw(KIND))


def a_normalizer(draw: Draw) -> ng.Normalizer:
    """One of all pairs, with an ε, frozen statistics and groups where it takes them."""
    normalizer = draw(st.sampled_from([*ng.GRID.values()]))
    eps = draw(st.sampled_from([0.0, 0.0, 0.0, 1e-5, 1e-300, 1e300, Fraction(1, 7)]))
    frozen = draw(st.sampled_from([False, False, True])) and normalizer.shared_by_cases
    groups = draw(st.sampled_from([1, 1, 2])) if normalizer.shared_by_neurons else 1
    center, scale = normalizer.words
    return ng.Normalizer(center, scale, groups, eps, "frozen" if frozen else "current")


def model_and_inputs(draw: Draw) -> tuple[Any, Any]:
    """A model that fits the inputs, or is refused."""
    H, D, N = draw(SIZES), draw(SIZES), draw(SIZES)
    normalizer = a_normalizer(draw)
    phi = draw(st.sampled_from([1.0, 1.0, 1.0, 0.1]))
    family = draw(st.sampled_from([*ng.FAMILIES])) if phi == 1 else "gaussian"
    W, X = array(draw, H, D), array(draw, N, D)
    g = None if normalizer.is_standard or draw(st.booleans()) else array(draw, H)
    b = None if draw(st.booleans()) else array(draw, H)
    model = ng.NormalizedGLM(normalizer, family, W, b, g, phi=phi, reference=(W, X))
    return model, X


def targets(draw: Draw, model: ng.NormalizedGLM, X: Any) -> Any:
    """Targets that the family takes."""
    H = len(model.W)
    if model.family.coupled:
        return np.arange(len(X)) % H
    largest = draw(st.sampled_from([1, 1, 1, 1e200])) if model.family.key == "gaussian" else 1
    return largest * (np.arange(len(X) * H) % 2).reshape(len(X), H)


def seed(draw: Draw) -> int:
    return int(draw(st.sampled_from([0, 7, 2**64 - 1])))


def rate(draw: Draw) -> float:
    return float(draw(st.sampled_from([0.1, 1.0, 1e-300, 1e-8, 1e8, 1e300])))


def generator(draw: Draw) -> np.random.Generator:
    return np.random.default_rng(draw(st.integers(0, 5)))


# Answers.


def numbers(answer: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every array and float of an answer, with where it stands."""
    if isinstance(answer, np.ndarray | float | np.floating):
        yield path, np.asarray(answer)
    elif isinstance(answer, Mapping):
        for key, value in answer.items():
            yield from numbers(value, f"{path}[{key!r}]")
    elif isinstance(answer, tuple | list):
        names = getattr(answer, "_fields", range(len(answer)))
        for name, value in zip(names, answer, strict=True):
            yield from numbers(value, f"{path}.{name}")
    elif is_dataclass(answer) and not isclass(answer):
        for field in fields(answer):
            yield from numbers(getattr(answer, field.name, None), f"{path}.{field.name}")


def require_finite(answer: Any, but: Mapping[str, bool] = {}) -> None:
    """Every number is finite, but where the path ends in one that has a reason."""
    for path, values in numbers(answer):
        if any(path.endswith(end) and excused for end, excused in but.items()):
            continue
        if values.dtype.kind == "f":
            assert np.isfinite(values).all(), f"{path} is not finite: {values}"


@dataclass(frozen=True)
class Call:
    """A function, arguments that fit, and what its answer must be.

    Attributes:
        function: what is called, with arguments by name. draw: draws those that fit.
        check: fails for an answer that is not right in shape or in its numbers.

    """

    function: Callable[..., Any]
    draw: Callable[[Draw], dict[str, Any]]
    check: Callable[[Any, dict[str, Any]], None]


CALLS: dict[str, Call] = {}


def call(
    name: str, function: Callable[..., Any], check: Callable[[Any, dict[str, Any]], None]
) -> Callable[[Callable[[Draw], dict[str, Any]]], None]:
    def register(draw: Callable[[Draw], dict[str, Any]]) -> None:
        CALLS[name] = Call(function, draw, check)

    return register


def finite(answer: Any, arguments: dict[str, Any]) -> None:
    require_finite(answer)


# Data sets.


def check_split(split: Split, arguments: dict[str, Any]) -> None:
    finite(split, arguments)
    assert len(split.X_train) == len(split.y_train) >= 2
    assert len(split.X_test) == len(split.y_test) >= 1
    data: Dataset = arguments["data"]
    assert len(split.X_train) + len(split.X_test) == data.N
    assert split.X_train.shape[1] == split.X_test.shape[1] == split.kept.sum()


@call("hold_out", ng.hold_out, check_split)
def _(draw: Draw) -> dict[str, Any]:
    share = draw(st.floats(0, 1, exclude_min=True, exclude_max=True))
    return {"data": load("linnerud"), "test_share": share, "seed": seed(draw)}


# Normalizers.


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


# Invariance.


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
    assert len(answer) == len(arguments["normalizers"]) * len(arguments["transforms"])


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


# Models.


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


# Fisher.


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


# Symmetry.


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


# Dynamics.


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
    return block_arguments(draw) | {"norms": norms, **more}


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
        "seed": seed(draw),
        "progress": None,
    }


# All of them.

ANSWERS = {
    ng.AngularUpdates: "angular_updates",
    ng.Balance: "simulate_balance",
    ng.Comparison: "compare",
    ng.DecayAsSchedule: "decay_as_schedule",
    ng.DoublingRow: "doubling_table",
    ng.Explanation: "explain",
    ng.Fisher: "fisher",
    ng.Fit: "fit",
    ng.GainMetric: "gain_metric",
    ng.History: "train",
    ng.Normalized: "Normalizer.normalize",
    ng.NullSpace: "null_space",
    ng.PlanePath: "plane_path",
    ng.Spectrum: "spectrum",
    ng.Trajectory: "descend",
    ng.Witness: "smallest_witness",
}
"""Classes that nobody makes by hand, and the call that answers with one."""


def test_every_public_name_is_called_here() -> None:
    """A new function or class states here what it takes and what it promises."""
    constants = {name for name in ng.__all__ if name.isupper() or name == "TABLE_1"}
    called = {name.partition(".")[0] for name in CALLS}
    answered = {kind.__name__ for kind in ANSWERS}
    assert {*ng.__all__} == constants | called | answered
    assert {*ANSWERS.values()} <= {*CALLS}


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_of_a_call_is_drawn(name: str) -> None:
    """So that none is left out when a parameter is added; `name` is for people to read."""
    taken = {*signature(CALLS[name].function).parameters} - {"name", "tolerance"}
    drawn: dict[str, Any] = {}

    @settings(max_examples=10, derandomize=True, database=None)
    @given(st.data())
    def look(data: st.DataObject) -> None:
        try:
            drawn.update(CALLS[name].draw(data.draw))
        except Refusal:
            return

    look()
    assert {*drawn} | {"tolerance"} == taken | {"tolerance"}


@pytest.mark.parametrize("name", CALLS)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)
@given(data=st.data())
def test_call_answers_or_refuses(name: str, data: st.DataObject) -> None:
    called = CALLS[name]
    try:
        arguments = called.draw(data.draw)
    except Refusal:
        return  # what the call would be made with is refused already
    replaceable = sorted({*arguments} - {"self"})
    wrong = data.draw(st.sets(st.sampled_from(replaceable), max_size=1)) if replaceable else ()
    for argument in wrong:
        arguments[argument] = anything()[data.draw(st.integers(0, KINDS - 1), label=argument)]
    self = arguments.pop("self", None)
    bound = () if self is None else (self,)
    with watched(LONGEST):
        try:
            answer = called.function(*bound, **arguments)
        except Refusal:
            return
        called.check(answer, arguments | ({} if self is None else {"self": self}))
