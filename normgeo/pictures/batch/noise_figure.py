"""What a small batch knows: the error of μ, of σ, and what it does to z, against batch size."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.batch.noise import Errors, Noise
from normgeo.pictures.style.annotations import colored, note
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.sheet import Panel, Sheet, on_panel, told
from normgeo.pictures.style.template import MEASURED, PREDICTED, SMALL, THEMES

ROUNDING = 1e-9  # an error of a float's size, where the batch is all cases, is 0
WORDS = 0.35  # of the height of the lines, below them, for words


def figure(result: Noise, theme: str) -> go.Figure:
    """Draw three panels on logarithmic axes, measured solid and predicted dashed."""
    look, sizes = THEMES[theme], result.noise.sizes
    of_batches = [drift for drift in result.drifts if drift.normalizer.shared_by_cases]
    color = method_color(of_batches[0].normalizer, theme)
    traces = []
    for panel, errors in enumerate((result.mean, result.scale), start=1):
        measured, dashed = errors.measured, errors.predicted
        traces += [
            _band(sizes, errors, panel, blend(look.paper, color, 0.25)),
            _line(sizes, measured, panel, text("measured"), color, MEASURED, 4),
            _line(sizes, dashed, panel, text("predicted"), look.ink, PREDICTED),
        ]
    for drift in of_batches:
        name, hue = drift.normalizer.title, method_color(drift.normalizer, theme)
        traces.append(_line(sizes, drift.change, 3, name, hue, MEASURED, 4))
    traces.append(_line(sizes, result.predicted, 3, text("predicted"), look.ink, PREDICTED))
    for trace in traces:
        trace.showlegend = trace.xaxis == "x"
    changes = [drift.change for drift in of_batches]
    shown = np.concatenate([result.mean.measured, result.scale.measured, *changes])
    about = text(
        "{data!s}, H = {H} neurons; {batches} batches of each size",
        data=result.data,
        H=len(result.noise.sigma),
        batches=result.noise.batches,
    )
    axes = _axes(shown[np.isfinite(_positive(shown))], result.cases)
    heads, notes = _heads(result, theme), _notes(result, theme)
    return Sheet(
        [],
        rows=[
            [
                Panel(x, y, head, note, high=(290, 230))
                for (x, y), head, note in zip(axes, heads, notes, strict=True)
            ]
        ],
        foot=[told(theme, about)],
    ).on(traces, theme)


def _positive(values: Array) -> Array:
    """Values with a gap where a logarithm has none."""
    shown: Array = np.where(values > ROUNDING, values, np.nan)
    return shown


def _band(sizes: Array, errors: Errors, panel: int, shade: str) -> go.Scatter:
    """The range over the neurons, where no error is 0."""
    some = errors.least > 0
    return go.Scatter(
        x=np.concatenate([sizes[some], sizes[some][::-1]]),
        y=np.concatenate([errors.most[some], errors.least[some][::-1]]),
        mode="lines",
        fill="toself",
        fillcolor=shade,
        line={"width": 0, "color": shade},
        name=text("from neuron to neuron"),
        hoverinfo="skip",
        **on_panel(panel),
    )


def _line(
    sizes: Array, values: Array, panel: int, name: str, color: str, dash: str, width: float = 2
) -> go.Scatter:
    return go.Scatter(
        x=sizes,
        y=_positive(values),
        name=name,
        mode="lines+markers" if width > 2 else "lines",
        line={"color": color, "width": width, "dash": dash},
        marker={"size": 8},
        **on_panel(panel),
        hovertemplate=text(
            "{name}, m = {m}: {value}<extra></extra>", name=name, m="%{x}", value="%{y:.3g}"
        ),
    )


def _axes(shown: Array, cases: int) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    titles = (
        text("error of μ, in units of σ"),
        text("error of σ, in units of σ"),
        text("change of z, over its size"),
    )
    lowest, high = np.log10(shown.min()), np.log10(max(2.5, 1.6 * shown.max()))
    x = {
        "type": "log",
        "title": text("cases in the batch m"),
        "tickvals": 4.0 ** np.arange(8),
        "ticktext": [f"{4**k:,}" for k in range(8)],
        "range": [np.log10(0.8), np.log10(1.25 * cases)],
    }
    y = {
        "type": "log",
        "range": [lowest - WORDS * (high - lowest), high],
        "tickvals": [1.0, 0.1, 0.01, 0.001],
        "ticktext": ["1", "0.1", "0.01", "0.001"],
    }
    return [(x, {**y, "title": title}) for title in titles]


def _heads(result: Noise, theme: str) -> list[list[str]]:
    kurtosis, muted = result.noise.kurtosis, THEMES[theme].muted
    heads = (
        (
            text("<b>the mean</b>: √(f/m)"),
            text("slope −½ while m ≪ N = {N:,}", N=result.cases),
        ),
        (
            text("<b>the scale</b>: √((κ − 1) f/4m)"),
            text(
                "first order in 1/m; kurtosis κ = {low} to {high}",
                low=number(kurtosis.min()),
                high=number(kurtosis.max()),
            ),
        ),
        (text("<b>training against test</b>"), _moved(result, theme)),
    )
    return [[first, colored(second, muted)] for first, second in heads]


def _notes(result: Noise, theme: str) -> list[list[dict[str, Any]]]:
    """What has no place on the logarithmic axes of each panel."""
    look = THEMES[theme]
    muted = {"size": SMALL, "color": look.muted}
    # The lines fall to the right: above them there is room.
    above = {"xanchor": "right", "yanchor": "top", "align": "right", "font": muted}
    alone = [text("m = 1: σ of the batch is 0,"), text("so its error is 1")]
    upright = {"xanchor": "left", "xshift": -2, "textangle": -90, "font": muted}
    own = (
        note(text("f = (N − m)/(N − 1)"), 0.98, 0.98, **above),
        note(alone, 0.98, 0.98, **above),
        note(text("m = 1: σ = 0, no z"), 0, 0.03, xref="x", **upright),
    )
    foot = {"color": look.ink, "size": SMALL}
    return [
        [note(_unmoved(result, panel, theme), 0.14 if panel == 3 else 0.04, 0.03, font=foot), words]
        for panel, words in enumerate(own, start=1)
    ]


def _moved(result: Noise, theme: str) -> str:
    """What the lines of the last panel are of."""
    names = [
        colored(drift.normalizer.title, method_color(drift.normalizer, theme))
        for drift in result.drifts
        if drift.normalizer.shared_by_cases
    ]
    if len(names) == 1:
        return text("z in its batch − frozen z")
    return ", ".join(names)


def _unmoved(result: Noise, panel: int, theme: str) -> list[str]:
    """What is 0 at every size: the methods that never see the batch."""
    lines = []
    for drift in result.drifts:
        if not drift.normalizer.shared_by_cases:
            words = text("<b>{name}: 0</b> at every m", name=drift.normalizer.title)
            lines.append(colored(words, method_color(drift.normalizer, theme), SMALL))
    if panel == 1:
        lines.append(text("computed without the batch"))
    largest = [drift.change for drift in result.drifts if not drift.normalizer.shared_by_cases]
    if panel == 3 and np.isfinite(largest).any():
        lines.append(text("(rounding: {most})", most=number(np.nanmax(largest), 1)))
    return lines
