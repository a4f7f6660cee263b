"""What the experiments have measured, as it ships, and what it says about the paper's sentence.

Each file in `results/` is written by the command that it holds. Nothing here needs JAX.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, final

from normgeo.base.refusal import Refusal
from normgeo.base.text import text

Verdict = Literal["holds", "fails", "not at this size"]

METHODS = NONE, BATCH, EVERYWHERE, LAYER = "none", "batch", "everywhere", "layer"
"""What networks are normalized by, in the order in which they are shown.

"everywhere" is batch norm of the recurrent cells, as "batch" is, and of what is above them.
"""

IN_WORDS = dict(
    zip(
        METHODS,
        (text("no norm"), text("batch norm"), text("batch norm everywhere"), text("layer norm")),
        strict=True,
    )
)
"""The methods, in words."""

FASTER = 0.6
"""What share of the other's steps counts as faster in a claim: 1.7 times as fast."""

RULE = text(
    "A sentence says that one method learns faster than another. It holds if, in every seed, the "
    "faster one needs at most {share} of the other's steps to the other's best figure on "
    "validation. It fails if, in every seed, it needs as many or never gets there. Otherwise it is "
    "not decided at this size.",
    share=f"{FASTER:.0%}",
)


class Statement(NamedTuple):
    """A finding of the paper: that one method learns faster than another.

    Attributes:
        words: of the finding. slow, fast: words of METHODS. section: of the paper.
        subject: the network, in words.

    """

    words: str
    slow: str
    fast: str
    section: str
    subject: str

    @property
    def pair(self) -> tuple[str, str]:
        """The faster and the slower one, in a few words: "layer" and "no norm"."""
        fast = {LAYER: text("layer"), BATCH: text("batch")}[self.fast]
        return fast, IN_WORDS[self.slow]


STATEMENTS: Mapping[str, Statement] = MappingProxyType(
    {
        "order": Statement(
            text(
                "With layer norm order embeddings reach their best validation model in 60% of the "
                "time, and generalize better."
            ),
            NONE,
            LAYER,
            text("section 6.1"),
            text("the order embedding"),
        ),
        "reader": Statement(
            text(
                "With layer norm the reader trains faster, and converges to a better validation "
                "error than without a norm and than with batch norm."
            ),
            NONE,
            LAYER,
            text("section 6.2"),
            text("the attentive reader"),
        ),
        "skip_thoughts": Statement(
            text(
                "With layer norm skip-thoughts train faster than without, and end with better "
                "results on other tasks."
            ),
            NONE,
            LAYER,
            text("section 6.3"),
            text("skip-thoughts"),
        ),
        "draw": Statement(
            text(
                "With layer norm DRAW learns almost twice as fast, and its variational bound ends "
                "better than without."
            ),
            NONE,
            LAYER,
            text("section 6.4"),
            text("DRAW"),
        ),
        "handwriting": Statement(
            text(
                "With layer norm the network that writes reaches a comparable log-likelihood in "
                "far fewer updates, at batches of 8."
            ),
            NONE,
            LAYER,
            text("section 6.5"),
            text("the network that writes"),
        ),
        "mnist": Statement(
            text(
                "Layer norm is robust to the batch size and learns faster than batch norm, also at "
                "batches of 4."
            ),
            BATCH,
            LAYER,
            text("section 6.6"),
            text("a network that names digits"),
        ),
        "convolution": Statement(
            text(
                "In a convolutional network layer norm learns faster than no norm, but batch norm "
                "outperforms both."
            ),
            LAYER,
            BATCH,
            text("section 6.7"),
            text("a convolutional network"),
        ),
    }
)
"""What the paper finds, by the name of the experiment, in the order of its sections."""


@final
@dataclass(frozen=True)
class Measured:
    """A further figure of a method: a curve for each seed, and the figure on the test set."""

    validation: tuple[tuple[float, ...], ...]
    test: tuple[float, ...]


