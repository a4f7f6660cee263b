"""A figure as a page sends it: prepared once for all sessions and runs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, Self, final

import orjson
from plotly.basedatatypes import BaseFigure
from plotly.io.json import to_json_plotly

from normgeo.pictures.style.player import for_script, opened_at

_KEYS = count()


@final
class Chart(BaseFigure):  # type: ignore[misc]
    """A figure that is written already.

    Streamlit takes figures of plotly, and asks each for a deep copy on every run of a page: 10 to
    20 ms of a rerun that takes 30. As objects of Python the figures of a server are millions, which
    its collector of garbage goes through again and again; as text each is a few.

    """

    def __init__(self, figure: Any) -> None:
        """Keep what the script that shows it needs of a plotly figure."""
        self._keep(for_script(figure, str(next(_KEYS))))

    def _keep(self, plain: Mapping[str, Any]) -> None:
        parts = dict(plain)
        self._meta: Mapping[str, Any] = parts["layout"]["meta"]
        self._data = [_written(trace) for trace in parts.pop("data")]
        self._layout = _written(parts.pop("layout"))
        self._rest = _written(parts)

    def at(self, place: int) -> Self:
        """Return the chart as it opens at another of its frames."""
        if place == (self._meta.get("steps") or {}).get("start", place):
            return self
        opened = type(self).__new__(type(self))
        opened._keep(opened_at(orjson.loads(to_json_plotly(self.to_dict())), place))
        return opened

    def to_dict(self) -> dict[str, Any]:
        """Return the figure, as text that is JSON already but for what Streamlit looks at."""
        return {
            "data": [_as_it_is(trace) for trace in self._data],
            "layout": {**_as_it_is(self._layout), "height": self._meta["height"]},
            **_as_it_is(self._rest),
        }

    @property
    def slider(self) -> str:
        """The setting that the slider of the figure moves; "" without one."""
        steps = self._meta.get("steps") or {}
        return str(steps.get("setting") or "")

    def has_scales_of(self, other: Chart) -> bool:
        """Whether lengths in two figures can be compared: no axis fits its own data."""
        one, two = (chart._meta["axes"] for chart in (self, other))
        return one == two and all("range" in axis for axis in one.values())

    def __repr__(self) -> str:
        """Name the kind: plotly would list everything."""
        return "Chart()"


def _written(values: Mapping[str, Any]) -> dict[str, bytes]:
    return {name: to_json_plotly(value).encode() for name, value in values.items()}


def _as_it_is(written: Mapping[str, bytes]) -> dict[str, orjson.Fragment]:
    return {name: orjson.Fragment(text) for name, text in written.items()}
