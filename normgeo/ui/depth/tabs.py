"""The tabs of the page Depth: the training, stream and gradients, what is ignored, and others."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import streamlit as st

from normgeo.base.numbers import number
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.networks.verdict import Ignored
from normgeo.pictures import PICTURES
from normgeo.pictures.depth.accuracy import EPOCHS, SEEDS
from normgeo.pictures.depth.placement import Placement
from normgeo.pictures.depth.places import AtPlace, Depth
from normgeo.pictures.depth.recommendation import RULE
from normgeo.settings import Settings
from normgeo.tables.marks import in_markdown
from normgeo.ui import results, tex
from normgeo.ui.controls import controls
from normgeo.ui.tabs import Tabs, points

NETWORK = ("method", "depth", "neurons", "groups", "seed")


def train(settings: Settings, drawn: Any) -> None:
    """Train a network with its norm at each place, on demand, with a bar and a way to stop."""
    _controls(settings, "placements", (*NETWORK, "epochs", "rate"))
    cost = None
    with suppress(Refusal):
        cost = PICTURES["placements"].cost(settings)
    about = text(
        "Six trainings from the same weights: each place, without and with warm-up, at the rates "
        "of the picture. One seed and {epochs} epochs; the picture has {seeds} seeds and {all} "
        "epochs.",
        epochs=settings.epochs,
        seeds=SEEDS,
        all=EPOCHS,
    )
    takes = text("It takes about {seconds} s.", seconds=number(cost.seconds, 1)) if cost else ""
    st.markdown(f"{about} {takes}")
    results.show("placements", settings, again=text("Train again"))
    st.markdown(f"{text('How the picture decides.')} {RULE}")
    st.caption(
        text(
            "All runs of the picture again, in twelve minutes: `python -m tools.depth_accuracy`, "
            "in a copy of the source."
        )
    )


def why(settings: Settings, drawn: Any) -> None:
    """Draw the stream and the gradients by layer, with their equations and today's numbers."""
    _controls(settings, "depth", (*NETWORK, "eps"))
    found = results.show("depth", settings)
    if found is not None:
        _equations(found)


def _controls(settings: Settings, picture: str, names: Sequence[str]) -> None:
    """Draw the controls of a tab; the keys of its widgets begin with the name of its picture."""
    with st.container(horizontal=True, key=f"{picture}_controls", gap="small"):
        controls(settings, names, prefix=f"{picture}_", one_method=True, picture=picture)


def _equations(drawn: Depth) -> None:
    n, norm, rms = tex.number, tex.words(text("norm")), tex.words(text("rms"))
    titles = {key: tex.words(at.place.title) for key, at in drawn.at.items()}
    pre, post = (drawn.at[key].signals for key in ("pre", "post"))
    left, right = st.columns(2, gap="large")
    with left:
        lines = [
            r"B(y) &= V f(W y + b) + c, \quad f = \mathrm{ReLU}",
            rf"{titles['pre']}:\quad x_{{l+1}} &= x_l + B({norm}(x_l))",
            rf"{rms}\,x_0 = {n(float(pre.stream[0]))}, \quad "
            rf"{rms}\,x_{{{drawn.blocks}}} &= {n(float(pre.stream[-1]))}",
        ]
        if pre.expected_stream is not None and drawn.normalizer.scaling.divides:
            lines.append(
                rf"\sqrt{{{n(float(pre.stream[0]) ** 2)} + {drawn.blocks}}} "
                rf"&= {n(float(pre.expected_stream[-1]))}"
            )
        lines += [
            rf"{titles['post']}:\quad x_{{l+1}} &= {norm}(x_l + B(x_l))",
            rf"{rms}\,(x_l + B(x_l)) &= {n(float(post.sums[-1]))}, \quad l = "
            rf"{drawn.blocks - 1}",
        ]
        st.latex(tex.aligned(lines, gap=6))
    with right:
        points(
            (
                *(_with_norm(drawn) if drawn.normalizer.scaling.divides else _without_norm()),
                text(
                    "The weights are random, with variance 2/D in W and 1/M in V. The gradients "
                    "are exact, of the loss before training, through all statistics. Another seed "
                    "gives other ones."
                ),
            ),
            text("Not from the paper: Xiong et al. 2020; He et al. 2016."),
        )


def _with_norm(drawn: Depth) -> tuple[str, ...]:
    return (
        text(
            "With pre-norm each branch adds a mean square of about 1, however large the stream is: "
            "$\\text{{rms}}\\,x_l ≈ \\sqrt{{x_0^2 + l}}$. So later blocks change the stream less "
            "and less."
        ),
        text(
            "Going back, the norm of a branch divides by $x_l$, so the gradient of a block shrinks "
            "as the stream grows: $∝ 1/x_{{l+1}}$ for wide networks and a norm over the features "
            "(dashed). {here}",
            here=_last(drawn.at["pre"]),
        ),
        text(
            "With post-norm each norm divides the sum by its own size, so the stream keeps the "
            "size 1, and a gradient passes through all norms above it. {here}",
            here=_last(drawn.at["post"]),
        ),
    )


