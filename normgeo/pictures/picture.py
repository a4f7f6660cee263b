"""What a picture is: settings → result, result → table, result → figure."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from typing import Any, final

from normgeo.base.budget import SMALL, Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress, Report
from normgeo.base.rules import OPEN, Choice
from normgeo.base.text import marking, text
from normgeo.settings import SETTINGS, Settings
from normgeo.tables.table import Table

# The settings that decide the data and the weights.
DATA = ("dataset", "features", "family", "neurons", "seed", "weights", "ridge")


MAIN = ("dataset", "method", "cell", "activation")
"""The settings that are told of a picture even where they are the defaults."""


def small(settings: Settings) -> Cost:
    """Return the cost of a picture that is small whatever the settings are."""
    return SMALL


@lru_cache(maxsize=4096)
def _cost(cost: Callable[[Settings], Cost], used: Settings) -> Cost:
    """The estimate of a state, which a page asks for each time that it is drawn."""
    return cost(used)


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
        source: the part of the paper, or the later work, that the picture is about.
        begins: the label of the button that starts it on a page; "" where it starts by itself.
        go_on: (settings, result, progress) → the result of going on from one that was stopped, or
            of more after its end; None where nothing goes on.
        slider: the setting that says at which of its frames a picture opens, the `start` of its
            result, whose `opening` is the place of that frame; "" without a slider.
        frames: settings → the values of it that have a frame in every result; another value adds
            one. None where none is added: the nearest frame opens.

    """

    name: str
    title: str
    alt: str
    uses: tuple[str, ...]
    compute: Callable[[Settings, Progress], Any]
    table: Callable[[Any], Table]
    cost: Callable[[Settings], Cost] = small
    observed: Callable[[Any], str] | None = None
    source: str = ""
    begins: str = ""
    go_on: Callable[[Settings, Any, Progress], Any] | None = None
    slider: str = ""
    frames: Callable[[Settings], Collection[float]] | None = None


@final
@dataclass(frozen=True)
class Picture:
    """A study with its figure.

    Attributes:
        study: without plotly. draw: (result, theme) → plotly figure.
        write: (settings, result) → a script in plain NumPy that prints the numbers on the screen,
            "" where none is both short and true; None where no state has one.

    """

    study: Study
    draw: Callable[[Any, str], Any]
    write: Callable[[Settings, Any], str] | None = None

    @property
    def name(self) -> str:
        """The key of the study."""
        return self.study.name

    @property
    def title(self) -> str:
        """The title."""
        return str(self.study.title)

    @property
    def alt(self) -> str:
        """What is drawn."""
        return str(self.study.alt)

    def description(self, result: Any) -> str:
        """Return what is drawn and what is to be seen in this result."""
        observed = self.study.observed
        return f"{self.alt} {observed(result)}" if observed else self.alt

    @property
    def uses(self) -> tuple[str, ...]:
        """The settings that the picture depends on."""
        return self.study.uses

    def used(self, settings: Settings) -> Settings:
        """Return the settings that the picture depends on; all others as by default."""
        return Settings(**{name: getattr(settings, name) for name in self.uses})

    def decisive(self, settings: Settings) -> Settings:
        """Return the same without where it opens, unless there would be no frame without it."""
        used, slider, frames = self.used(settings), self.study.slider, self.study.frames
        if slider and (frames is None or getattr(settings, slider) in frames(settings)):
            return replace(used, **{slider: getattr(Settings, slider)})
        return used

    def opened(self, result: Any, settings: Settings) -> Any:
        """Return a result as it opens where the settings say, whatever it was computed for."""
        slider = self.study.slider
        if not slider or result.start == (start := getattr(settings, slider)):
            return result
        named = hasattr(result, "_replace")  # a tuple
        return result._replace(start=start) if named else replace(result, start=start)

    def cost(self, settings: Settings) -> Cost:
        """Return what the picture takes, estimated; raises ValueError as `compute` does."""
        return _cost(self.study.cost, self.used(settings))

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

    def named(self, settings: Settings) -> list[str]:
        """Return the names of the settings that tell a state of the picture from others."""
        return [name for name in self.uses if name in MAIN or _differs(settings, name)]

    def about(self, settings: Settings) -> list[str]:
        """Return the settings of a picture in words, and its source."""
        words = ", ".join(
            f"{SETTINGS[name].label}: {in_words(settings, name)}" for name in self.named(settings)
        )
        source = [text("Source: {source}.", source=self.study.source)] if self.study.source else []
        return [text("Settings: {words}.", words=words), *source]

    def file_name(self, settings: Settings) -> str:
        """Return the start of the name of a file: the picture, and its cell or method."""
        named = next(
            (getattr(settings, name) for name in ("cell", "method") if name in self.uses), ""
        )
        return "-".join(filter(None, ("normgeo", self.name, str(named).replace(".", "-"))))

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

    def in_numpy(self, settings: Settings, result: Any) -> str:
        """Return a script in plain NumPy that prints the numbers of a result; "" for none."""
        return self.write(settings, result) if self.write else ""


def _differs(settings: Settings, name: str) -> bool:
    return bool(getattr(settings, name) != getattr(Settings, name))


def in_words(settings: Settings, name: str) -> str:
    """Return the value of a setting."""
    value, rule = getattr(settings, name), SETTINGS[name].rule
    if name == "cell":
        normalizer, transform = settings.selected
        return f"{text(normalizer.title)}, {text(transform.label)}"
    if isinstance(rule, Choice):
        return rule.title(value)
    if isinstance(value, str):
        return str(text("{value!s}", value=value))
    return OPEN if value is None else number(value) if isinstance(value, float) else str(value)
