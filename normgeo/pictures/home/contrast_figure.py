"""One case at a contrast, and beside it its z before and after under two methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.home.contrast import notices
from normgeo.pictures.invariance.dots_figure import dots, moved
from normgeo.pictures.invariance.effect import EffectOnData, movement, sign_and_words
from normgeo.pictures.invariance.effect_figure import faded_ink
from normgeo.pictures.invariance.effect_words import below_zero
from normgeo.pictures.invariance.thumbnails import LEVELS
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Band, Panel, Sheet, answer, drawn
from normgeo.settings import as_text
from normgeo.tables import marks

HIGH, PICTURE = (250, 96), (250, 72)  # pixels, on a wide screen and on a phone
TINY = np.finfo(float).tiny
SHARE = 0.64  # of the width of one method, for the picture


def figure(result: EffectOnData, theme: str) -> go.Figure:
    """Draw the case and its z under each method; the frames of the slider are contrasts."""
    effect, every = result.effect, range(len(result.effect.strengths))
    images = _images(result)
    methods = list(effect.methods.values())
    traces = [_case(theme)]
    traces += [t for place, one in enumerate(methods) for t in dots(one, place + 2, theme)]
    moving = [0, *(1 + 3 * place + i for place in range(len(methods)) for i in (1, 2))]
    changes = [
        [_values(images[step]), *(c for one in methods for c in moved(one, step))] for step in every
    ]
    for trace, values in zip(moving, changes[result.opening], strict=True):
        traces[trace].update(values)
    whole, words = drawn(
        [_sheet(result, step, images[step].shape, theme) for step in every],
        traces,
        theme,
        result.opening,
    )
    add_slider(
        whole,
        frames((number(one, 6) for one in effect.strengths), changes, words, moving),
        start=result.opening,
        prefix=text("contrast × "),
        theme=theme,
        setting="delta",
        values=[as_text(float(strength)) for strength in effect.strengths],
    )
    return whole


def _sheet(result: EffectOnData, step: int, shape: tuple[int, ...], theme: str) -> Sheet:
    strength = number(float(result.effect.strengths[step]), 6)
    axis: dict[str, Any] = {"visible": False, "fixedrange": True}
    height, width = shape
    across = axis | {"range": [-0.5, width - 0.5]}
    down = axis | {"range": [height - 0.5, -0.5]}
    if result.dataset.image_shape is not None:
        across, down = (
            across | {"constrain": "domain", "constraintoward": "left"},
            down | {"scaleanchor": "x", "constraintoward": "top"},
        )
    cases = text("pictures") if result.dataset.image_shape else text("cases")
    said = text("one of {count:,} {cases}", count=len(result.cases), cases=cases)
    below = below_zero(result, step, theme)
    picture = Panel(
        across,
        down,
        over=[answer(text("contrast × {delta}", delta=strength)), Band([said + below])],
        high=PICTURE,
        share=SHARE,
    )
    methods = [_panel(result, key, step, theme) for key in result.effect.methods]
    return Sheet([], rows=[[picture, *methods]], right=8, legend=False)


def _panel(result: EffectOnData, key: str, step: int, theme: str) -> Panel:
    """The z of one method, under what it makes of the contrast."""
    method = result.effect.methods[key]
    reach, neurons = _reach(result), len(method.before.z)
    sign, _ = sign_and_words(result.effect, method, step)
    color = marks.color(sign, theme) if sign else method_color(method.normalizer, theme)
    return Panel(
        {
            "fixedrange": True,
            "range": [-0.6, neurons - 0.4],
            "dtick": max(1, -(-neurons // 10)),
            "title": text("neuron (○ before, ● after)"),
        },
        {
            "fixedrange": True,
            "range": [-reach, reach],
            "nticks": 5,
            "zeroline": True,
            "title": text("normalized z"),
        },
        over=[
            answer(notices(result, key, step), color=color, sign=sign),
            Band([movement(method, step)]),
        ],
        high=HIGH,
        left=16,
    )


def _reach(result: EffectOnData) -> float:
    """One scale of z for both methods."""
    every = result.effect.methods.values()
    sizes = [np.nanmax(np.abs(at.z)) for each in every for at in (each.before, *each.after)]
    return 1.2 * float(max(sizes))


def _images(result: EffectOnData) -> Array:
    """The changed case at all contrasts (S, height, width), the largest value 1.

    Features that are no pixels stand in one line, each on a scale of its own.
    """
    row = int(np.flatnonzero(result.effect.changed)[0])
    values = result.effect.rows_after[:, row]
    if result.dataset.image_shape is None:
        found: Array = values[:, None, :] / np.maximum(np.abs(values).max(axis=0), TINY)
    else:
        found = result.dataset.as_images(values) / max(np.abs(values).max(), TINY)
    return found


def _values(image: Array) -> dict[str, Any]:
    """What the picture shows at one contrast, in whole shares of all ink."""
    return {"type": "heatmap", "z": np.round(LEVELS * image).astype(np.int8)}


def _case(theme: str) -> go.Heatmap:
    return go.Heatmap(
        zmin=-LEVELS,
        zmax=LEVELS,
        colorscale=faded_ink(theme),
        showscale=False,
        hoverinfo="skip",
    )
