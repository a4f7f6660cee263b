"""A figure as a page sends it: written once for all sessions and runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

from normgeo.pictures.style.player import for_script


@final
@dataclass(frozen=True)
class Chart:
    """A figure as text, and what Python asks of it.

    As objects of Python the figures of a server are millions, which its collector of garbage goes
    through again and again; as text each is one.

    Attributes:
        text: the figure, in JSON. slider: the setting that its slider moves; "" for none.
        start: the place of the frame that it was made at. values: of the setting, at each frame.
        scales: the place and the range of each axis, at each frame; "" where one fits its data.

    """

    text: str
    slider: str
    start: int
    values: tuple[str, ...]
    scales: tuple[str, ...]

    @classmethod
    def of(cls, figure: go.Figure) -> Self:
        """Write a plotly figure."""
        plain = for_script(figure)
        layout = plain["layout"]
        steps = layout["meta"].get("steps") or {"setting": "", "start": 0, "values": ()}
        frames: Sequence[dict[str, Any]] = plain.get("frames") or ({},)
        return cls(
            to_json_plotly(plain),
            steps["setting"],
            steps["start"],
            tuple(steps["values"]),
            tuple(_scales(layout, frame.get("layout", {})) for frame in frames),
        )

    def place(self, wanted: int | None) -> int:
        """Return the place of the frame that is wanted; of the one that it was made at for None."""
        return self.start if wanted is None or not self.values else wanted


def _scales(layout: dict[str, Any], changes: dict[str, Any]) -> str:
    axes = {}
    for name, usual in layout.items():
        if name.startswith(("xaxis", "yaxis")):
            axis = usual | changes.get(name, {})
            if "range" not in axis:
                return ""
            axes[name] = axis.get("domain"), axis["range"]
    text: str = to_json_plotly(axes)
    return text
