"""A figure as a page sends it: prepared once for all sessions and runs."""

from __future__ import annotations

from itertools import count
from typing import Any, final

from plotly.basedatatypes import BaseFigure

from normgeo.pictures.style.player import for_script

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

    def to_dict(self) -> dict[str, Any]:
        """Return the kept data, which nobody may change."""
        return {**self._plain, "data": [{**trace} for trace in self._plain["data"]]}

    def __repr__(self) -> str:
        """Name the kind: plotly would list everything."""
        return "Chart()"
