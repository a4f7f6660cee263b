"""The state of a picture: what the URL, recipes, the command line and the pages share.

Every field states its own rule and how a widget asks for it, so parsing, validation, the sentence
about a bad value and the controls are written once. Values are text in a URL and JSON values in a
recipe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, final

import numpy as np

from normgeo.base.refusal import Refusal
from normgeo.base.rules import (
    OPEN,
    Choice,
    Matrix,
    Number,
    Open,
    Rule,
    Setting,
    Whole,
    Word,
    complaint,
)
from normgeo.base.text import text
from normgeo.checkpoints.examples import EXAMPLES
from normgeo.checkpoints.place import PLACES
from normgeo.datasets.datasets import DATASETS
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.invariance.cell import OWN, RENAMED_METHODS, Cell
from normgeo.invariance.transforms import TRANSFORMS, Transform
from normgeo.measured.changes import CHANGES
from normgeo.measured.saved.examples import EXAMPLES as NETWORKS
from normgeo.models.activations import ACTIVATIONS
from normgeo.models.families import FAMILIES
from normgeo.normalizers.centers import CENTERS
from normgeo.normalizers.example import (
    EXAMPLE_PLACE,
    EXAMPLE_W,
    EXAMPLE_X,
    LARGEST_ENTRY,
    written,
)
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.scales import SCALES
from normgeo.sequences.cells import CELLS
from normgeo.sequences.tasks import TASKS

_AUTO = text("automatic")

LANGUAGES = {"en": "English", "ko": "한국어", "zh": "中文"}
"""The languages of the story, each by its own name."""


def _setting(
    default: Any, rule: Rule, label: str = "", *, help: str = "", step: float = 0.1
) -> Any:
    return Setting(default, rule, label, help, step)


@final
@dataclass(frozen=True)
class Settings:
    """Everything that decides a picture.

    Attributes:
        dataset: key of `DATASETS`. features: "auto" keeps pixels as they are where a change has a
            name, such as contrast, and standardizes features where a model learns.
        family: "auto" takes the data set's own; "bernoulli" of classes is one against the rest.
        neurons: H; 0 takes the number of outputs, at least 4 for random weights.
        weights: "random" (seeded) or "fitted" with the ridge λ.
        method: key of `NORMALIZERS`. groups, eps, statistics: as in `Normalizer`.
        cell: the selected cell, "normalizer.transform". rows, columns: which are shown.
        delta: δ, or the factor on γ, of the starting frame. index: the neuron or case that changes.
        center, scale: the two words of the visitor's own normalizer.
        neuron: the one whose weight vector is meant. other: the second one of a block of F.
        entries: how the entries of F are shown in the starting frame.
        growth: ‖w‖ in the starting frame, as a multiple of its first value.
        rate: η; 0 takes one that fits the picture. steps: of a descent.
        optimizer: key of `OPTIMIZERS`. decay: λ, its weight decay. mini_batch: cases for each of
            its steps, 0 for all. If decay or mini_batch is None, the picture chooses.
        batch_size: m, of a small batch. epochs: of training a network.
        radius: spectral radius of the starting frame. length: T, steps of a recurrence.
        depth: L, blocks of a residual network. activation: f of a recurrence.
        task, rnn: which sequences a recurrent cell learns, keys of `TASKS` and of `CELLS`.
        sequences: how many a batch has. first_gain: the first value of every gain of a cell.
        along: the null direction to walk along, by its reason, a key of `REASONS`; "auto" takes
            the first. walk: how far, as a multiple of the length of the weights that move.
        glimpse, pen, word, updates: the starting frames of the experiments that draw, write, read,
            predict sentences and name digits; the last frame if there are fewer.
        tab: which tab of a page is open, a word of that page; "auto" lets the page choose.
        example: the integers of the example by hand, the rows of X and then those of W.
        place: n and h of the summed input whose arithmetic the example shows, counted from 0.
        verdict, kind: which claims of the audit are listed.
        layer: one of the layers that ship. stands, norm, layer_eps: where its norm stands, which
            norm it is, and its ε; trained_by: its optimizer. "auto" is as it was trained.
        frozen_below: a neuron or block that turns by fewer degrees in a step is called frozen.
        block: the highlighted block of a training run; None for none.
        subject: of the page Your network. network: one of the measured tables that ship.
        tensor, change: the cell of the table that is explained; None for the first weight.
        predict: 1 hides the answers of a page until its visitor has predicted them.
        language: of the story, key of `LANGUAGES`; "auto" takes the language of the browser.
        theme: "light" or "dark", of the figures.

    Raises:
        ValueError: a value against its rule, in one sentence.

    """

    dataset: str = _setting("digits", Choice(DATASETS), text("data"))
    features: str = _setting(
        "auto",
        Choice(
            {
                "auto": _AUTO,
                "raw": text("raw"),
                "standardized": text("standardized"),
            }
        ),
        text("features"),
        help=text(
            "Standardized: each with mean 0 and standard deviation 1. Automatic: raw where a "
            "change has a name, such as contrast; standardized where a model learns."
        ),
    )
    family: str = _setting(
        "auto",
        Choice({"auto": _AUTO, **FAMILIES}),
        text("output family"),
        help=text(
            "Automatic: that of the data. Bernoulli with class labels: each class against the rest."
        ),
    )
    neurons: int = _setting(
        0,
        Whole(0, 256),
        text("neurons H (0: automatic)"),
        help=text("0: one for each output, and at least 4 where the weights are random."),
    )
    seed: int = _setting(
        0,
        Whole(0, 2**31 - 1),
        text("seed of the random weights"),
        help=text("It also decides the random integers at which a verdict is checked."),
    )
    weights: str = _setting(
        "random",
        Choice({"random": text("random"), "fitted": text("fitted")}),
        text("weights"),
        help=text("Fitted: by maximum likelihood with a ridge penalty."),
    )
    ridge: float = _setting(0.01, Number(1e-6, 1e3), text("ridge penalty λ"), step=0.01)
    method: str = _setting("batch", Choice(NORMALIZERS, RENAMED_METHODS), text("method"))
    groups: int = _setting(
        2,
        Whole(1, 256),
        text("groups G"),
        help=text("For methods that average over groups of neurons: G must divide H."),
    )
    eps: float = _setting(
        0.0,
        Number(0, 1),
        text("ε"),
        help=text("Added to the variance σ² before its root is taken."),
        step=0.001,
    )
    statistics: str = _setting(
        "current",
        Choice(
            {
                "current": text("of the current batch"),
                "frozen": text("frozen, as at test time"),
            }
        ),
        text("batch statistics"),
    )
    cell: str = _setting("layer.case_rescaling", Cell(), text("cell"))
    rows: str = _setting(
        "paper",
        Choice(
            {
                "paper": text("rows of the paper"),
                "named": text("all named rows"),
                "grid": text("all sixteen pairs"),
            }
        ),
        text("rows"),
    )
    columns: str = _setting(
        "paper",
        Choice({"paper": text("three operations"), "all": text("five operations")}),
        text("columns"),
    )
    delta: float = _setting(
        3.0,
        Number(-100, 100, nonzero=True),
        text("δ at the start"),
        help=text("For a shift, this is the factor on γ."),
    )
    index: int = _setting(
        0,
        Whole(0, 10**6),
        text("neuron or case that changes"),
        help=text("Counted from 0. A click on its picture chooses it, too."),
    )
    center: str = _setting("layer", Choice(CENTERS), text("center: the mean over"))
    scale: str = _setting("batch", Choice(SCALES), text("scale: the spread over"))
    neuron: int = _setting(0, Whole(0, 255), text("neuron"), help=text("Counted from 0."))
    other: int = _setting(
        0, Whole(0, 255), text("other neuron of the block"), help=text("Counted from 0.")
    )
    entries: str = _setting(
        "raw",
        Choice(
            {
                "raw": text("as they are"),
                "log": text("logarithm"),
                "normalized": text("over the diagonal"),
            }
        ),
        text("entries of F at the start"),
    )
    growth: float = _setting(
        2.0,
        Number(0.125, 64),
        text("‖w‖ at the start"),
        help=text("As a multiple of its first value."),
    )
    rate: float = _setting(0.0, Number(0, 1e6), text("learning rate η (0: auto)"))
    steps: int = _setting(100, Whole(1, 10_000), text("steps"))
    optimizer: str = _setting("gradient_descent", Choice(OPTIMIZERS), text("optimizer"))
    decay: float | None = _setting(None, Open(Number(0, 1e6)), text("weight decay λ"))
    mini_batch: int | None = _setting(
        None, Open(Whole(0, 10_000)), text("mini-batch (0: all cases)")
    )
    batch_size: int = _setting(2, Whole(1, 128), text("small batch m"))
    epochs: int = _setting(5, Whole(1, 50), text("epochs"))
    radius: float = _setting(1.4, Number(0.5, 2), text("spectral radius at the start"))
    length: int = _setting(64, Whole(8, 256), text("steps T"))
    depth: int = _setting(16, Whole(1, 48), text("blocks of the network"))
    activation: str = _setting("identity", Choice(ACTIVATIONS), text("activation f"))
    task: str = _setting("letters", Choice(TASKS), text("what is read"))
    rnn: str = _setting("lstm", Choice(CELLS), text("recurrent cell"))
    sequences: int = _setting(16, Whole(1, 128), text("sequences in a batch m"))
    first_gain: float = _setting(
        1.0,
        Number(0.01, 10),
        text("first gain g"),
        help=text("What every gain begins with: 1 in the paper, 0.1 in Cooijmans et al. 2017."),
    )
    along: str = _setting("auto", Word(text("the name of a reason")), text("walk along"))
    walk: float = _setting(
        1.0,
        Number(-4, 8),
        text("length of the walk at the start"),
        help=text("As a multiple of the length of the weight vectors that move."),
    )
    glimpse: int = _setting(64, Whole(1, 64), text("glimpse at the start"))
    updates: int = _setting(400, Whole(0, 10_000), text("updates of the networks at the start"))
    pen: int = _setting(1000, Whole(1, 1000), text("steps of the pen at the start"))
    word: int = _setting(64, Whole(1, 64), text("words read at the start"))
    tab: str = _setting("auto", Word(text("the name of a tab")))
    verdict: str = _setting("all", Choice({w: w for w in ("all", "holds", "holds_if", "fails")}))
    example: str = _setting(
        written(EXAMPLE_X, EXAMPLE_W),
        Matrix(written(EXAMPLE_X, EXAMPLE_W), -LARGEST_ENTRY, LARGEST_ENTRY),
        text("example"),
    )
    place: str = _setting(
        written(np.array([EXAMPLE_PLACE])),
        Matrix(written(np.array([EXAMPLE_PLACE])), 0, len(EXAMPLE_X) - 1),
        text("place in the example"),
    )
    kind: str = _setting(
        "paper", Choice({w: w for w in ("all", "paper", "follows", "later", "practice")})
    )
    layer: str = _setting(
        "batch",
        Choice(EXAMPLES),
        text("layer"),
        help=text("A small layer that was trained on the digits and ships with its inputs."),
    )
    stands: str = _setting("auto", Choice({"auto": _AUTO, **PLACES}), text("the norm stands"))
    norm: str = _setting("auto", Choice({"auto": _AUTO, **NORMALIZERS}), text("norm"))
    layer_eps: float | None = _setting(None, Open(Number(0, 1)), text("ε of the norm"), step=1e-5)
    trained_by: str = _setting("auto", Choice({"auto": _AUTO, **OPTIMIZERS}), text("trained by"))
    frozen_below: float = _setting(
        0.01,
        Number(1e-9, 90),
        text("frozen below (°)"),
        help=text("A neuron that turns by fewer degrees a step is called frozen."),
        step=0.01,
    )
    block: int | None = _setting(
        None, Open(Whole(0, 10**6)), text("block of the run"), help=text("Counted from 0.")
    )
    subject: str = _setting(
        "one_layer",
        Choice({"one_layer": text("one layer"), "network": text("a whole network")}),
        text("look at"),
    )
    network: str = _setting(
        "transformer",
        Choice(NETWORKS),
        text("network"),
        help=text("A small network that was measured, as `normgeo network` measures your own."),
    )
    tensor: int | None = _setting(
        None, Open(Whole(0, 10**6)), text("tensor"), help=text("Counted from 0.")
    )
    change: str = _setting("row_times", Choice(CHANGES), text("change"))
    predict: int = _setting(
        0,
        Whole(0, 1),
        text("predict first"),
        help=text("1 hides the answers of a page until you have predicted them."),
    )
    language: str = _setting(
        "auto", Choice({"auto": text("Language"), **LANGUAGES}), text("language")
    )
    theme: str = _setting("light", Choice({w: w for w in ("light", "dark")}))

    def __post_init__(self) -> None:
        values = vars(self)
        for name, setting in SETTINGS.items():
            # Most are defaults, and a page makes hundreds of these objects.
            if values[name] is not setting.default:
                values[name] = setting.parse(values[name])

    @classmethod
    def from_query(
        cls, query: Mapping[str, Any], defaults: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[Settings, tuple[str, ...]]:
        """Return the settings of a URL's query or a recipe, and a sentence for each bad value.

        Bad values and unknown names are left out, and the default is used: that of the page, if
        `defaults` has one.
        """
        values, complaints = _parse(query)
        return cls(**{**defaults, **values}), tuple(
            text("{complaint} It was left out.", complaint=words)
            if name not in SETTINGS
            else replaced(words, defaults.get(name, getattr(cls, name)))
            for name, words in complaints.items()
        )

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any]) -> Settings:
        """Return the settings of a recipe or a command; bad values are refused, not replaced.

        Nobody reads warnings beside a file: a picture of the defaults would be taken for the one
        that was asked for.

        Raises:
            ValueError: values against their rules or unknown names, a sentence for each.

        """
        values, complaints = _parse(recipe)
        if complaints:
            raise Refusal(" ".join(map(str, complaints.values())))
        return cls(**values)

    def to_query(self, named: Iterable[str] = ()) -> dict[str, str]:
        """Return the values that differ from the defaults, and those `named`, as text for a URL.

        The theme is left out: a page takes that of its visitor.
        """
        values = self.to_recipe() | {name: getattr(self, name) for name in named}
        values.pop("theme", None)
        return {name: as_text(value) for name, value in values.items()}

    def to_recipe(self) -> dict[str, Any]:
        """Return the values that differ from the defaults, as JSON values."""
        return {
            name: getattr(self, name)
            for name in SETTINGS
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
        if row == OWN:
            return self.own_normalizer, TRANSFORMS[column]
        center, _, scale = row.partition("-")
        method = NORMALIZERS[row] if row in NORMALIZERS else Normalizer(center, scale)
        return self.adapt(method), TRANSFORMS[column]

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


SETTINGS: dict[str, Setting] = {
    name: setting for name, setting in vars(Settings).items() if isinstance(setting, Setting)
}
RULES: dict[str, Rule] = {name: setting.rule for name, setting in SETTINGS.items()}


def replaced(words: str, default: object) -> str:
    """Complain about a value, and say what is used instead."""
    return text(
        "{complaint} The default, {default}, is used instead.",
        complaint=words,
        default=OPEN if default is None else default,
    )


def parse_pairs(pairs: Iterable[str]) -> dict[str, str]:
    """Return {"dataset": "iris"} from ["dataset=iris"].

    Raises:
        ValueError: a pair without "=".

    """
    query = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise Refusal("A setting is written name=value; got {pair!r}.", pair=pair)
        query[name] = value
    return query


def _parse(query: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the good values, and a complaint about each bad one, by name."""
    values, complaints = {}, {}
    for name, value in query.items():
        if name not in SETTINGS:
            complaints[name] = text("There is no setting {name!r}.", name=name[:60])
            continue
        rule = RULES[name]
        try:
            values[name] = rule.parse(value)
        except (TypeError, ValueError):
            complaints[name] = complaint(name, rule, value)
    return values, complaints


def as_text(value: object) -> str:
    """Return a value as an address holds it.

    >>> as_text(3.0), as_text(1 / 3)
    ('3', '0.3333333333333333')

    """
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)
