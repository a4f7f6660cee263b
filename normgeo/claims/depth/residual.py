"""Statements on residual networks, mostly of later work."""

from __future__ import annotations

from collections.abc import Iterable

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
from normgeo.depth.blocks import PLACES
from normgeo.depth.ignored import Ignored, Size, residual_ignored
from normgeo.depth.residual import ResidualNetwork
from normgeo.depth.signals import Signals, signals
from normgeo.normalizers.named import NORMALIZERS

BLOCKS, CLASSES = 12, 10
STARTS = 6  # of residual networks, as one differs from another
LEAST = 1.2  # a factor that is more than a tendency of the starts


@shared
def _ignored(example: Example, place: str) -> dict[str, Ignored]:
    """Return what a network of layer norms ignores, by a draw of the example's seed and size."""
    N, M, F = example.certificate
    return residual_ignored(NORMALIZERS["layer"], PLACES[place], example.seed, Size(N=N, F=F, M=M))


def _certified(found: dict[str, dict[str, Ignored]], *changes: str) -> dict[str, bool]:
    """Whether each change is ignored at each place, named."""
    return {
        text("{change}, {place}", change=at[key].title, place=PLACES[place].title): at[
            key
        ].certified
        for place, at in found.items()
        for key in changes
    }


def _weights_of_a_block(example: Example) -> Finding:
    """Scale one weight matrix of a block, and then all that is summed up."""
    found = {place: _ignored(example, place) for place in PLACES}
    one = _certified(found, "reads_times", "writes_times")
    together = {
        **_certified({"pre": found["pre"]}, "all_writes_times"),
        **_certified({"post": found["post"]}, "sum_times"),
    }
    return Finding(
        all(one.values()),
        all(together.values()),
        numbers(text("ignored"), {**one, **together}),
    )


def _gain_merged(example: Example) -> Finding:
    """Divide the gain of a norm and multiply the columns of the weights that read it."""
    found = {place: _ignored(example, place) for place in PLACES}
    traded = _certified(found, "gain_traded", "shift_into_bias")
    pre = _certified({"pre": found["pre"]}, "gain_traded", "shift_into_bias")
    return Finding(all(traded.values()), all(pre.values()), numbers(text("ignored"), traded))


@shared
def _signals(example: Example, place: str) -> tuple[Signals, ...]:
    """Return the sizes by layer of networks on digits at their starts."""
    X, y = example.images
    width = 4 * example.units
    starts = (
        ResidualNetwork.random(
            NORMALIZERS["layer"], place, BLOCKS, width, X.shape[1], CLASSES, example.rng(start)
        )
        for start in range(STARTS)
    )
    return tuple(signals(start, X, y) for start in starts)


def _mean_ratio(pairs: Iterable[tuple[float, float]]) -> float:
    """Return the geometric mean of the second over the first."""
    return float(np.exp(np.mean([np.log(b / a) for a, b in pairs])))


def _stream_and_gradients(example: Example) -> Finding:
    """Measure both at the starts of twelve blocks on digits."""
    found = {key: _signals(example, key) for key in PLACES}
    grown, fallen = (
        {
            PLACES[key].title: _mean_ratio((values[0], values[-1]) for values in each)
            for key, each in sizes.items()
        }
        for sizes in (
            {key: [at.stream for at in each] for key, each in found.items()},
            {key: [at.gradients for at in each] for key, each in found.items()},
        )
    )
    laws = [
        (at.expected_stream[-1], at.stream[-1])
        for at in found["pre"]
        if at.expected_stream is not None
    ]
    near = bool(laws) and abs(np.log(_mean_ratio(laws))) < np.log(1.2)
    steady = max(float(np.abs(at.stream[1:] - 1).max()) for at in found["post"]) < ROUNDING
    before, after = fallen.values()
    return plain(
        near and steady and before < 1 / LEAST and after > LEAST,
        numbers(text("stream at the end over that at the start"), grown)
        + numbers(text("gradient of the last block over that of the first"), fallen),
    )


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
            "with pre-norm all that writes to the stream may be re-scaled together, with post-norm "
            "all that enters one sum"
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
        "stream_and_gradients",
        text(
            "At the start and on average, with pre-norm the residual stream grows as the root of "
            "its depth and gradients fall from block to block; with post-norm the stream keeps its "
            "size, and gradients are largest near the outputs."
        ),
        text("Xiong et al. 2020, for transformers"),
        _stream_and_gradients,
        HOLDS,
        "depth",
        remark=text("Layer norm, 12 blocks with ReLU on digits, exact gradients."),
        kind=LATER,
    ),
)
