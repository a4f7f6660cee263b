"""A figure as a page sends it: prepared once for all sessions and runs."""

from __future__ import annotations

from itertools import count
from typing import Any, Self, final

from plotly.basedatatypes import BaseFigure

from normgeo.pictures.style.player import for_script, opened_at

_KEYS = count()


@final
class Chart(BaseFigure):  # type: ignore[misc]
    """A figure that is plain data already.

    Streamlit takes figures of plotly, and asks each for a deep copy on every run of a page: 10 to
    20 ms of a rerun that takes 30.

    """

    def __init__(self, figure: Any) -> None:
        """Keep what the script that shows it needs of a plotly figure."""
        self._plain = for_script(figure, str(next(_KEYS)))

    def at(self, place: int) -> Self:
        """Return the chart as it opens at another of its frames."""
        plain = opened_at(self._plain, place)
        if plain is self._plain:
            return self
        opened = type(self).__new__(type(self))
        opened._plain = plain
        return opened

    def to_dict(self) -> dict[str, Any]:
        """Return the kept data, which nobody may change."""
        return {**self._plain, "data": [{**trace} for trace in self._plain["data"]]}

    @property
    def slider(self) -> str:
        """The setting that the slider of the figure moves; "" without one."""
        steps = self._plain["layout"]["meta"].get("steps") or {}
        return str(steps.get("setting") or "")

    def has_scales_of(self, other: Chart) -> bool:
        """Whether lengths in two figures can be compared: no axis fits its own data."""
        one, two = (chart._plain["layout"]["meta"]["axes"] for chart in (self, other))
        return one == two and all("range" in axis for axis in one.values())

    def __repr__(self) -> str:
        """Name the kind: plotly would list everything."""
        return "Chart()"
