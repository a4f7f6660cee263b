"""How to state a call: valid arguments, drawn at random, and the requirements on the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from inspect import isclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import normgeo as ng

Draw = Callable[[st.SearchStrategy[Any]], Any]

SIZES = st.sampled_from([1, 2, 3, 3, 4, 4])
SCALES = st.sampled_from([*[1.0] * 12, 1e-8, 1e8, 1e-161, 1e-300, 1e160, 1e300, 0.0])
KIND = st.sampled_from([*[np.float64] * 4, np.float32, np.float16])


def array(draw: Draw, *shape: int) -> Any:
    """Numbers of some size and type, sometimes with equal rows or an offset."""
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
    """Any center and scale, with an ε, frozen statistics and groups if it takes them."""
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
    """Targets that the family accepts."""
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
    """Every array and float of an answer, with its path."""
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
    """Require that every number is finite, except at paths that end in a name that has a reason."""
    for path, values in numbers(answer):
        if any(path.endswith(end) and excused for end, excused in but.items()):
            continue
        if values.dtype.kind == "f":
            assert np.isfinite(values).all(), f"{path} is not finite: {values}"


@dataclass(frozen=True)
class Call:
    """A function, valid arguments, and requirements on its answer.

    Attributes:
        function: to be called, with arguments by name. draw: draws valid arguments.
        check: fails for an answer with a wrong shape or wrong numbers.

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
