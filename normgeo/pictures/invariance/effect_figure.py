"""The picture of a change: what it does to one row, and to z, method under method."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.datasets.dataset import Dataset
from normgeo.invariance.before_and_after import AppliedChange, BeforeAndAfter, Moments
from normgeo.pictures.invariance.effect import EffectOnData
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.template import SIZE, THEMES, add_slider, dress, ink_scale


def figure(result: EffectOnData, theme: str) -> go.Figure:
    """Draw an effect: the changed row at the left, z of one case before (hollow) and after.

    The frames of its slider are the strengths.
    """
    effect, dataset, opening = result.effect, result.dataset, result.opening
    methods = list(effect.methods.values())
    last = _rows(effect)
    alone = [[{}, {"rowspan": 2}], [{}, None]] if len(methods) == 1 else None
    drawn = make_subplots(
        rows=last,
        cols=2,
        column_widths=[0.24, 0.76],
        specs=alone,
        horizontal_spacing=0.09,
        vertical_spacing=0.3 / last + 0.06,
    )
    limit = float(np.abs(effect.row_before).max()) or 1.0
    drawn.add_trace(_row(effect.row_before, dataset, limit, theme), row=1, col=1)
    drawn.add_trace(_row(effect.row_after[opening], dataset, limit, theme), row=last, col=1)
    for place, method in enumerate(methods, start=1):
        for trace in _dots(method, opening, theme):
            drawn.add_trace(trace, row=place, col=2)
    dress(drawn, theme, height=460 if last < 3 else 530)
    drawn.update_layout(margin={"l": 16, "r": 8, "t": 44, "b": 40})
    _axes(drawn, effect, dataset)
    drawn.update_layout(showlegend=False, annotations=_captions(drawn, effect, opening, theme))

    moving = [1, *(i for m in range(len(methods)) for i in (2 + 3 * m + 1, 2 + 3 * m + 2))]
    frames = [
        go.Frame(
            name=f"{strength:g}",
            traces=moving,
            data=[
                _row(effect.row_after[step], dataset, limit, theme),
                *(trace for method in methods for trace in _dots(method, step, theme)[1:]),
            ],
            layout={"annotations": _captions(drawn, effect, step, theme)},
        )
        for step, strength in enumerate(effect.strengths)
    ]
    prefix = "δ = " if effect.transform.rescales else text("strength of γ: ")
    add_slider(drawn, frames, start=opening, prefix=prefix, theme=theme)
    return drawn


def _rows(effect: AppliedChange) -> int:
    """The number of rows: one for a method, at least two for before and after."""
    return max(2, len(effect.methods))


def _row(values: Array, dataset: Dataset, limit: float, theme: str) -> go.Heatmap | go.Bar:
    """Return one row of W or X as an image where the features are pixels, as bars elsewhere."""
    if dataset.image_shape is None:
        return go.Bar(
            x=list(map(escape, dataset.feature_names)),
            y=values,
            marker_color=THEMES[theme].muted,
            hovertemplate="%{x}: %{y:.4g}<extra></extra>",
        )
    image = np.round(dataset.as_images(values), 3)
    return go.Heatmap(
        z=image,
        zmin=-limit,
        zmax=limit,
        zmid=0,
        colorscale=ink_scale(theme),
        showscale=False,
        hovertemplate=text("pixel (%{y}, %{x}): %{z}<extra></extra>"),
    )


def _dots(method: BeforeAndAfter, step: int, theme: str) -> tuple[go.Scatter, ...]:
    """Return z before (hollow), the way from before to after, and z after (filled)."""
    color = method_color(method.normalizer)
    before, after = method.before.z, method.after[step].z
    neurons = np.arange(len(before))
    gap = np.full(len(before), np.nan)
    hollow = go.Scatter(
        x=neurons,
        y=before,
        mode="markers",
        marker={
            "size": 13,
            "symbol": "circle-open",
            "color": THEMES[theme].ink,
            "line": {"width": 1.5},
        },
        hovertemplate=text("neuron %{x}, before: z = %{y:.6g}<extra></extra>"),
    )
    way = go.Scatter(
        x=np.repeat(neurons, 3),
        y=np.column_stack([before, after, gap]).ravel(),
        mode="lines",
        line={"color": color, "width": 2},
        hoverinfo="skip",
        connectgaps=False,
    )
    filled = go.Scatter(
        x=neurons,
        y=after,
        mode="markers",
        marker={"size": 8, "color": color},
        hovertemplate=text("neuron %{x}, after: z = %{y:.6g}<extra></extra>"),
    )
    return hollow, way, filled


def _axes(figure: go.Figure, effect: AppliedChange, dataset: Dataset) -> None:
    rows = _rows(effect)
    lowest = len(effect.methods)
    for place, method in enumerate(effect.methods.values(), start=1):
        values = [method.before.z, *(after.z for after in method.after)]
        reach = 1.15 * max(float(np.abs(z).max()) for z in values)
        figure.update_yaxes(range=[-reach, reach], title="z", zeroline=True, row=place, col=2)
        figure.update_xaxes(
            dtick=max(1, len(method.before.z) // 10),
            title=text("neuron h") if place == lowest else "",
            showticklabels=place == lowest,
            row=place,
            col=2,
        )
    hidden = {"showticklabels": False, "ticks": "", "showgrid": False, "showline": False}
    for place in {1, rows}:
        if dataset.image_shape is None:
            tallest = max(
                float(np.abs(effect.row_after).max()), float(np.abs(effect.row_before).max())
            )
            figure.update_yaxes(range=[-tallest, tallest], row=place, col=1)
            figure.update_xaxes(hidden, row=place, col=1)
            continue
        figure.update_xaxes(hidden, constrain="domain", row=place, col=1)
        figure.update_yaxes(
            hidden,
            autorange="reversed",
            constrain="domain",
            row=place,
            col=1,
            scaleanchor="x" if place == 1 else f"x{2 * place - 1}",
        )


def _captions(
    figure: go.Figure, effect: AppliedChange, step: int, theme: str
) -> list[dict[str, Any]]:
    """The caption of every panel at one step: verdict, movement, Eq. 5 in numbers."""
    look = THEMES[theme]
    sides = ((1, _row_name(effect)), (_rows(effect), _changed_name(effect, step)))
    captions = [_caption(figure, 2 * place - 1, words, look.muted) for place, words in sides]
    for place, method in enumerate(effect.methods.values(), start=1):
        numbers = _numbers(method, step, effect.neuron)
        lines = (
            f"<b>{method.normalizer.title}</b>  {_verdict(method, effect, step)}",
            f'<span style="color:{look.muted}">{numbers}</span>',
        )
        captions.append(_caption(figure, 2 * place, lines, look.ink))
    return captions


def _caption(
    figure: go.Figure, axis: int, words: str | Sequence[str], color: str
) -> dict[str, Any]:
    """Words above the panel of an axis."""
    place = "" if axis == 1 else str(axis)
    x, y = figure.layout[f"xaxis{place}"].domain, figure.layout[f"yaxis{place}"].domain
    font = {"size": SIZE - 1, "color": color}
    return note(words, x[0], y[1], yshift=4, showarrow=False, font=font)


def _row_name(effect: AppliedChange) -> str:
    if effect.transform.matrix == "W":
        return text("weights of neuron {n}", n=effect.index)
    return text("case {n}", n=effect.index)


def _changed_name(effect: AppliedChange, step: int) -> str:
    sign = "×" if effect.transform.rescales else "+ γ ×"
    return text(
        "the same, {sign} {strength}", sign=sign, strength=number(effect.strengths[step], 6)
    )


def _verdict(method: BeforeAndAfter, effect: AppliedChange, step: int) -> str:
    """Return the certified verdict at this strength, and how far z moved here."""
    after, strength = method.after[step], float(effect.strengths[step])
    if after.problem:
        return text("no z here: {problem}", problem=after.problem)
    if strength == (1 if effect.transform.rescales else 0):
        return text("nothing was changed")
    verdict = method.verdict
    if verdict.sign_flip and strength < 0:
        return text("± sign flip: a negative δ turns z over")
    moved = number(after.change, 1) if after.change < 0.01 else f"{after.change:.0%}"
    if verdict.invariant:
        return text("✓ invariant (z moves by {moved})", moved=moved)
    if verdict.only_without_eps:
        return text("≈ only at ε = 0 (z moves by {moved})", moved=moved)
    return text("✗ not invariant: z moves by up to {moved}", moved=moved)


def _numbers(method: BeforeAndAfter, step: int, neuron: int) -> str:
    after = method.after[step]
    if after.problem:
        return ""
    return text(
        "z<sub>{n}</sub> = {before}  →  {after}",
        n=neuron,
        before=_fraction(method.before, neuron),
        after=_fraction(after, neuron),
    )


def _fraction(case: Moments, h: int) -> str:
    a, mu, sigma, z = (float(v[h]) for v in (case.summed_inputs, case.mu, case.sigma, case.z))
    difference = f"{number(a)} {'−' if mu >= 0 else '+'} {number(abs(mu))}"
    return f"({difference})/{number(sigma)} = <b>{number(z)}</b>"
