"""The tabs of the page Depth: why, what the network ignores, attention, and images."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.networks.verdict import Ignored
from normgeo.pictures.depth.places import AtPlace, Depth
from normgeo.settings import Settings
from normgeo.tables.marks import in_markdown
from normgeo.ui import results, tex
from normgeo.ui.tabs import Tabs, points


def why(settings: Settings, drawn: Depth | None) -> None:
    """Write the equations of the blocks with today's numbers, and their effect on a gradient."""
    if drawn is None:
        return
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
                    "Weights are random: variance 2/D in W, 1/M in V. Gradients are of the loss "
                    "before training, exact, through all statistics. They differ from start to "
                    "start: another seed is another start."
                ),
            ),
            text("Not from the paper: Xiong et al. 2020; He et al. 2016."),
        )


def _with_norm(drawn: Depth) -> tuple[str, ...]:
    return (
        text(
            "With pre-norm each branch adds a mean square of about 1, whatever the size of the "
            "stream: $\\text{{rms}}\\,x_l ≈ \\sqrt{{x_0^2 + l}}$. So later blocks change the "
            "stream less and less."
        ),
        text(
            "Going back, the norm of a branch divides by $x_l$, and a gradient of a block falls as "
            "the stream grows: $∝ 1/x_{{l+1}}$ for wide networks and a norm over the features "
            "(dashed). {here}",
            here=_last(drawn.at["pre"]),
        ),
        text(
            "With post-norm every sum is divided by its own size again, so the stream has the "
            "size 1, and a gradient passes through all the norms above it. {here}",
            here=_last(drawn.at["post"]),
        ),
    )


def _last(at: AtPlace) -> str:
    if np.isnan(at.gradient):
        return text("Here all of them are 0.")
    return text("Here the last is × {ratio} of the first.", ratio=number(at.gradient, 2))


def _without_norm() -> tuple[str, ...]:
    return (
        text(
            "Nothing divides here, so before training the two places are the same network. Each "
            "branch adds about as much as it reads: the mean square of the stream doubles from "
            "block to block."
        ),
        text("With gains and shifts they differ all the same, as only a post-norm's are carried."),
    )


def what_it_ignores(settings: Settings, drawn: Depth | None) -> None:
    """List the changes of weights, with the effect on each sum and on the outputs."""
    if drawn is None:
        return
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
                "✓ is certified: each link of the chain, from the embedding to the head, is "
                "evaluated before and after in exact arithmetic, and the last ends in “the same”. "
                "It holds for every set of active units, wherever no σ is 0. "
                "The words say how the sum of a block stands to the unchanged one on the way."
            ),
            text(
                "✗ has a witness: a small network of random numbers, whose largest output moves by "
                "this share. ≈ is ignored at ε = 0 alone."
            ),
            text(
                "The two places differ in what the residual connection carries: with pre-norm the "
                "sum itself, with post-norm what the norm has made of it. So a gain of a "
                "post-norm cannot be traded with W, and a sum of pre-norms has no size of its own."
            ),
        )
    )


def _way(one: Ignored) -> str:
    """A mark, with the relations of the sums, or the size of the change."""
    if not one.certified:
        return str(text("{mark} outputs move by {share:.1%}", mark=one.symbol, share=one.moved))
    met = dict.fromkeys(str(link.relation) for link in one.links)
    return f"{one.symbol} {' → '.join(met)}"


def attention(settings: Settings, drawn: Any) -> None:
    """Draw the logits of a head without and with a norm of q and k."""
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
                "become: by Cauchy and Schwarz, with equality where a key points as its query."
            ),
            text(
                "Without a norm $W_q$ and $W_k$ may be mixed by any matrix Ω and its inverse, "
                "apart from the gains; with one they may not, but each may be scaled by itself."
            ),
        )
    )


def images(settings: Settings, drawn: Any) -> None:
    """Draw where the units of a convolution are active, and the accuracies after training."""
    if results.show("images", settings) is None:
        return
    points(
        (
            text(
                "The paper's reason (section 6.7): units near the border of an image are rarely "
                "on, so that they differ from the rest of the layer, whose statistics they share "
                "under layer norm."
            ),
            text(
                "The network: 8 kernels of 3 × 3, the norm, ReLU and a head of classes, by Adam "
                "at η = 0.01 in batches of 64; five seeds for each norm, with the same starts. A "
                "fifth of the digits is held out. Digits of 8 × 8 pixels are easy: that the "
                "units differ is measured here, that it costs accuracy is only as far as the "
                "points lie apart."
            ),
        ),
        text("Section 6.7 of the paper."),
    )


TABS: Tabs = {
    "why": (text("Why"), why),
    "ignores": (text("What the network ignores"), what_it_ignores),
    "attention": (text("Attention"), attention),
    "images": (text("Images"), images),
}
