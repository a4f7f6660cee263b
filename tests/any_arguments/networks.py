"""Calls of residual networks, attention and convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import normgeo as ng
from normgeo.base.refusal import Refusal

from .calls import SIZES, Draw, a_normalizer, array, call, finite, generator, rate, seed

PLACES = st.sampled_from(["pre", "post"])
SHARINGS = st.sampled_from([None, "batch", "layer", "instance", "group"])
GROWTH = st.sampled_from([*[1.0] * 6, 0.0, 1e-200, 1e100, 1e300])
SIZE = st.sampled_from([(4, 3, 6, 4, 3, 3), (2, 1, 2, 1, 1, 3), (1, 1, 1, 1, 1, 1), (9,) * 6])


# Attention.


def a_head(draw: Draw) -> ng.AttentionHead:
    return ng.AttentionHead(**head_arguments(draw))


def head_arguments(draw: Draw) -> dict[str, Any]:
    d, F = draw(SIZES), draw(SIZES)
    gain = draw(st.booleans())
    return {
        "normalizer": a_normalizer(draw),
        "W_q": array(draw, d, F),
        "W_k": array(draw, d, F),
        "g_q": array(draw, d) if gain else None,
        "g_k": array(draw, d) if gain else None,
    }


def tokens(draw: Draw) -> dict[str, Any]:
    head = a_head(draw)
    return {"self": head, "X": array(draw, draw(SIZES), head.W_q.shape[1])}


call("AttentionHead", ng.AttentionHead, finite)(head_arguments)


@call("AttentionHead.random", ng.AttentionHead.random, finite)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "normalizer": a_normalizer(draw),
        "dimension": draw(SIZES),
        "features": draw(SIZES),
        "rng": generator(draw),
    }


@call("AttentionHead.times", ng.AttentionHead.times, finite)
def _(draw: Draw) -> dict[str, Any]:
    return {"self": a_head(draw), "factor": draw(GROWTH)}


def one_for_each_pair(answer: Any, arguments: dict[str, Any]) -> None:
    assert answer.shape == (len(arguments["X"]),) * 2
    finite(answer, arguments)


def shares(answer: Any, arguments: dict[str, Any]) -> None:
    one_for_each_pair(answer, arguments)
    np.testing.assert_allclose(answer.sum(axis=1), 1)


def a_bound(answer: float | None, arguments: dict[str, Any]) -> None:
    try:
        largest = np.abs(arguments["self"].logits(arguments["X"])).max()
    except Refusal:
        return  # the bound holds for any weights; at these, z may be undefined
    assert answer is None or largest <= answer * (1 + 1e-6) + 1e-300


call("AttentionHead.logits", ng.AttentionHead.logits, one_for_each_pair)(tokens)
call("AttentionHead.weights", ng.AttentionHead.weights, shares)(tokens)
call("AttentionHead.bound", ng.AttentionHead.bound, a_bound)(tokens)


def verdicts(answer: dict[str, ng.Ignored], arguments: dict[str, Any]) -> None:
    assert {one.symbol for one in answer.values()} <= {*"✓✗≈?"}
    assert all(one.moved >= 0 and np.isfinite(one.moved) for one in answer.values())


@call("attention_ignored", ng.attention_ignored, verdicts)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "normalizer": a_normalizer(draw),
        "seed": draw(st.sampled_from([0, 2**64 - 1])),
        "dimension": draw(st.sampled_from([6, 8, 1, 0, 25])),
    }


# Residual networks.


def a_network(draw: Draw) -> ng.ResidualNetwork:
    return ng.ResidualNetwork(**network_arguments(draw))


def network_arguments(draw: Draw) -> dict[str, Any]:
    D, F, H, M = (draw(SIZES) for _ in range(4))

    def gain() -> Any:
        return array(draw, D), array(draw, D)

    def block() -> Any:
        own = gain() if draw(st.booleans()) else None
        return own, array(draw, M, D), array(draw, M), array(draw, D, M), array(draw, D)

    blocks = [block() for _ in range(draw(st.integers(1, 2)))]
    parts = array(draw, D, F), array(draw, D), blocks, gain(), array(draw, H, D), array(draw, H)
    return {"normalizer": a_normalizer(draw), "place": draw(PLACES), "parts": parts}


def finite_parts(answer: ng.ResidualNetwork, arguments: dict[str, Any]) -> None:
    assert all(np.isfinite(part).all() for part in answer.parts.arrays())


call("ResidualNetwork", ng.ResidualNetwork, finite_parts)(network_arguments)


@call("ResidualNetwork.random", ng.ResidualNetwork.random, finite_parts)
def _(draw: Draw) -> dict[str, Any]:
    sizes = {name: draw(SIZES) for name in ("depth", "width", "features", "outputs")}
    return {
        "normalizer": a_normalizer(draw),
        "place": draw(PLACES),
        "rng": generator(draw),
    } | sizes


def cases(draw: Draw) -> dict[str, Any]:
    network, N = a_network(draw), draw(SIZES)
    classes = np.arange(N) % len(network.parts.U)
    return {"self": network, "X": array(draw, N, network.parts.E.shape[1]), "y": classes}


@call("ResidualNetwork.forward", ng.ResidualNetwork.forward, lambda a, _: finite(a.logits, _))
def _(draw: Draw) -> dict[str, Any]:
    return {key: value for key, value in cases(draw).items() if key != "y"}


call("ResidualNetwork.loss", ng.ResidualNetwork.loss, finite)(cases)
call("ResidualNetwork.gradients", ng.ResidualNetwork.gradients, finite)(cases)


def sizes_by_layer(answer: ng.Signals, arguments: dict[str, Any]) -> None:
    L = len(arguments["network"].parts.blocks)
    assert answer.stream.shape == answer.sums.shape == (L + 1,)
    assert answer.gradients.shape == (L,)
    finite([answer.stream, answer.sums, answer.gradients], arguments)


@call("signals", ng.signals, sizes_by_layer)
def _(draw: Draw) -> dict[str, Any]:
    given = cases(draw)
    return {"network": given.pop("self")} | given


@call("residual_ignored", ng.residual_ignored, verdicts)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "normalizer": a_normalizer(draw),
        "place": draw(PLACES),
        "seed": draw(st.sampled_from([0, 2**64 - 1])),
        "size": draw(SIZE),
    }


# Convolutions.


def norm_arguments(draw: Draw) -> dict[str, Any]:
    sharing = draw(SHARINGS)
    groups = draw(st.sampled_from([1, 2])) if sharing == "group" else 1
    return {
        "sharing": sharing,
        "groups": groups,
        "eps": draw(st.sampled_from([0.0, 1e-5, 1e-300, 1e300])),
    }


def a_norm(draw: Draw) -> ng.ImageNorm:
    return ng.ImageNorm(**norm_arguments(draw))


call("ImageNorm", ng.ImageNorm, finite)(norm_arguments)


def normalized(answer: Any, arguments: dict[str, Any]) -> None:
    assert answer.z.shape == arguments["A"].shape
    finite([answer.z, answer.moments], arguments)


@call("ImageNorm.normalize", ng.ImageNorm.normalize, normalized)
def _(draw: Draw) -> dict[str, Any]:
    norm, C = a_norm(draw), draw(SIZES)
    known = None
    if draw(st.booleans()):
        known = norm.normalize(np.random.default_rng(1).standard_normal((3, C, 4))).moments
    return {"self": norm, "A": array(draw, draw(SIZES), C, draw(SIZES)), "known": known}


def a_convolution(draw: Draw, side: int) -> ng.ConvolutionalNetwork:
    return ng.ConvolutionalNetwork(**convolution_arguments(draw, side))


def convolution_arguments(draw: Draw, side: int = 2) -> dict[str, Any]:
    C, H = draw(SIZES), draw(SIZES)
    shapes = (C, 9), (C,), (C,), (H, C * side**2), (H,)
    return {"norm": a_norm(draw), "parts": [array(draw, *shape) for shape in shapes]}


call("ConvolutionalNetwork", ng.ConvolutionalNetwork, lambda a, _: finite(a.pack(), _))(
    convolution_arguments
)


@call(
    "ConvolutionalNetwork.random",
    ng.ConvolutionalNetwork.random,
    lambda answer, _: finite(answer.pack(), _),
)
def _(draw: Draw) -> dict[str, Any]:
    sizes = {name: draw(SIZES) for name in ("channels", "places", "outputs")}
    return {"norm": a_norm(draw), "rng": generator(draw)} | sizes


@call(
    "ConvolutionalNetwork.unpack", ng.ConvolutionalNetwork.unpack, lambda a, _: finite(a.pack(), _)
)
def _(draw: Draw) -> dict[str, Any]:
    network = a_convolution(draw, 2)
    return {"self": network, "theta": array(draw, len(network.pack()))}


def windows(draw: Draw) -> dict[str, Any]:
    side = draw(SIZES)
    network, N = a_convolution(draw, side), draw(SIZES)
    seen = ng.image_windows(array(draw, N, side, side))
    return {"self": network, "seen": seen, "y": np.arange(N) % len(network.parts.U)}


@call("ConvolutionalNetwork.forward", ng.ConvolutionalNetwork.forward, lambda a, _: finite(a.s, _))
def _(draw: Draw) -> dict[str, Any]:
    given = windows(draw)
    return {"self": given["self"], "seen": given["seen"], "known": None}


call("ConvolutionalNetwork.loss_and_gradient", ng.ConvolutionalNetwork.loss_and_gradient, finite)(
    windows
)


def nine(answer: Any, arguments: dict[str, Any]) -> None:
    assert answer.shape == (len(arguments["images"]), 9, np.size(arguments["images"][0]))
    finite(answer, arguments)


@call("image_windows", ng.image_windows, nine)
def _(draw: Draw) -> dict[str, Any]:
    return {"images": array(draw, draw(SIZES), draw(SIZES), draw(SIZES))}


def by_place(answer: ng.PlaceStatistics, arguments: dict[str, Any]) -> None:
    assert (answer.on >= 0).all()
    assert (answer.on <= 1).all()
    finite([answer.shift, answer.spread, answer.distance], arguments)


@call("place_statistics", ng.place_statistics, by_place)
def _(draw: Draw) -> dict[str, Any]:
    given = windows(draw)
    return {"network": given["self"], "seen": given["seen"]}


def images_arguments(draw: Draw) -> dict[str, Any]:
    side, N, T = draw(SIZES), draw(SIZES), draw(SIZES)
    return {
        "X_train": array(draw, N, side, side),
        "y_train": np.arange(N) % 3,
        "X_test": array(draw, T, side, side),
        "y_test": np.arange(T) % 3,
    }


call("Images", ng.Images, finite)(images_arguments)


@call("Images.digits", ng.Images.digits, finite)
def _(draw: Draw) -> dict[str, Any]:
    return {"seed": seed(draw), "most": draw(st.sampled_from([None, 1, 10, 10**6]))}


def learned(answer: ng.ConvolutionHistory, arguments: dict[str, Any]) -> None:
    assert 0 <= answer.accuracy <= 1
    finite([answer.losses, answer.network.pack()], arguments)


def run_arguments(draw: Draw) -> dict[str, Any]:
    return {
        "norm": a_norm(draw),
        "images": ng.Images(**images_arguments(draw)),
        "channels": draw(SIZES),
        "epochs": draw(st.sampled_from([1, 2])),
        "batch_size": draw(st.sampled_from([1, 2, 3])),
        "rate": rate(draw),
        "seed": seed(draw),
        "progress": None,
    }


call("train_convolution", ng.train_convolution, learned)(run_arguments)


@call("ConvolutionHistory.logits", ng.ConvolutionHistory.logits, finite)
def _(draw: Draw) -> dict[str, Any]:
    given = run_arguments(draw)
    return {"self": ng.train_convolution(**given), "seen": given["images"].seen_test}
