"""Places of the norm: exact verdicts against plain NumPy, and against the verdicts on z."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from normgeo import NORMALIZERS, TRANSFORMS, Normalizer, certify
from normgeo.base.refusal import Refusal
from normgeo.checkpoints.basis import sentence
from normgeo.checkpoints.place import PLACES, Freedom, freedoms, rescalable

NORMS = [key for key, norm in NORMALIZERS.items() if norm.scaling.takes_eps]
Arrays = dict[str, Any]


def norm(key: str, a: Any, eps: float) -> Any:
    """N(a) over (N, channels), written as a paper defines it."""
    groups = NORMALIZERS[key].groups
    if key == "batch":
        return (a - a.mean(0)) / np.sqrt(a.var(0) + eps)
    parts = []
    for part in np.split(a, groups, axis=1):
        mean = 0 if key == "rms" else part.mean(1, keepdims=True)
        parts.append((part - mean) / np.sqrt(((part - mean) ** 2).mean(1, keepdims=True) + eps))
    return np.concatenate(parts, axis=1)


def output(place: str, key: str, p: Arrays, eps: float) -> Any:
    X, W = p["X"], p["W"]
    if place == "before":
        return (p["g"] * norm(key, X, eps) + p["beta"]) @ W.T + p["b"]
    stream = p["stream"] + p["b"] if place == "residual" else 0
    return p["g"] * norm(key, X @ W.T + stream, eps) + p["beta"]


def one_row(W: Any, row: Any) -> Any:
    changed = W.copy()
    changed[0] = row
    return changed


def offset_over_gain(p: Arrays) -> Arrays:
    shift = p["c"][:, None] / p["g"]
    return {"W": p["W"] + shift, "b": p["b"] - shift @ p["beta"]}


CHANGES: dict[str, Callable[[Arrays], Arrays]] = {
    "all_times": lambda p: {"W": 3 * p["W"]},
    "one_times": lambda p: {"W": one_row(p["W"], 3 * p["W"][0])},
    "all_plus": lambda p: {"W": p["W"] + p["c"]},
    "one_plus": lambda p: {"W": one_row(p["W"], p["W"][0] + p["c"])},
    "own_plus": lambda p: {"W": p["W"] + p["c"][:, None]},
    "traded": lambda p: {
        "W": p["W"] * p["c"] ** 2,
        "g": p["g"] / p["c"] ** 2,
        "beta": p["beta"] / p["c"] ** 2,
    },
    "offset_over_gain": offset_over_gain,
}


@pytest.mark.pairwise("key", NORMS)
@pytest.mark.pairwise("place", PLACES)
@pytest.mark.pairwise("eps", [0.0, 0.1])
def test_verdicts_are_those_of_the_layer_in_floating_point(
    place: str, key: str, eps: float
) -> None:
    rng, size = np.random.default_rng(5), 6
    p = {name: rng.standard_normal((size, size)) for name in ("X", "W", "stream")}
    p |= {name: rng.standard_normal(size) for name in ("g", "beta", "b", "c")}
    found = freedoms(PLACES[place], replace(NORMALIZERS[key], eps=eps))
    assert [one.change.key for one in found] == list(CHANGES)[: len(found)]
    before, ideal = output(place, key, p, eps), output(place, key, p, 0)
    for one in found:
        changed = p | CHANGES[one.change.key](p)
        assert one.free == np.allclose(output(place, key, changed, eps), before), one.change.key
        at_zero = np.allclose(output(place, key, changed, 0), ideal)
        assert one.only_without_eps == (at_zero and not one.free), one.change.key


@pytest.mark.pairwise("key", NORMALIZERS)
@pytest.mark.pairwise("eps", [0.0, 1e-5])
def test_a_norm_after_the_weights_ignores_what_z_ignores(key: str, eps: float) -> None:
    normalizer = replace(NORMALIZERS[key], eps=eps)
    of_z = {
        TRANSFORMS[name].operation.key: certify(normalizer, TRANSFORMS[name])
        for name in TRANSFORMS
        if TRANSFORMS[name].matrix == "W"
    }
    for one in freedoms(PLACES["after"], normalizer):
        verdict = of_z[one.change.key]
        assert (one.free, one.only_without_eps) == (verdict.invariant, verdict.only_without_eps)


def test_a_norm_before_the_weights_frees_no_scale_but_trades_its_gain() -> None:
    def free(key: str, place: str) -> set[str]:
        return {one.change.key for one in freedoms(PLACES[place], NORMALIZERS[key]) if one.free}

    assert free("rms", "before") == {"traded"}
    assert free("layer", "before") == {"traded", "offset_over_gain"}
    assert free("layer", "residual") == {"all_plus"}
    assert free("rms", "residual") == set()
    assert [rescalable(PLACES[place], NORMALIZERS["layer"]) for place in PLACES] == [True] + [
        False
    ] * 2


def test_sentence_says_what_the_verdicts_are() -> None:
    assert sentence(PLACES["after"], replace(NORMALIZERS["rms"], eps=1e-6)) == (
        "RMS norm stands after W. Ignored where ε is small: all of W × δ. Not ignored: one row of "
        "W × δ; the same vector added to all rows of W; a vector added to one row of W; to each "
        "row of W a number of its own."
    )
    said = sentence(PLACES["before"], NORMALIZERS["rms"])
    assert (
        "Ignored: columns of W × δ, with the norm's gain and shift ÷ δ, where nothing else takes "
        "this norm. Not ignored:"
    ) in said


def test_norm_of_the_weights_stands_with_them() -> None:
    with pytest.raises(Refusal, match=r"^weight norm normalizes the weights themselves, so it "):
        sentence(PLACES["before"], NORMALIZERS["weight"])


def test_number_of_groups_changes_no_verdict() -> None:
    def verdicts(groups: int) -> list[tuple[str, bool]]:
        found: tuple[Freedom, ...] = freedoms(
            PLACES["after"], Normalizer("layer", "layer", groups=groups)
        )
        return [(one.change.key, one.free) for one in found]

    assert verdicts(2) == verdicts(7)
