"""What a picture is: settings → result, result → table, result → figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any, final

from normgeo.base.budget import SMALL, Cost
from normgeo.base.progress import Progress, Report
from normgeo.base.text import marking
from normgeo.settings import Settings
from normgeo.tables.table import Table

# The settings that decide the data and the weights.
DATA = ("dataset", "features", "family", "neurons", "seed", "weights", "ridge")


def small(settings: Settings) -> Cost:
    """Return the cost of a picture that is small whatever the settings are."""
    return SMALL


@final
@dataclass(frozen=True)
class Study:
    """The part of a picture that needs no plotly.

    Attributes:
        name: its key. title: in a few words.
        alt: what is drawn, for a screen reader: true of every result.
        uses: the settings it depends on, which are what a cache needs to look at.
        compute: (settings, progress) → result; ValueError, in one sentence, where there is none.
            What a stopped progress leaves out of a result is None or shorter there.
        table: result → the numbers in it.
        cost: settings → what `compute` takes, estimated before it starts. Pages hold it to a
            budget; who calls `compute` from Python or the command line may spend more.
        observed: result → what is to be seen in this one, in sentences that follow `alt`; None
            where `alt` says all.

    """

    name: str
    title: str
    alt: str
    uses: tuple[str, ...]
    compute: Callable[[Settings, Progress], Any]
    table: Callable[[Any], Table]
    cost: Callable[[Settings], Cost] = small
    observed: Callable[[Any], str] | None = None


@final
@dataclass(frozen=True)
class Picture:
    """A study with its figure, (result, theme) → plotly figure."""

    study: Study
    draw: Callable[[Any, str], Any]

    @property
    def name(self) -> str:
        """The key of the study."""
        return self.study.name

    @property
    def title(self) -> str:
        """The title, in the language in use."""
        return str(self.study.title)

    @property
    def alt(self) -> str:
        """What is drawn, in the language in use."""
        return str(self.study.alt)

    def description(self, result: Any) -> str:
        """Return what is drawn and what is to be seen in this result, in the language in use."""
        observed = self.study.observed
        return f"{self.alt} {observed(result)}" if observed else self.alt

    @property
    def uses(self) -> tuple[str, ...]:
        """The settings that the picture depends on."""
        return self.study.uses

    def cost(self, settings: Settings) -> Cost:
        """Return what the picture takes, estimated; raises ValueError as `compute` does."""
        return self.study.cost(settings)

    def compute(self, settings: Settings, progress: Report | Progress | None = None) -> Any:
        """Return the result; raises ValueError, in one sentence, where there is no picture."""
        return self.study.compute(settings, Progress.of(progress))

    def figure(self, result: Any, theme: str) -> Any:
        """Return the plotly figure of a result, in the theme "light" or "dark"."""
        with marking(escape):  # plotly reads some HTML
            return self.draw(result, theme)

    def table(self, result: Any) -> Table:
        """Return the numbers of a result."""
        return self.study.table(result)

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
            "from normgeo.pictures import PICTURES\n"
            "from normgeo.settings import Settings\n\n"
            f"settings = Settings({arguments})\n"
            f"picture = PICTURES[{self.name!r}]\n"
            "picture.figure(picture.compute(settings), settings.theme).show()\n"
        )
