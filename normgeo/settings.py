"""The state of a picture: what the URL, recipes, the command line and the pages share.

Every field states its own rule, so parsing, validation and the sentence about a bad value are
written once. Values are text in a URL and JSON values in a recipe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import isfinite
from sys import float_info
from typing import Any, Protocol, final

from normgeo.datasets.datasets import DATASETS
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.fisher.neuron_blocks import ENTRIES
from normgeo.invariance.transforms import TRANSFORMS, Transform
from normgeo.models.activations import ACTIVATIONS
from normgeo.models.families import FAMILIES
from normgeo.normalizers.centers import CENTERS
from normgeo.normalizers.normalizer import NORMALIZERS, STATISTICS, Normalizer
from normgeo.normalizers.scales import SCALES

TABS = (
    "auto",
    "why",
    "certificate",
    "floating_point",
    "blackboard",
    "own",
    "descent",
    "equilibrium",
    "twin",
    "spiral",
    "fisher",
    "equation",
    "noise",
    "network",
    "radii",
    "zero",
    "angles",
    "formula",
    "coupling",
    "spectra",
    "equal_kl",
    "growth",
    "eq13",
    "magnitude",
    "labels",
)

RENAMED_METHODS = {"centred_weight": "centered_weight"}
"""Old name → new name, for links and recipes from before the new one."""

OPEN = "auto"  # the word for a number that is left open


class Rule(Protocol):
    """What the values of one setting may be."""

    @property
    def sentence(self) -> str:
        """The rule, to follow "must be"."""
        ...

    def parse(self, value: object) -> Any:
        """Return the value, from text or JSON; raises ValueError or TypeError."""
        ...


@final
@dataclass(frozen=True)
class Choice:
    """One of several words; `renamed` has the new word for each that old links still hold."""

    options: tuple[str, ...]
    renamed: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def sentence(self) -> str:
        return f"one of {', '.join(self.options)}"

    def parse(self, value: object) -> str:
        word = self.renamed.get(value, value) if isinstance(value, str) else value
        if word not in self.options:
            raise ValueError
        return str(word)


@final
@dataclass(frozen=True)
class Whole:
    """A whole number in a range."""

    low: int
    high: int

    @property
    def sentence(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def parse(self, value: object) -> int:
        number = int(value) if isinstance(value, str) else _number(value)
        if number != int(number) or not self.low <= number <= self.high:
            raise ValueError
        return int(number)


@final
@dataclass(frozen=True)
class Number:
    """A finite number in a range; `nonzero` leaves out 0."""

    low: float
    high: float
    nonzero: bool = False

    @property
    def sentence(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}" + (", not 0" if self.nonzero else "")

    def parse(self, value: object) -> float:
        number = float(value) if isinstance(value, str) else _number(value)
        if not (isfinite(number) and self.low <= number <= self.high):
            raise ValueError
        if self.nonzero and number == 0:
            raise ValueError
        return number


@final
@dataclass(frozen=True)
class Open:
    """What another rule allows, or None, "auto" in text: one that suits the picture."""

    rule: Whole | Number

    @property
    def sentence(self) -> str:
        return f"{OPEN}, or {self.rule.sentence}"

    def parse(self, value: object) -> Any:
        return None if value in (None, OPEN) else self.rule.parse(value)


@final
@dataclass(frozen=True)
class Cell:
    """A cell of Table 1 and beyond: a normalizer and a transform, joined by a dot.

    The normalizer is a name of `NORMALIZERS` or two words, as in "layer-batch".
    """

    sentence: str = "a normalizer and a transform, as in layer.case_rescaling or layer-batch.…"

    def parse(self, value: object) -> str:
        row, _, column = str(value).partition(".")
        row = RENAMED_METHODS.get(row, row)
        words = row.split("-")
        on_grid = len(words) == 2 and words[0] in CENTERS and words[1] in SCALES
        if column not in TRANSFORMS or not (row in NORMALIZERS or on_grid):
            raise ValueError
        return f"{row}.{column}"


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    if not abs(value) <= float_info.max:  # NaN, infinities, and whole numbers that no float holds
        raise ValueError
    return float(value)


def _setting(default: Any, rule: Rule) -> Any:
    return field(default=default, metadata={"rule": rule})


@final
@dataclass(frozen=True)
class Settings:
    """Everything that decides a picture.

    Attributes:
        dataset: key of `DATASETS`. features: "auto" takes what suits the picture, pixels as they
            are where changes should have names, standardized features where a model learns.
        family: "auto" takes the data set's own; "bernoulli" makes a categorical one-against-rest.
        neurons: H; 0 takes the number of outputs, at least 4 for random weights.
        weights: "random" (seeded) or "fitted" with the ridge λ.
        method: key of `NORMALIZERS`. groups, eps, statistics: as in `Normalizer`.
        cell: the selected cell, "normalizer.transform". rows, columns: how much of the table shows.
        delta: δ, or the factor on γ, of the starting frame. index: the neuron or case that changes.
        center, scale: the two words of one's own normalizer.
        neuron: whose weight vector is meant. other: the second one of a block of F.
        entries: what is shown of the entries of F at the start.
        growth: ‖w‖ of the starting frame over its first value.
        rate: η; 0 takes one that suits the picture. steps: of a descent.
        optimizer: key of `OPTIMIZERS`. decay: λ, its weight decay. mini_batch: cases for each of
            its steps, 0 for all. Both are None where they are left to the picture.
        batch_size: m, of a small batch. epochs: of training a network.
        radius: spectral radius of the starting frame. length: T, steps of a recurrence.
        activation: f of a recurrence.
        tab: which depth of a page is open; "auto" takes what suits the picture.
        verdict: which claims of the audit are listed.
        theme: "light" or "dark", of the figures.

    Raises:
        ValueError: a value against its rule, in one sentence.

    """

    dataset: str = _setting("digits", Choice(tuple(DATASETS)))
    features: str = _setting("auto", Choice(("auto", "raw", "standardized")))
    family: str = _setting("auto", Choice(("auto", *FAMILIES)))
    neurons: int = _setting(0, Whole(0, 256))
    seed: int = _setting(0, Whole(0, 2**31 - 1))
    weights: str = _setting("random", Choice(("random", "fitted")))
    ridge: float = _setting(0.01, Number(1e-6, 1e3))
    method: str = _setting("batch", Choice(tuple(NORMALIZERS), RENAMED_METHODS))
    groups: int = _setting(2, Whole(1, 256))
    eps: float = _setting(0.0, Number(0, 1))
    statistics: str = _setting("current", Choice(STATISTICS))
    cell: str = _setting("layer.case_rescaling", Cell())
    rows: str = _setting("paper", Choice(("paper", "named", "grid")))
    columns: str = _setting("paper", Choice(("paper", "all")))
    delta: float = _setting(3.0, Number(-100, 100, nonzero=True))
    index: int = _setting(0, Whole(0, 10**6))
    center: str = _setting("layer", Choice(tuple(CENTERS)))
    scale: str = _setting("batch", Choice(tuple(SCALES)))
    neuron: int = _setting(0, Whole(0, 255))
    other: int = _setting(0, Whole(0, 255))
    entries: str = _setting("raw", Choice(ENTRIES))
    growth: float = _setting(1.0, Number(0.125, 64))
    rate: float = _setting(0.0, Number(0, 1e6))
    steps: int = _setting(100, Whole(1, 10_000))
    optimizer: str = _setting("gradient_descent", Choice(tuple(OPTIMIZERS)))
    decay: float | None = _setting(None, Open(Number(0, 1e6)))
    mini_batch: int | None = _setting(None, Open(Whole(0, 10_000)))
    batch_size: int = _setting(4, Whole(1, 128))
    epochs: int = _setting(5, Whole(1, 50))
    radius: float = _setting(1.4, Number(0.5, 2))
    length: int = _setting(64, Whole(8, 256))
    activation: str = _setting("identity", Choice(tuple(ACTIVATIONS)))
    tab: str = _setting("auto", Choice(TABS))
    verdict: str = _setting("all", Choice(("all", "holds", "holds_if", "fails")))
    theme: str = _setting("light", Choice(("light", "dark")))

    def __post_init__(self) -> None:
        for name, rule in RULES.items():
            value = getattr(self, name)
            try:
                object.__setattr__(self, name, rule.parse(value))
            except (TypeError, ValueError) as error:
                raise ValueError(_complaint(name, rule, value)) from error

    @classmethod
    def from_query(cls, query: Mapping[str, Any]) -> tuple[Settings, tuple[str, ...]]:
        """Return the settings of a URL's query or a recipe, and a sentence for each bad value.

        Bad values and unknown names are left out, so the default stands in their place.
        """
        values, complaints = _parse(query)
        return cls(**values), tuple(
            f"{complaint} The default, {_or_open(getattr(cls, name))}, is used instead."
            if name in RULES
            else f"{complaint} It was left out."
            for name, complaint in complaints.items()
        )

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any]) -> Settings:
        """Return the settings of a recipe or a command, where nothing bad is replaced.

        Nobody reads warnings beside a file: a picture of the defaults would pass for the one that
        was asked for.

        Raises:
            ValueError: values against their rules or unknown names, a sentence for each.

        """
        values, complaints = _parse(recipe)
        if complaints:
            raise ValueError(" ".join(complaints.values()))
        return cls(**values)

    def to_query(self) -> dict[str, str]:
        """Return the values that differ from the defaults, as text for a URL."""
        return {name: _text(value) for name, value in self.to_recipe().items()}

    def to_recipe(self) -> dict[str, Any]:
        """Return the values that differ from the defaults, as JSON values."""
        return {
            name: getattr(self, name)
            for name in RULES
            if getattr(self, name) != getattr(Settings, name)
        }

    @cached_property
    def normalizer(self) -> Normalizer:
        """The normalizer named by `method`, with the ε, groups and statistics in use."""
        return self.adapt(NORMALIZERS[self.method])

    @cached_property
    def selected(self) -> tuple[Normalizer, Transform]:
        """The normalizer and the transform of the selected cell."""
        row, _, column = self.cell.partition(".")
        if row in NORMALIZERS:
            return self.adapt(NORMALIZERS[row]), TRANSFORMS[column]
        center, _, scale = row.partition("-")
        return self.adapt(Normalizer(center, scale)), TRANSFORMS[column]

    @cached_property
    def own_normalizer(self) -> Normalizer:
        """The normalizer built from `center` and `scale`."""
        method = Normalizer(self.center, self.scale)
        return self.adapt(replace(method, groups=self.groups if method.shared_by_neurons else 1))

    def adapt(self, normalizer: Normalizer) -> Normalizer:
        """Return a normalizer with the ε and statistics in use, and the groups where it has any."""
        frozen = self.statistics == "frozen" and normalizer.shared_by_cases
        return replace(
            normalizer,
            eps=self.eps,
            statistics="frozen" if frozen else "current",
            groups=self.groups if normalizer.groups > 1 else 1,
        )


RULES: dict[str, Rule] = {f.name: f.metadata["rule"] for f in fields(Settings)}


def describe(name: str) -> str:
    """Return the rule of one setting, for the help of a widget or a command."""
    return f"`{name}` is {RULES[name].sentence}."


def parse_pairs(pairs: Iterable[str]) -> dict[str, str]:
    """Return {"dataset": "iris"} from ["dataset=iris"].

    Raises:
        ValueError: a pair without "=".

    """
    query = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"A setting is written name=value; got {pair!r}.")
        query[name] = value
    return query


def _parse(query: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the good values, and a complaint about each bad one, by name."""
    values, complaints = {}, {}
    for name, value in query.items():
        if name not in RULES:
            complaints[name] = f"There is no setting {name[:60]!r}."
            continue
        try:
            values[name] = RULES[name].parse(value)
        except (TypeError, ValueError):
            complaints[name] = _complaint(name, RULES[name], value)
    return values, complaints


def _or_open(value: object) -> object:
    return OPEN if value is None else value


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def _complaint(name: str, rule: Rule, value: object) -> str:
    return f"`{name}` must be {rule.sentence}; got {str(value)[:60]!r}."
