"""What a picture is: one pair of functions, settings → result and result → figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from normgeo.pictures.style.template import Figure
from normgeo.settings import Settings
from normgeo.tables.table import Table

Progress = Callable[[int, int], Any]
"""Told (steps done, steps); may raise StopIteration to end with what there is."""

# The settings that decide the data and the weights.
DATA = ("dataset", "features", "family", "neurons", "seed", "weights", "ridge")


@final
@dataclass(frozen=True)
class View:
    """One picture.

    Attributes:
        name: its key. title: in a few words.
        uses: the settings it depends on, which are what a cache needs to look at.
        compute: settings → result; ValueError, in one sentence, where there is no picture.
        figure: (result, theme) → plotly figure. table: result → the numbers in it.
        watched: like `compute`, and tells of its progress; for views that may take over a second.

    """

    name: str
    title: str
    uses: tuple[str, ...]
    compute: Callable[[Settings], Any]
    figure: Callable[[Any, str], Figure]
    table: Callable[[Any], Table]
    watched: Callable[[Settings, Progress], Any] | None = None

    def recipe(self, settings: Settings) -> dict[str, Any]:
        """Return what reproduces the picture: its name, the settings it depends on, its theme."""
        names = (*self.uses, "theme")
        used = {key: value for key, value in settings.to_recipe().items() if key in names}
        return {"view": self.name, "settings": used}

    def code(self, settings: Settings) -> str:
        """Return the lines of Python that make the figure."""
        arguments = ", ".join(
            f"{name}={value!r}" for name, value in self.recipe(settings)["settings"].items()
        )
        return (
            "from normgeo.settings import Settings\n"
            "from normgeo.pictures import VIEWS\n\n"
            f"settings = Settings({arguments})\n"
            f"view = VIEWS[{self.name!r}]\n"
            "view.figure(view.compute(settings), settings.theme).show()\n"
        )
