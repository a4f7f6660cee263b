"""The spectrum of F_WW with its null directions, beside what explains them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, log10
from typing import Any

import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.template import SIZE, THEMES, above, blend, colored, dress, method_color
from normgeo.pictures.style.values import values_axes, values_trace
from normgeo.symmetry.explanation import Explanation
from normgeo.symmetry.null_space import NullSpace

LEFT, RIGHT = (0.0, 0.56), (0.63, 1.0)


def symmetry_figure(
    null: NullSpace,
    explanation: Explanation | None,
    terms: Mapping[str, int],
    *,
    method: str,
    words: tuple[str, str],
    about: str,
    which: str,
    theme: str,
) -> go.Figure:
    """Draw the roots of all eigenvalues, null ones apart, and a bar for each reason.

    Args:
        null: the null space. explanation: of it; None where it was stopped before.
        terms: of the formula for its dimension. method, words: title and words of the normalizer.
        about: the model and its data. which: the Fisher information. theme: of the figure.

    """
    look, color = THEMES[theme], method_color(Normalizer(*words))
    values, k = null.singular_values, null.dimension
    seen, top = len(values) - k, float(values[0])
    figure = go.Figure()
    for part, first, name, is_null in (
        (values[:seen], 1, text("seen"), False),
        (values[seen:], seen + 1, text("null"), True),
    ):
        if len(part):
            figure.add_trace(
                values_trace(
                    part,
                    first,
                    name,
                    look.ink if is_null else color,
                    top=top,
                    null=is_null,
                    claim=False,
                )
            )
    bars = _bars(explanation)
    figure.add_bar(
        x=[count for _, count, _, _ in bars],
        y=list(range(len(bars))),
        orientation="h",
        width=0.36,
        text=[words for _, _, words, _ in bars],
        textposition="outside",
        marker={"color": [look.muted if not i else color for i in range(len(bars), 0, -1)]},
        hovertext=[hover for *_, hover in bars],
        hovertemplate="%{hovertext}<extra></extra>",
        cliponaxis=False,
        xaxis="x2",
        yaxis="y2",
    )
    dress(figure, theme, height=420)
    figure.update_layout(
        values_axes(values, domain=LEFT, count=text("number of the eigenvalue, largest first")),
        showlegend=False,
        margin={"l": 8, "r": 8, "t": 84, "b": 44},
        xaxis2={
            "domain": RIGHT,
            "anchor": "y2",
            "visible": False,
            "range": [0, 1.6 * max([1, *(count for _, count, _, _ in bars)])],
        },
        yaxis2={"anchor": "x2", "visible": False, "range": [max(3.6, len(bars) - 0.4), -0.75]},
        annotations=_heads(null, terms, method, about, which, look.muted)
        + [_bar_title(i, title) for i, (title, *_) in enumerate(bars)]
        + _silence(null, explanation, look.muted),
    )
    _mark(figure, null, theme)
    return figure


def _bars(explanation: Explanation | None) -> list[tuple[str, int, str, str]]:
    """Return the title, count, words and hover of each bar; the last for what has no reason."""
    if explanation is None or not explanation.null.dimension:
        return []
    bars = []
    for reason in explanation.reasons:
        if not reason.added:
            continue
        words = f"<b>{reason.added}</b>"
        if reason.overlap:
            words = text("{count} new of {held}", count=words, held=reason.held)
        hover = reason.sentence
        if reason.angle is not None:
            hover = text(
                "{sentence}<br>{span} independent tangents, at most {angle:.2g} rad<br>from the "
                "null space (largest principal angle)",
                sentence=hover,
                span=reason.span,
                angle=reason.angle,
            )
        bars.append((reason.title, reason.added, words, _broken(hover)))
    left = explanation.unexplained
    hover = text("null directions that no known reason explains")
    return [*bars, (text("no known reason"), left, f"<b>{left}</b>", hover)]


def _broken(sentence: str, width: int = 56) -> str:
    """Return a sentence in lines that fit a label."""
    lines = [""]
    for word in sentence.split(" "):
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "<br>".join(lines)


def _mark(figure: go.Figure, null: NullSpace, theme: str) -> None:
    """Draw the threshold, the gap, and the region of the null directions."""
    look = THEMES[theme]
    values, k = null.singular_values, null.dimension
    seen = len(values) - k
    if k:
        figure.add_shape(
            type="rect",
            x0=seen + 0.5,
            x1=1.01 * len(values) + 1,
            yref="y domain",
            y0=0,
            y1=1,
            fillcolor=blend(look.paper, look.ink, 0.08),
            line={"width": 0},
            layer="below",
        )
    low, high = figure.layout.yaxis.range
    if not null.threshold:
        return
    at = log10(null.threshold)
    figure.update_layout(yaxis_range=[min(low, at - 1.5), max(high, at + 0.5)])
    figure.add_shape(
        type="line",
        xref="x domain",
        x0=0,
        x1=1,
        y0=null.threshold,
        y1=null.threshold,
        line={"color": look.muted, "width": 1},
    )
    share = null.threshold / float(values[0]) if values[0] else 1.0
    words = (
        text(
            "threshold {threshold}, of the size of rounding errors",
            threshold=_power(null.threshold),
        )
        if share > 2 * null.tolerance
        else text(
            "threshold {threshold} = {share} × the largest",
            threshold=_power(null.threshold),
            share=_power(share),
        )
    )
    if isfinite(null.gap) and k:
        words += text("<br>gap across it: a factor of {gap}", gap=_power(null.gap))
    figure.add_annotation(
        text=words,
        xref="x domain",
        x=0.02,
        y=at,
        xanchor="left",
        yanchor="top",
        align="left",
        font={"color": look.muted, "size": SIZE - 1},
    )


def _power(value: float) -> str:
    """Return a number as a multiple of a power of ten."""
    mantissa, exponent = f"{value:.1e}".split("e")
    times = "" if mantissa == "1.0" else f"{mantissa} · "
    return f"{times}10<sup>{int(exponent)}</sup>".replace("-", "−")


def _heads(
    null: NullSpace, terms: Mapping[str, int], method: str, about: str, which: str, muted: str
) -> list[dict[str, Any]]:
    k, all_values = null.dimension, len(null.singular_values)
    expected = sum(terms.values())
    numbers = " + ".join(str(value) for value in terms.values())
    formula = " + ".join(terms) + f" = {numbers}" if terms else "0"
    if len(terms) > 1:
        formula += f" = {expected}"
    sign = "✓" if expected == k else text("✗, counted {k}", k=k)
    left = text("<b>{method}</b>: the spectrum of F<sub>WW</sub>", method=method)
    left += "<br>" + colored(f"{about}<br>{which}", muted)
    right = text(
        "<b>{k} of {all} directions are null</b><br>by formula {formula} {sign}<br>{note}",
        k=k,
        all=all_values,
        formula=formula,
        sign=sign,
        note=colored(text("each counted once, under the first reason that explains it"), muted),
    )
    return [above(left, LEFT[0], 8), above(right, RIGHT[0], 8)]


def _bar_title(i: int, title: str) -> dict[str, Any]:
    return {
        "text": title,
        "xref": "x2",
        "yref": "y2",
        "x": 0,
        "y": i - 0.22,
        "xanchor": "left",
        "yanchor": "bottom",
    }


def _silence(null: NullSpace, explanation: Explanation | None, muted: str) -> list[dict[str, Any]]:
    """Return what stands in place of the bars, where there are none."""
    if null.dimension and explanation is not None:
        return []
    words = text("Every direction changes the model:<br>there is nothing to explain.")
    if null.dimension:
        words = text("Stopped before the null directions<br>were explained.")
    return [
        {
            "text": words,
            "xref": "paper",
            "yref": "paper",
            "x": RIGHT[0],
            "y": 0.9,
            "xanchor": "left",
            "yanchor": "top",
            "align": "left",
            "font": {"color": muted},
        }
    ]