def _last(at: AtPlace) -> str:
    if np.isnan(at.gradient):
        return text("Here all gradients are 0.")
    return text("Here the last gradient is {ratio} times the first.", ratio=number(at.gradient, 2))


def _without_norm() -> tuple[str, ...]:
    return (
        text(
            "Nothing divides here, so before training the two places give the same network. Each "
            "branch adds about as much as it reads: the mean square of the stream doubles in each "
            "block."
        ),
        text("Gains and shifts make them differ: the stream carries those of a post-norm only."),
    )


def what_it_ignores(settings: Settings, drawn: Any) -> None:
    """List the changes of weights, with the effect on each sum and on the outputs."""
    _controls(settings, "depth", (*NETWORK, "eps"))
    there = results.of_picture("depth", settings)
    if there is not None:
        _ignored(settings, there.result)


def _ignored(settings: Settings, drawn: Depth) -> None:
    st.markdown(str(drawn.counts))
    first, *_ = drawn.at.values()
    titles = [str(at.place.title) for at in drawn.at.values()]
    head = " | ".join([str(text("change of the weights")), *titles])
    lines = [f"| {head} |", "|" + "---|" * (1 + len(titles))]
    for key, one in first.ignored.items():
        cells = [_way(at.ignored[key]) for at in drawn.at.values()]
        lines.append("| " + " | ".join([str(one.title), *cells]) + " |")
    st.markdown(in_markdown("\n".join(lines), settings.theme))
    points(
        (
            text(
                "✓ is proved: exact arithmetic compares the sum of every block before and after "
                "the change, from the embedding to the head, and the last one is “the same”. Each "
                "step compares the changed sum with the original. It holds for every set of "
                "active units, wherever no σ is 0."
            ),
            text(
                "✗ has a witness: a small network of random numbers, whose largest output moves by "
                "this share. ≈ holds at ε = 0 only."
            ),
            text(
                "The residual connection carries the sum itself with pre-norm, the normalized sum "
                "with post-norm. So a gain of a post-norm cannot be traded with W, and with "
                "pre-norm the size of the sum does not matter."
            ),
        )
    )


def _way(one: Ignored) -> str:
    """A mark, with the relations of the sums, or the size of the change."""
    if not one.certified:
        return str(text("{mark} outputs move by {share:.1%}", mark=one.symbol, share=one.moved))
    met = dict.fromkeys(str(link.relation) for link in one.links)
    return f"{one.symbol} {' → '.join(met)}"


def nearest(drawn: Placement | None, settings: Settings) -> None:
    """Say at which depth the picture opens if there is no frame for the one asked for."""
    if drawn is not None and drawn.opens_at != settings.depth:
        st.caption(
            text(
                "The slider has no step at {asked} blocks, so it opens at {opens}. The tabs below "
                "take {asked}.",
                asked=settings.depth,
                opens=drawn.opens_at,
            )
        )


def attention(settings: Settings, drawn: Any) -> None:
    """Draw the logits of a head without and with a norm of q and k."""
    _controls(settings, "attention", ("method", "groups", "eps", "seed"))
    picture = results.show("attention", settings)
    if picture is None:
        return
    points(
        (
            text(
                "$q = g_q\\,\\text{{norm}}(x W_q^\\top)$, $k = g_k\\,\\text{{norm}}(x W_k^\\top)$, "
                "$\\text{{logit}}_{{ij}} = q_i^\\top k_j/\\sqrt d$. Tokens are the rows of a "
                "digit, each with a mark of its place; d = {d}.",
                d=picture.dimension,
            ),
            text(
                "A norm over the d dimensions gives q and k the length $\\sqrt d$ at gains of 1, "
                "so no logit exceeds $\\max|g_q g_k| \\sqrt d$, however long $W_q$ and $W_k$ "
                "become: by Cauchy and Schwarz, with equality when key and query are parallel."
            ),
            text(
                "Without a norm any matrix Ω may mix $W_q$ and its inverse $W_k$. With a norm that "
                "changes the logits, but each of the two may be scaled by itself."
            ),
        )
    )


def images(settings: Settings, drawn: Any) -> None:
    """Draw where the units of a convolution are active, and the accuracies after training."""
    _controls(settings, "images", ("seed", "epochs", "groups"))
    if results.show("images", settings) is None:
        return
    points(
        (
            text(
                "The paper's reason (section 6.7): units near the border of an image are rarely "
                "on. So they differ from the rest of the layer, whose statistics they share under "
                "layer norm."
            ),
            text(
                "The network: 8 kernels of 3 × 3, the norm, ReLU and a head of classes, by Adam "
                "at η = 0.01 in batches of 64; five seeds for each norm, with the same starts. A "
                "fifth of the digits is held out. Digits of 8 × 8 pixels are easy: judge the cost "
                "in accuracy by the gap between the points."
            ),
        ),
        text("Section 6.7 of the paper."),
    )


TABS: Tabs = {
    "train": (text("Train it here"), train),
    "why": (text("Stream and gradients"), why),
    "ignores": (text("What the network ignores"), what_it_ignores),
    "attention": (text("Attention"), attention),
    "images": (text("Images"), images),
}
