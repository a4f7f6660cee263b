"""The common look of all figures: papers, line styles, type, margins."""

from __future__ import annotations

import math
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, final

import plotly.graph_objects as go

from normgeo.pictures.style.colors import (
    BLUE,
    GRAY,
    GREEN,
    OTHER,
    PAPERS,
    PINK,
    VERMILION,
    on_paper,
)

# Names with a digit need quotes, or the browser drops the whole list.
FONT = "'Source Sans', 'Source Sans 3', Helvetica, Arial, 'DejaVu Sans', sans-serif"
SIZE, SMALL, LARGE = 16, 14, 26  # of text, of ticks and asides, of what the back row reads

# Line style carries the same meaning everywhere.
MEASURED, PREDICTED, CLAIM = "solid", "dash", "dot"
VARIANT = "dashdot"  # measured too, of a second method in the color of another


@final
@dataclass(frozen=True)
class Theme:
    """The neutral colors of a light or a dark figure."""

    ink: str
    muted: str
    grid: str
    paper: str
    panel: str
    accent: str


THEMES: dict[str, Theme] = {
    "light": Theme("#101418", "#5A636E", "#E3E6EA", PAPERS["light"], "#F5F6F7", "#00629A"),
    "dark": Theme("#E8EAED", "#A4ADB8", "#343B43", PAPERS["dark"], "#20252A", "#7CC6F2"),
}

RIGHT_MARGIN = 18  # pixels for the half of a label at the end of an axis


@cache
def font_rule() -> str:
    """Return the rule `@font-face` of the pages' font, its file inside; "" where there is none.

    Streamlit ships the file and names no address of it, so it is looked up among the files that
    were installed.
    """
    try:
        installed = metadata.files("streamlit") or []
    except metadata.PackageNotFoundError:
        return ""
    for file in installed:
        if file.name.startswith("SourceSansVF-Upright") and file.suffix == ".woff2":
            font = b64encode(Path(str(file.locate())).read_bytes()).decode()
            source = f"url(data:font/woff2;base64,{font})"
            return (
                f"@font-face {{ font-family: 'Source Sans'; font-weight: 200 900; src: {source}; }}"
            )
    return ""


def log_ticks(low: float, high: float) -> list[float]:
    """Return numbers from `low` to `high`: 1, 2, 5 times powers of ten, some powers over 4 decades.

    Closer numbers, where these would be too few, have round ones in equal steps:

    >>> log_ticks(0.9, 1.8)
    [1.0, 1.2, 1.4, 1.6, 1.8]

    """
    if low < high < 4 * low:
        power = math.floor(math.log10(high - low))
        parts = (high - low) / 10.0**power
        step = (0.2 if parts < 2 else 0.5 if parts < 4 else 1 if parts < 6 else 2) * 10.0**power
        return [
            round(n * step, 2 - power) for n in range(math.ceil(low / step), int(high / step) + 1)
        ]
    digits = (1, 2, 5) if high < 1e4 * low else (1,)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    powers = range(first, last + 1, 1 + (last - first) // 10)
    return [digit * 10.0**power for power in powers for digit in digits]


def powers(low: float, high: float) -> list[int]:
    """Return whole numbers from `low` to `high` in round steps, 0 among them: seven at most.

    >>> powers(-12.5, 21)
    [-10, 0, 10, 20]

    """
    rounds = (digit * 10**k for k in range(19) for digit in (1, 2, 5))
    step = next(step for step in rounds if 6 * step >= high - low)
    return [n for n in range(math.ceil(low), math.floor(high) + 1) if n % step == 0]


def ink_scale(theme: str) -> list[list[Any]]:
    """Return a color scale for signed values: blue below 0, paper at 0, ink above."""
    look = THEMES[theme]
    return [[0.0, on_paper(BLUE, theme)], [0.5, look.paper], [1.0, look.ink]]


def template(theme: str) -> go.layout.Template:
    """Return the common type, axes and colors of all figures."""
    look = THEMES[theme]
    axis = {
        "gridcolor": look.grid,
        "zerolinecolor": look.grid,
        "linecolor": look.muted,
        "tickcolor": look.muted,
        "ticks": "outside",
        "ticklen": 4,
        "showline": True,
        "title": {"standoff": 8, "font": {"size": SIZE}},
        # Margins are stated: plotly draws a figure twice to find them, and looks at every label.
        "automargin": False,
        "ticklabeloverflow": "allow",
        "tickfont": {"size": SMALL, "color": look.muted},
    }
    return go.layout.Template(
        layout={
            "font": {"family": FONT, "size": SIZE, "color": look.ink},
            "paper_bgcolor": look.paper,
            "plot_bgcolor": look.paper,
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": {"font": {"family": FONT, "size": SIZE}},
            # The player makes the lines before names larger with the type.
            "legend": {"itemwidth": 30},
            "colorway": [on_paper(c, theme) for c in (GRAY, BLUE, VERMILION, GREEN, PINK, OTHER)],
            "annotationdefaults": {"showarrow": False, "font": {"color": look.ink}},
        }
    )
