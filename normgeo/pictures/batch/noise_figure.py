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
from normgeo.pictures.style.template import (
    LEGEND_ABOVE,
    MEASURED,
    PREDICTED,
    SMALL,
    THEMES,
    dress,
)

ROUNDING = 1e-9  # an error of a float's size, where the batch is all cases, is 0
WORDS = 0.35  # of the height of the lines, below them, for words
DOMAINS = ((0.0, 0.285), (0.36, 0.645), (0.72, 1.0))
PHONE = 380  # pixels of height for each panel


def figure(result: Noise, theme: str) -> go.Figure:
    """Draw three panels on logarithmic axes, measured solid and predicted dashed."""
    look, sizes = THEMES[theme], result.noise.sizes
    of_batches = [drift for drift in result.drifts if drift.normalizer.shared_by_cases]
    color = method_color(of_batches[0].normalizer)
    drawn = go.Figure()
    for panel, errors in enumerate((result.mean, result.scale), start=1):
        drawn.add_trace(_band(sizes, errors, panel, blend(look.paper, color, 0.25)))
        measured, dashed = errors.measured, errors.predicted
        drawn.add_trace(_line(sizes, measured, panel, text("measured"), color, MEASURED, 4))
        drawn.add_trace(_line(sizes, dashed, panel, text("predicted"), look.ink, PREDICTED))
    for drift in of_batches:
        name, hue = drift.normalizer.title, method_color(drift.normalizer)
        drawn.add_trace(_line(sizes, drift.change, 3, name, hue, MEASURED, 4))
    drawn.add_trace(_line(sizes, result.predicted, 3, text("predicted"), look.ink, PREDICTED))
    dress(drawn, theme, height=420)
    for trace in drawn.data:
        trace.showlegend = trace.xaxis == "x" and trace.name != ""
    drawn.update_layout(margin={"t": 78}, legend=LEGEND_ABOVE)
    changes = [drift.change for drift in of_batches]
    shown = np.concatenate([result.mean.measured, result.scale.measured, *changes])
    _axes(drawn, shown[np.isfinite(_positive(shown))], result.cases)
    drawn.update_layout(annotations=_captions(result, theme), meta={"narrow": _phone()})
    return drawn


def _phone() -> dict[str, Any]:
    """The panels below each other, with the legend and then a caption over each."""
    pitch = 1 / len(DOMAINS)
    patch: dict[str, Any] = {
        "height": PHONE * len(DOMAINS) + 22,
        "margin": {"t": 140},
        "legend": {"x": 0, "xanchor": "left", "orientation": "v"},
    }
    for place in range(len(DOMAINS)):
        top = 1 - place * pitch
        name = "" if place == 0 else place + 1
        patch[f"xaxis{name}"] = {"domain": [0, 1]}
        patch[f"yaxis{name}"] = {"domain": [top - 0.62 * pitch, top]}
    return patch


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
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
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
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
        hovertemplate=text(
            "{name}, m = {m}: {value}<extra></extra>", name=name, m="%{x}", value="%{y:.3g}"
        ),
    )


def _axes(figure: go.Figure, shown: Array, cases: int) -> None:
    titles = (
        text("error of μ, in units of σ"),
        text("error of σ, in units of σ"),
        text("change of z, over its size"),
    )
    lowest, high = np.log10(shown.min()), np.log10(max(2.5, 1.6 * shown.max()))
    low = lowest - WORDS * (high - lowest)
    for panel, (title, domain) in enumerate(zip(titles, DOMAINS, strict=True), start=1):
        figure.update_layout(
            {
                f"xaxis{panel}": {
                    "type": "log",
                    "domain": domain,
                    "anchor": f"y{panel}",
                    "title": text("cases in the batch m"),
                    "tickvals": 4.0 ** np.arange(8),
                    "ticktext": [f"{4**k:,}" for k in range(8)],
                    "range": [np.log10(0.8), np.log10(1.25 * cases)],
                },
                f"yaxis{panel}": {
                    "type": "log",
                    "domain": (0, 1),
                    "anchor": f"x{panel}",
                    "title": title,
                    "range": [low, high],
                    "tickvals": [1.0, 0.1, 0.01, 0.001],
                    "ticktext": ["1", "0.1", "0.01", "0.001"],
                },
            }
        )


def _captions(result: Noise, theme: str) -> list[dict[str, Any]]:
    """A caption over each panel, and what has no place on a logarithmic axis."""
    look, noise = THEMES[theme], result.noise
    muted = {"size": SMALL, "color": look.muted}
    captions = (
        (
            text("<b>the mean</b>: √(f/m)"),
            text("slope −½ while m ≪ N = {N:,}", N=result.cases),
        ),
        (
            text("<b>the scale</b>: √((κ − 1) f/4m)"),
            text(
                "first order in 1/m; kurtosis κ = {low} to {high}",
                low=number(noise.kurtosis.min()),
                high=number(noise.kurtosis.max()),
            ),
        ),
        (text("<b>training against test</b>"), _moved(result)),
    )
    words = [
        note([first, colored(second, look.muted)], yshift=5, **_on(panel))
        for panel, (first, second) in enumerate(captions, start=1)
    ]
    for panel, shift in ((1, 0.0), (2, 0.0), (3, 0.1)):
        words.append(_within(panel, shift, _unmoved(result, panel), look.ink))
    # The lines fall to the right: above them there is room.
    alone = [text("m = 1: σ of the batch is 0,"), text("so its error is 1")]
    for panel, lines in ((1, [text("f = (N − m)/(N − 1)")]), (2, alone)):
        above = {"xanchor": "right", "yanchor": "top", "align": "right", "font": muted}
        words.append(note(lines, 0.98, 0.98, **(_on(panel) | above)))
    font = {"xanchor": "auto", "align": "center", "textangle": -90, "font": muted}
    words.append(note(text("m = 1: σ = 0, no z"), 0, 0.03, **(_on(3) | {"xref": "x3"} | font)))
    about = text(
        "{data!s}, H = {H} neurons; {batches} batches of each size",
        data=result.data,
        H=len(noise.sigma),
        batches=noise.batches,
    )
    return [*words, note(about, yshift=52, font=muted)]


def _on(panel: int) -> dict[str, Any]:
    """The references of an annotation to the area of a panel."""
    axis = "" if panel == 1 else panel
    return {"xref": f"x{axis} domain", "yref": f"y{axis} domain"}


def _moved(result: Noise) -> str:
    """What the lines of the last panel are of."""
    names = [
        colored(drift.normalizer.title, method_color(drift.normalizer))
        for drift in result.drifts
        if drift.normalizer.shared_by_cases
    ]
    if len(names) == 1:
        return text("z in its batch − z with frozen μ, σ")
    return ", ".join(names)


def _within(panel: int, shift: float, words: list[str], color: str) -> dict[str, Any]:
    """Words at the foot of a panel."""
    return note(words, 0.04 + shift, 0.03, font={"color": color, "size": SMALL}, **_on(panel))


def _unmoved(result: Noise, panel: int) -> list[str]:
    """What is 0 at every size: the methods that never see the batch."""
    lines = []
    for drift in result.drifts:
        if not drift.normalizer.shared_by_cases:
            words = text("<b>{name}: 0</b> at every m", name=drift.normalizer.title)
            lines.append(colored(words, method_color(drift.normalizer), SMALL))
    if panel == 1:
        lines.append(text("computed without the batch"))
    largest = [drift.change for drift in result.drifts if not drift.normalizer.shared_by_cases]
    if panel == 3 and np.isfinite(largest).any():
        lines.append(text("(rounding: {most})", most=number(np.nanmax(largest), 1)))
    return lines
