"""Statements on residual networks, attention and convolutions: section 6.7, and later work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.claims.claim import (
    FAILS,
    FOLLOWS,
    HOLDS,
    HOLDS_IF,
    LATER,
    Claim,
    Finding,
    by_method,
    number,
    numbers,
    plain,
    shared,
)
from normgeo.claims.examples import ROUNDING, Example
from normgeo.depth.attention import Head
from normgeo.depth.attention_ignored import attention_ignored
from normgeo.depth.blocks import PLACES
from normgeo.depth.border import Images, Trained, norms, places, trained
from normgeo.depth.ignored import Ignored, Size, ignored
from normgeo.depth.residual import ResidualNetwork
from normgeo.depth.signals import Signals, signals
from normgeo.normalizers.named import NORMALIZERS

BLOCKS, CLASSES = 12, 10
STARTS = 6  # of residual networks, as one differs from another
LEAST = 1.2  # a factor that is more than a tendency of the starts
SEEDS, EPOCHS = 3, 3  # of convolutions
LARGE = 1000.0  # a factor on weights


@shared
def _ignored(example: Example, place: str) -> dict[str, Ignored]:
    """Return what a network of layer norms ignores, by a draw of the example's seed and size."""
    N, M, F = example.certificate
    return ignored(NORMALIZERS["layer"], PLACES[place], example.seed, Size(N=N, F=F, M=M))


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


def _logits(example: Example) -> Finding:
    """Make W_q and W_k a thousand times as large; then let keys be queries."""
    X, d = example.X, example.neurons
    largest: dict[str, float] = {}
    attained: dict[str, float] = {}
    free: dict[str, bool] = {}
    for method in ("standard", "layer", "rms"):
        head = Head.random(NORMALIZERS[method], d, X.shape[1], example.rng())
        before, after = (np.abs(at.logits(X)).max() for at in (head, head.times(LARGE)))
        found = attention_ignored(head.normalizer, example.seed)
        free[method] = found["q_times"].certified and found["k_times"].certified
        largest[method] = float(after / before)
        bound = head.bound(X)
        if bound is not None:
            own = np.diag(replace(head, W_k=head.W_q).logits(X)) / bound
            attained[method] = float(own.max())
            free[method] = free[method] and float(after) <= bound * (1 + ROUNDING)
    held = all(free[m] and abs(attained[m] - 1) < ROUNDING for m in attained)
    grows = abs(largest["standard"] / LARGE**2 - 1) < ROUNDING and not free["standard"]
    return plain(
        held and grows and len(attained) == 2,
        by_method(text("largest logit, W_q and W_k × 1000"), largest)
        + by_method(text("a token's own logit over the bound, W_k = W_q"), attained),
    )


@shared
def _images(example: Example) -> Images:
    return Images.digits(example.seed, 4 * example.digits)


@shared
def _trained(example: Example, method: str) -> tuple[Trained, ...]:
    """Return convolutions trained on digits with a norm, from three starts."""
    norm, images = norms()[method], _images(example)
    return tuple(
        trained(norm, images, epochs=EPOCHS, seed=SEEDS * example.seed + repeat)
        for repeat in range(SEEDS)
    )


def _border(example: Example) -> Finding:
    """Compare units at the border of the digits with those inside, after training."""
    seen = _images(example).seen_train
    on: list[tuple[float, float]] = []
    far: list[tuple[float, float]] = []
    for one in _trained(example, "layer"):
        at = places(one.network, seen)
        on.append(at.at_border(at.on))
        far.append(at.at_border(at.distance))

    def named(values: list[tuple[float, float]]) -> dict[str, float]:
        border, inside = np.mean(values, axis=0)
        return {text("border"): float(border), text("inside"): float(inside)}

    less = all(border < inside for border, inside in on)
    apart = all(border > inside for border, inside in far)
    return Finding(
        less and apart,
        apart,
        numbers(text("share of units that are on"), named(on))
        + numbers(text("distance of a place's statistics from the layer's"), named(far), "σ"),
    )


def _convolutions(example: Example) -> Finding:
    """Compare accuracies on held-out digits, by how much the starts make them differ."""
    accuracies: dict[str, Array] = {
        method: np.array([one.accuracy for one in _trained(example, method)])
        for method in ("batch", "layer")
    }
    means = {method: float(values.mean()) for method, values in accuracies.items()}
    spread = float(np.hypot(*(values.std(ddof=1) for values in accuracies.values())))
    difference = means["batch"] - means["layer"]
    return Finding(
        difference > spread,
        abs(difference) <= spread,
        by_method(text("accuracy on held-out digits"), means)
        + number(text("spread over the starts"), spread),
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
    Claim(
        "logits_bounded",
        text(
            "A layer norm or RMS norm of queries and keys bounds the logits of attention by g²√d, "
            "however large W_q and W_k become; without it they grow as the product of both."
        ),
        text("Henry et al. 2020, Query-Key Normalization for Transformers"),
        _logits,
        HOLDS,
        "depth?tab=attention",
        remark=text("The bound is attained where a key is its query."),
        kind=LATER,
    ),
    Claim(
        "border_units",
        text(
            "In a convolution with layer norm the units near the border of the image are on less "
            "often than the others, and their statistics are not those of the layer."
        ),
        text("section 6.7"),
        _border,
        HOLDS_IF,
        "depth?tab=images",
        condition=text("it means their statistics; how often they are on depends on the start"),
        remark=text(
            "8 kernels of 3 × 3 on digits of 8 × 8, after three epochs, from three starts."
        ),
    ),
    Claim(
        "layer_norm_in_convolutions",
        text("In convolutional networks layer norm does less well than batch norm."),
        text("section 6.7"),
        _convolutions,
        FAILS,
        "depth?tab=images",
        repair=text(
            "not in every one: for a small convolution on digits the two do as well, within their "
            "spread over the starts"
        ),
        remark=text(
            "One convolution on digits of 8 × 8 pixels, three starts. Units at the border differ "
            "there, too, and it costs nothing. That says little of deep networks on large images, "
            "which the paper speaks of."
        ),
    ),
)