@final
@dataclass(frozen=True)
class Learned:
    """One method in an experiment.

    Attributes:
        rates: the mean over the seeds of the best validation figure, by learning rate.
        rate: the best of them. validation: a curve for each seed, at this rate. test: the figure on
            the test set for each seed, of the parameters that were best on the validation set.
        others: further figures, by what they measure.

    """

    rates: Mapping[float, float]
    rate: float
    validation: tuple[tuple[float, ...], ...]
    test: tuple[float, ...]
    others: Mapping[str, Measured] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class Result:
    """An experiment that has been run.

    Attributes:
        name: as in STATEMENTS. command: that made it. versions: of the libraries. data: what it
            learned from. seeds, device: of the runs. seconds: of all runs together, with what was
            compiled. pace: of that machine, in seconds for a fixed piece of work; 0 of a quick run.
        unit, measure: of the figures, in words; a lower figure is better.
        steps: of the optimizer before each point of a curve. methods: by the words of METHODS.
        moving: what the trained networks did, in plain lists. Of the reader "questions", each with
            its words and, by method, the attention on each word of the document and the chance of
            each name after each word of the query; of skip-thoughts "sentences", each with
            what a method wrote next at each point of its curve, and which of "near" was nearest,
            and "topics"; of DRAW "pictures", each with its
            canvases from 0 to 255 and its windows [x, y, width] in pixels after each step; of
            handwriting "lines", each with its points [dx, dy, pen_up], where 1 says that the pen
            leaves the paper after this point, and the window's place in the text at each; of order
            "captions", each with its words, the place of the right picture among "pictures", and
            after each word the best ones and the rank of the right one.

    """

    name: str
    command: str
    versions: Mapping[str, str]
    data: str
    seeds: tuple[int, ...]
    seconds: float
    pace: float
    bytes: int
    device: str
    unit: str
    measure: str
    steps: tuple[int, ...]
    methods: Mapping[str, Learned]
    moving: Mapping[str, list[Any]]

    @property
    def statement(self) -> Statement:
        """The paper's finding that it looks at."""
        return STATEMENTS[self.name]


def load(name: str) -> Result:
    """Return the result that ships of an experiment.

    Raises:
        ValueError: an unknown experiment.

    >>> load("draw").unit
    'nats per picture'

    """
    if name not in STATEMENTS:
        raise Refusal(
            "The experiments are {names}; got {name!r}.",
            names=", ".join(STATEMENTS),
            name=name,
        )
    return result_of(
        json.loads(files(__package__).joinpath("results", f"{name}.json").read_bytes())
    )


def decided(result: Result) -> bool:
    """Whether both methods that the statement compares were run."""
    return {result.statement.slow, result.statement.fast} <= {*result.methods}


def shares(result: Result) -> tuple[float, ...]:
    """How soon the fast method of the statement is where the slow one was best, for each seed.

    The steps that it takes over the steps that the other took; ∞ if it never gets there.

    Raises:
        ValueError: one of the two was not run.

    """
    if not decided(result):
        raise Refusal("The sentence compares two methods, and one alone was run.")
    slow, fast = result.statement.slow, result.statement.fast
    found = []
    for slower, faster in zip(
        result.methods[slow].validation, result.methods[fast].validation, strict=True
    ):
        figures = [math.inf if math.isnan(figure) else figure for figure in slower]
        best = min(figures)
        there = [at for at, figure in enumerate(faster) if figure <= best]
        taken = result.steps[figures.index(best)]
        found.append(result.steps[there[0]] / max(taken, 1) if there else math.inf)
    return tuple(found)


def verdict(result: Result) -> Verdict:
    """Whether the paper's sentence holds here, by RULE."""
    found = shares(result)
    if max(found) <= FASTER:
        return "holds"
    return "fails" if min(found) >= 1 else "not at this size"


def result_of(data: Mapping[str, Any]) -> Result:
    """Return the result that plain lists and mappings hold, as a file does.

    Raises:
        ValueError: curves that do not fit the seeds and steps, or a rate that was not tried.

    """
    methods = {name: _learned(found) for name, found in data["methods"].items()}
    plain = {each.name: data[each.name] for each in fields(Result)}
    given = {"seeds": tuple(data["seeds"]), "steps": tuple(data["steps"])}
    result = Result(**{**plain, **given, "methods": methods})  # can be pickled
    for name, method in methods.items():
        lengths = {len(curve) for curve in method.validation} | {len(result.steps)}
        counts = {len(method.validation), len(method.test), len(result.seeds)}
        if len(lengths) > 1 or len(counts) > 1 or method.rate not in method.rates:
            raise Refusal(
                "The curves of {name!r} do not fit the seeds, steps and rates.", name=name
            )
    return result


def _learned(data: Any) -> Learned:
    return Learned(
        {float(rate): figure for rate, figure in data["rates"].items()},
        data["rate"],
        tuple(map(_figures, data["validation"])),
        _figures(data["test"]),
        {
            name: Measured(tuple(map(_figures, other["validation"])), _figures(other["test"]))
            for name, other in data.get("others", {}).items()
        },
    )


def _figures(values: list[float | None]) -> tuple[float, ...]:
    """Return figures of a file, where null is not a number."""
    return tuple(math.nan if value is None else value for value in values)
