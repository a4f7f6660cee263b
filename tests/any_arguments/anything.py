"""Values of every kind that anybody may pass anywhere: extreme, endless and wrong ones."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cache, reduce
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from scipy.sparse import eye_array

import normgeo as ng


def anything() -> tuple[Any, ...]:
    """Values of every kind; new ones each time, since some have a state."""
    return (*NUMBERS, *words(), *lists(), *arrays(), *objects())


NUMBERS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2.5, -0.0, 1j),
    *(float("nan"), float("inf"), -float("inf"), 1e308, -1e-300, 5e-324),
    *(2**63, 2**64, -(2**64), 10**9 + 1, 10**400, -(10**400), 10**5000, -(10**5000)),
    *(Fraction(1, 3), Fraction(10**5000, 3), Decimal("1.5"), Decimal("nan"), Decimal("1e999999")),
    *(np.float32(0.5), np.float16(2), np.longdouble("1e4000"), np.int8(2), np.uint64(2**64 - 1)),
    *(np.True_, np.timedelta64(3, "s"), np.datetime64("NaT"), np.void(b"ab"), pandas.NA),
)


def words() -> tuple[Any, ...]:
    return (
        *("", "1", "nan", "None", "gaussian", "layer", "batch", "adam", "⟦"),
        *("a\nb\x1b[31m\u202e", "\ud800", "\0", "x" * 10**6),
        *(b"layer", b"\0", bytearray(b"ab"), memoryview(b"abc")),
        *(Path("x"), Path("a\0")),
    )


DEEP: list[Any] = reduce(lambda inner, _: [inner], range(10_000), [1.0])
OWN: list[Any] = []
OWN.append(OWN)


def lists() -> tuple[Any, ...]:
    return (
        *((), [], {}, [[]], [1.0], [1, 2], [[1.0]], [[1.0], [1.0, 2.0]], [[True]], [[[[1.0]]]]),
        *([[float("nan"), 1.0]], [[10**400, 1]], [[1e308] * 3] * 4, [[5e-324] * 3] * 4),
        *([None, None], ["a", "b"], [("a", "b")], {1, 2}, frozenset([1])),
        *({"a": 1}, {1: 2}, {"layer": "batch"}),
        *([np.eye(3), np.eye(2)], [np.ones(3), np.ones((3, 1))]),
        *(DEEP, OWN, [OWN, OWN]),
        *(range(3), range(10**12), range(10**30), [range(10**12)] * 3),
        *(iter([]), iter([1.0]), (x for x in [1, 2]), count()),
    )


def arrays() -> tuple[Any, ...]:
    endless = np.broadcast_to(1.0, (10**12,))
    return (
        *(endless, [endless] * 3, np.broadcast_to(1.0, (10**6, 10**6))),
        np.broadcast_to(np.arange(3.0), (10**12, 3)),
        *(np.zeros(0), np.zeros((0, 3)), np.zeros((2, 0)), np.ones((2, 2, 2)), np.ones((1,) * 40)),
        *(np.ones((3, 2), dtype=np.longdouble), np.array([np.longdouble("1e4000")] * 4)),
        *(np.array("a"), np.array(["a\nb"] * 50), np.array(1.0), np.array([[1j]])),
        *(np.empty((3, 3), dtype=object), np.zeros(3, dtype=[("a", float)])),
        *(np.ma.masked, np.ma.masked_array(np.ones((4, 3)), mask=np.eye(4, 3))),
        *(np.ones((40, 3)), np.full((4, 3), 1e-310), np.ones(4, dtype="M8[s]")),
        *(np.asfortranarray(np.eye(4, 3)), np.eye(4, 3)[::-1], np.eye(4, 3).astype(">f4")),
        eye_array(3),
        *(pandas.DataFrame({"a": [1.0, 2.0]}), pandas.Series([1.0, None])),
        *(Narrow(np.ones((4, 3))), Narrow(np.ones(3))),
    )


def objects() -> tuple[Any, ...]:
    return (
        *(object(), int, type, np, len, lambda *numbers: None, ..., NotImplemented, slice(3)),
        *(ValueError("x"), Silent(), Loud(), [Loud()]),
        *(ng.NORMALIZERS["layer"], ng.NORMALIZERS["standard"], ng.TRANSFORMS["case_rescaling"]),
        *(ng.FAMILIES["poisson"], ng.OPTIMIZERS["adam"], ng.Constant(0.1)),
        *(np.random.default_rng(0), a_model(), fisher_of_a_model()),
    )


class Silent:
    """An object whose repr raises an error."""

    def __repr__(self) -> str:
        raise RuntimeError


class Loud:
    """An object whose repr has several lines, with commands for a terminal."""

    def __repr__(self) -> str:
        return "a\nb\x1b[31m\u202e"


class Narrow:
    """Like PyTorch's numbers that require a gradient, of a type that NumPy lacks."""

    def __init__(self, values: np.ndarray, *, detached: bool = False) -> None:
        self.values, self.detached = values, detached

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def detach(self) -> Narrow:
        return Narrow(self.values, detached=True)

    def float(self) -> np.ndarray:
        return self.values.astype(np.float32)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if self.detached:
            raise TypeError("Got unsupported ScalarType BFloat16")
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.\nUse detach().")


@cache
def a_model() -> ng.NormalizedGLM:
    rng = np.random.default_rng(0)
    return ng.NormalizedGLM.random(ng.NORMALIZERS["layer"], "gaussian", 4, 3, rng)


@cache
def fisher_of_a_model() -> ng.Fisher:
    return ng.fisher(a_model(), np.eye(5, 3) + 1)
