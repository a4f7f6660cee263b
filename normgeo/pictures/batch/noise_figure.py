"""What a small batch knows: the error of μ, of σ, and what it does to z, against batch size."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.normalizers.batch_statistics import BatchDrift, BatchNoise
from normgeo.normalizers.normalizer import NORMALIZERS
from normgeo.pictures.style.template import (
    LEGEND_ABOVE,
    MEASURED,
    PREDICTED,
    SIZE,
    THEMES,
    above,
    blend,
    colored,
    dress,
    method_color,
)

ROUNDING = 1e-9  # an error of a float's size, where the batch is all cases, is 0
DOMAINS = ((0.0, 0.285), (0.36, 0.645), (0.72, 1.0))


def noise_figure(
    noise: BatchNoise,
    batch: BatchDrift,
    layer: BatchDrift,
    predicted: Array,
    *,
    cases: int,
    data: str,
    theme: str,
) -> go.Figure:
    """Draw three panels on logarithmic axes, measured solid and predicted dashed.

    Args:
        noise: of μ and σ. batch, layer: the change of z between training and test.
        predicted: that of batch norm. cases: N. data: its title. theme: of the figure.

    """
    look, color = THEMES[theme], method_color(NORMALIZERS["batch"])
    figure = go.Figure()
    sides = (
        (noise.mean_error, noise.predicted_mean_error),
        (noise.sigma_error, noise.predicted_sigma_error),
    )
    ends = []
    for panel, (measured, expected) in enumerate(sides, start=1):
        relative = measured / noise.sigma
        figure.add_trace(_band(noise.sizes, relative, panel, blend(look.paper, color, 0.25)))
        rms, dashed = _rms(relative), _rms(expected / noise.sigma)
        figure.add_trace(_line(noise.sizes, rms, panel, text("measured"), color, MEASURED, 4))
        figure.add_trace(_line(noise.sizes, dashed, panel, text("predicted"), look.ink, PREDICTED))
        ends.append(rms)
    figure.add_trace(_line(batch.sizes, batch.change, 3, text("batch norm"), color, MEASURED, 4))
    figure.add_trace(_line(batch.sizes, predicted, 3, text("predicted"), look.ink, PREDICTED))
    dress(figure, theme, height=420)
    for trace in figure.data:
        trace.showlegend = trace.xaxis == "x" and trace.name != ""
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 78, "b": 44},
        legend=LEGEND_ABOVE,
    )
    seen = np.concatenate([*ends, batch.change])
    seen = seen[np.isfinite(_positive(seen))]
    _axes(figure, seen, cases)
    figure.update_layout(annotations=_captions(noise, layer, data, theme))
    return figure


def _rms(errors: Array) -> Array:
    """Return the root mean square over the neurons."""
    rms: Array = np.sqrt((errors**2).mean(axis=1))
    return rms


def _positive(values: Array) -> Array:
    """Return values with a gap where a logarithm has none."""
    shown: Array = np.where(values > ROUNDING, values, np.nan)
    return shown


def _band(sizes: Array, relative: Array, panel: int, shade: str) -> go.Scatter:
    """Return the range over the neurons, where no error is 0."""
    some = (relative > 0).all(axis=1)
    low, high = relative[some].min(axis=1), relative[some].max(axis=1)
    return go.Scatter(
        x=np.concatenate([sizes[some], sizes[some][::-1]]),
        y=np.concatenate([high, low[::-1]]),
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


def _axes(figure: go.Figure, seen: Array, cases: int) -> None:
    titles = (
        text("error of μ, in units of σ"),
        text("error of σ, in units of σ"),
        text("change of z, over its size"),
    )
    low, high = np.log10(seen.min() / 1.6), np.log10(max(2.5, 1.6 * seen.max()))
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


def _captions(noise: BatchNoise, layer: BatchDrift, data: str, theme: str) -> list[dict[str, Any]]:
    """Return a caption over each panel, and what has no place on a logarithmic axis."""
    muted = {"size": SIZE - 2, "color": THEMES[theme].muted}
    green = method_color(NORMALIZERS["layer"])
    H = noise.sigma.shape[0]
    captions = (
        (
            text("<b>the mean</b>: √(f/m), slope −½"),
            text("f = (N − m)/(N − 1), N = {N:,}", N=int(noise.sizes[-1])),
        ),
        (
            text("<b>the scale</b>: √((κ − 1) f/4m)"),
            text(
                "first order in 1/m; kurtosis κ = {low:.3g} to {high:.3g}",
                low=noise.kurtosis.min(),
                high=noise.kurtosis.max(),
            ),
        ),
        (text("<b>training against test</b>"), text("z in its batch − z with frozen statistics")),
    )
    words = [
        above(f"{first}<br>{colored(second, THEMES[theme].muted)}", domain[0], 5)
        for (first, second), domain in zip(captions, DOMAINS, strict=True)
    ]
    rounding = text("<br>(rounding: {most:.0e})", most=np.nanmax(layer.change))
    stated = (
        (1, 0.0, text("<b>layer norm: 0</b> at every m,<br>it never sees the batch"), green),
        (2, 0.0, text("<b>layer norm: 0</b> at every m"), green),
        (3, 0.03, text("<b>layer norm: 0</b> at every m") + rounding, green),
        (
            2,
            0.0,
            text("m = 1: σ of the batch is 0,<br>so its error is 1<br> <br> "),
            muted["color"],
        ),
    )
    for panel, shift, sentence, color in stated:
        words.append(
            {
                "text": sentence,
                "x": DOMAINS[panel - 1][0] + 0.012 + shift,
                "y": 0.03,
                "xref": "paper",
                "yref": "paper",
                "xanchor": "left",
                "yanchor": "bottom",
                "align": "left",
                "font": {"color": color, "size": SIZE - 1},
            }
        )
    words.append(
        {
            "text": text("m = 1: σ = 0, no z"),
            "x": 0,
            "y": 0.03,
            "xref": "x3",
            "yref": "paper",
            "yanchor": "bottom",
            "textangle": -90,
            "font": muted,
        }
    )
    words.append(
        {
            "text": text(
                "{data}, {H} neurons; {batches} batches of each size; at m = N all are 0",
                data=data,
                H=H,
                batches=noise.batches,
            ),
            "x": 0,
            "y": 1,
            "xref": "paper",
            "yref": "paper",
            "xanchor": "left",
            "yanchor": "bottom",
            "yshift": 52,
            "font": muted,
        }
    )
    return words
