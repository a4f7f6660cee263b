"""Frames of a figure, and what moves them: a slider and a button that plays.

Two players know the frames. On a page and in an exported one our own script shows each frame as a
whole picture (`player.js`). In a notebook plotly's own slider does, which merges a frame into what
is on the screen: shapes, annotations and traces by index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import plotly
import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

from normgeo.base.text import text
from normgeo.pictures.style.template import SIZE, SMALL, THEMES

_HERE = Path(__file__).parent
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
VERSION: str = plotly.__version__
IMAGE = (_HERE / "image.js").read_text("utf-8")
_PARTS = "player", "frame", "slider", "menu", "image", "hall", "panel", "turning"
SCRIPT = "\n".join((_HERE / f"{part}.js").read_text("utf-8") for part in _PARTS)
PANEL = (_HERE / "panel.js").read_text("utf-8")
STRIP = 76  # pixels of a figure's height, at its foot, for the slider
HALL = 59  # the same in a hall; the slider of a narrow figure stands beneath it
HEIGHT = 540  # of a figure that says none
PLAYED = 6000  # milliseconds from the first frame to the last

Frame = dict[str, Any]


def frames(
    names: Iterable[object],
    data: Iterable[Sequence[Any]],
    layouts: Iterable[Mapping[str, Any]] | None = None,
    traces: Sequence[int] | int = 0,
) -> list[Frame]:
    """Return frames: their names, what they change of traces, and their layouts.

    `traces` are the places of those that change, or the place of the first of them.
    """
    found: list[Frame] = []
    for name, changed in zip(map(str, names), data, strict=True):
        places = range(traces, traces + len(changed)) if isinstance(traces, int) else traces
        found.append({"name": name, "data": [*changed], "traces": [*places]})
    for frame, layout in zip(found, layouts or (), strict=layouts is not None):
        frame["layout"] = layout
    return found


def add_slider(
    figure: go.Figure,
    frames: Sequence[go.Frame | Frame],
    *,
    start: int,
    prefix: str,
    theme: str,
    setting: str = "",
    values: Sequence[str] = (),
    single: bool = False,
) -> None:
    """Give a figure its frames and the slider that moves them, in a strip at its foot.

    Frames as dictionaries are checked once, by plotly; as `go.Frame` once more.

    Args:
        figure: of the frame that opens, with its height and margins as without a slider.
        frames: with a "name" each; a frame states all in which it differs from any other.
        start: the place of the frame that opens. prefix: before the name, in the slider's words.
        theme: of the figure.
        setting, values: what the address holds at each frame, where it follows the slider.
        single: whether buttons step by single frames, where a slider has too many for a hand.

    """
    look = THEMES[theme]
    figure.frames = tuple(frames)
    names = [str(frame["name"]) for frame in frames]
    pause = PLAYED // max(len(frames) - 1, 1)
    foot = figure.layout.margin.b if figure.layout.margin.b is not None else 80
    forms = figure.layout.meta or {}
    figure.update_layout(
        meta={
            **forms,
            **{key: _longer(forms[key]) for key in ("hall", "slide") if key in forms},
            "single": single,
        },
        height=figure.layout.height + STRIP,
        margin={"b": foot + STRIP},
        sliders=[
            {
                "name": setting,
                "active": start,
                "steps": [
                    {"label": name, "value": value, "method": "animate", "args": [[name], _move(0)]}
                    for name, value in zip(names, map(str, values or names), strict=True)
                ],
                "currentvalue": {
                    "prefix": str(prefix),
                    "font": {"size": SIZE, "color": look.ink},
                },
                "font": {"size": SMALL, "color": look.muted},
                "activebgcolor": look.accent,
                "bgcolor": look.panel,
                "bordercolor": look.muted,
                "x": 0.2,
                "len": 0.8,
                "pad": {"t": foot},
                "minorticklen": 0,
            }
        ],
        updatemenus=[
            {
                "type": "buttons",
                "direction": "left",
                "x": 0,
                "xanchor": "left",
                "y": 0,
                "yanchor": "top",
                "pad": {"t": foot + 24},
                "showactive": False,
                "bgcolor": look.panel,
                "bordercolor": look.muted,
                "font": {"color": look.ink},
                "buttons": [
                    {"label": str(label), "method": "animate", "args": [frames, _move(pause)]}
                    for label, frames, pause in (
                        (text("play"), None, pause),
                        (text("pause"), [None], 0),
                    )
                ],
            }
        ],
    )


def _longer(form: dict[str, Any]) -> dict[str, Any]:
    """A form as high as a screen, with room for a slider."""
    margin = form["margin"] | {"b": form["margin"]["b"] + HALL}
    return form | {key: form[key] + HALL for key in ("height", "least")} | {"margin": margin}


def for_script(figure: go.Figure) -> dict[str, Any]:
    """Return a figure as `player.js` shows it: it moves the frames in place of plotly's own slider.

    Without a "zoom" in its meta nothing that a hand does by accident moves the axes.
    """
    plain: dict[str, Any] = figure.to_dict()
    layout = plain["layout"]
    meta = {**layout.get("meta", {}), "height": layout.setdefault("height", HEIGHT)}
    for slider in layout.pop("sliders", ()):
        del layout["updatemenus"]
        meta["steps"] = {
            "labels": [step["label"] for step in slider["steps"]],
            "values": [step["value"] for step in slider["steps"]],
            "setting": slider["name"],
            "prefix": slider["currentvalue"]["prefix"],
            "start": slider["active"],
            "panel": slider["bgcolor"],
            "accent": slider["activebgcolor"],
            "strip": STRIP,
            "single": meta.pop("single", False),
            "buttons": _buttons(),
        }
    if not meta.get("zoom"):
        layout["dragmode"] = False
        for name in {"xaxis", "yaxis", *layout}:
            if name.startswith(("xaxis", "yaxis")):
                layout[name] = {**layout.get(name, {}), "fixedrange": True}
    layout["meta"] = meta
    return plain


def written(figure: go.Figure) -> str:
    """Return a figure `for_script` as JSON."""
    text: str = to_json_plotly(for_script(figure))
    return text


def _buttons() -> dict[str, str]:
    names = {
        "rewind": text("rewind"),
        "back": text("step back"),
        "play": text("play"),
        "pause": text("pause"),
        "step": text("step forward"),
    }
    return {key: str(name) for key, name in names.items()}


def _move(pause: int) -> dict[str, Any]:
    # Captions, titles and images are drawn anew only with `redraw`.
    return {
        "mode": "immediate",
        "fromcurrent": True,
        "frame": {"duration": pause, "redraw": True},
        "transition": {"duration": 0},
    }
