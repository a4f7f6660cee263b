"""Statements on residual networks, mostly of later work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from normgeo.base.text import text
from normgeo.claims.claim import (
    FAILS,
    FOLLOWS,
    HOLDS,
    HOLDS_IF,
    LATER,
    Claim,
    Finding,
    numbers,
    plain,
    shared,
)
from normgeo.claims.examples import ROUNDING, Example
from normgeo.networks.blocks import PLACES
from normgeo.networks.ignored import Size, residual_ignored
from normgeo.networks.residual import ResidualNetwork
from normgeo.networks.signals import Signals, signals
from normgeo.networks.verdict import Ignored
from normgeo.normalizers.named import NORMALIZERS

DEPTHS, CLASSES = (4, 12, 36), 10
STARTS = 8  # random starts of residual networks
NEAR = 0.15  # tolerance of an exponent, whose standard error over the starts is about 0.06
FITTED = text(
    "Layer norm and ReLU at 4, 12 and 36 blocks, exact gradients in W and V of the loss of one "
    "digit, the mean logarithm over 8 starts."
)


@shared
def _ignored(example: Example, place: str) -> dict[str, Ignored]:
    """Return what a network of layer norms ignores, by a draw of the example's seed and size."""
    N, M, F = example.certificate
    return residual_ignored(NORMALIZERS["layer"], PLACES[place], example.seed, Size(N=N, F=F, M=M))


def _certified(found: dict[str, dict[str, Ignored]], *changes: str) -> dict[str, bool]:
    """Return whether the network ignores each change, by position of the norm and by change."""
    return {
        text("{change}, {place}", change=at[key].title, place=PLACES[place].title): at[
            key
        ].certified
        for place, at in found.items()
        for key in changes
    }


def _weights_of_a_block(example: Example) -> Finding:
    """Scale one weight matrix of a block, and then both inputs of every sum."""
    found = {place: _ignored(example, place) for place in PLACES}
    one = _certified(found, "reads_times", "writes_times")
    together = {
        **_certified({"pre": found["pre"]}, "all_writes_times"),
        **_certified({"post": found["post"]}, "sum_times"),
    }
    return Finding(
        all(one.values()), all(together.values()), numbers(text("ignored"), {**one, **together})
    )


def _gain_merged(example: Example) -> Finding:
    """Divide the gain of a norm, and multiply the columns of the weights that follow it."""
    found = {place: _ignored(example, place) for place in PLACES}
    traded = _certified(found, "gain_traded", "shift_into_bias")
    pre = _certified({"pre": found["pre"]}, "gain_traded", "shift_into_bias")
    return Finding(all(traded.values()), all(pre.values()), numbers(text("ignored"), traded))


@shared
def _signals(example: Example, place: str) -> dict[int, tuple[Signals, ...]]:
    """Return the sizes in each layer of random networks of each depth, on one digit per start."""
    X, y = example.images
    width, normalizer = 2 * example.units, NORMALIZERS["layer"]
    return {
        depth: tuple(
            signals(
                ResidualNetwork.random(
                    normalizer, place, depth, width, X.shape[1], CLASSES, example.rng(start)
                ),
                X[start : start + 1],
                y[start : start + 1],
            )
            for start in range(STARTS)
        )
        for depth in DEPTHS
    }


def _exponent(sizes: Mapping[int, Iterable[float]]) -> float:
    """Return the slope of the mean log of a size over log L."""
    logs = [np.mean(np.log([*each])) for each in sizes.values()]
    return float(np.polyfit(np.log([*sizes]), logs, 1)[0])


def _by_depth(example: Example, size: Callable[[Signals], float]) -> dict[str, float]:
    """Return the exponent of L in a size, for each position of the norm."""
    return {
        key: _exponent({L: map(size, each) for L, each in _signals(example, key).items()})
        for key in PLACES
    }


def _last_gradient(example: Example) -> Finding:
    """Fit the gradient of the last block as a power of the depth, at random weights."""
    found = _by_depth(example, lambda at: float(at.gradients[-1]))
    return plain(
        abs(found["pre"] + 0.5) < NEAR and abs(found["post"]) < NEAR,
        numbers(text("power of L in the last gradient"), _titled(found)),
    )


def _stream(example: Example) -> Finding:
    """Fit the size of the stream at its end as a power of the depth, at random weights."""
    found = _by_depth(example, lambda at: float(at.stream[-1]))
    return plain(
        abs(found["pre"] - 0.5) < NEAR and abs(found["post"]) < ROUNDING,
        numbers(text("power of L in the size of the stream"), _titled(found)),
    )


def _titled(found: Mapping[str, float]) -> dict[str, float]:
    return {PLACES[key].title: value for key, value in found.items()}


CLAIMS = (
    Claim(
        "weights_of_a_block",
        text(
            "In a residual network with layer norm each weight matrix may be re-scaled: the norm "
            "divides by it again."
        ),
        text("section 5.1, as for a layer whose norm stands after W"),
        _weights_of_a_block,
        FAILS,
        "depth?tab=ignores",
        repair=text(
            "of everything that is written to the stream together, with pre-norm, and of both "
            "inputs of one sum, with post-norm"
        ),
        remark=text(
            "Certified block by block in exact arithmetic. A single W or V is not what a norm of "
            "the stream divides by."
        ),
        kind=FOLLOWS,
    ),
    Claim(
        "gain_merged",
        text("The gain and shift of a layer norm can be merged into the weights that read it."),
        text("as frameworks fold a norm into the next layer"),
        _gain_merged,
        HOLDS_IF,
        "depth?tab=ignores",
        condition=text("nothing else reads it: with pre-norm, not with post-norm"),
        remark=text("What a post-norm makes is also what the residual connection carries."),
        kind=LATER,
    ),
    Claim(
        "stream_by_depth",
        text(
            "Before training, the residual stream of a pre-norm network ends √L times as large at "
            "a depth of L blocks; with post-norm it keeps its size."
        ),
        text("Xiong et al. 2020"),
        _stream,
        HOLDS,
        "depth",
        remark=FITTED,
        kind=LATER,
    ),
    Claim(
        "last_gradient",
        text(
            "Before training, the gradient of the last block falls as 1/√L with the depth L under "
            "pre-norm; under post-norm it does not depend on it."
        ),
        text("Xiong et al. 2020"),
        _last_gradient,
        HOLDS,
        "depth",
        remark=FITTED,
        kind=LATER,
    ),
)
