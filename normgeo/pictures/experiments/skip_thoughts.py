"""What skip-thoughts write after a sentence, and what they hold for near to it, as they learn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.experiments.results import Learned, load
from normgeo.pictures.captions import listed
from normgeo.pictures.experiments.about import NAMES
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table


class Said(NamedTuple):
    """A sentence and its topic."""

    words: str
    topic: str


class Method(NamedTuple):
    """A method as it learns.

    Attributes:
        missed: −log P of a word, (seeds, E) at E evaluations. wrong: topics in %, ranks: of the
            next sentence, the same. test: wrong topics on the test set, for each seed.
        written: the next sentence, by the first seed, at each evaluation. nearest: the sentence
            whose vector is nearest, likewise.

    """

    missed: Array
    wrong: Array
    ranks: Array
    test: Array
    written: tuple[str, ...]
    nearest: tuple[Said, ...]


class Thoughts(NamedTuple):
    """A held-out sentence, the one after it, and the methods.

    Attributes:
        topics: how many are told apart. start: the step at which the slider opens.

    """

    sentence: Said
    after: str
    methods: dict[str, Method]
    steps: tuple[int, ...]
    topics: int
    data: str
    start: int

    @property
    def opening(self) -> int:
        """The place of the evaluation at which it opens: the nearest."""
        return int(np.abs(np.array(self.steps) - self.start).argmin())

    def told(self, place: int) -> str:
        """What an evaluation has found, in words."""
        parts = [
            text(
                "{missed} nats a word {name}, {wrong}% of topics wrong",
                missed=number(float(one.missed[:, place].mean()), 3),
                wrong=number(float(one.wrong[:, place].mean()), 2),
                name=NAMES[method],
            )
            for method, one in self.methods.items()
        ]
        return text(
            "After {step} updates: {parts!s}.", step=self.steps[place], parts="; ".join(parts)
        )

    @property
    def asked(self) -> str:
        """The sentence and the one after it."""
        return text(
            "“{said!s}” ({topic!s}). Next in the text: “{after!s}”",
            said=self.sentence.words,
            topic=self.sentence.topic,
            after=self.after,
        )

    def answered(self, method: str, place: int) -> str:
        """What a method makes of the sentence."""
        one = self.methods[method]
        return text(
            "writes next “{written!s}”; nearest is “{near!s}” ({topic!s})",
            written=one.written[place],
            near=one.nearest[place].words,
            topic=one.nearest[place].topic,
        )

    @property
    def ended(self) -> str:
        """What the methods have come to on the test set."""
        parts = [
            text("{wrong}% {name}", wrong=number(float(one.test.mean()), 3), name=NAMES[method])
            for method, one in self.methods.items()
        ]
        return text(
            "A linear classifier tells {topics} topics by the vectors alone: on the test set wrong "
            "are {parts}, a guess {guess}%.",
            topics=self.topics,
            parts=listed(parts),
            guess=number(100 - 100 / self.topics, 3),
        )


SELECTED = text(
    "The sentence is the longest of those without rare words, of 40 held-out ones that end within "
    "12 words; what is written and what is near is by the first seed."
)


def compute(settings: Settings, progress: Progress) -> Thoughts:
    """Read what ships."""
    result = load("skip_thoughts")
    (found,) = result.moving["sentences"]
    near = [Said(one["said"], one["topic"]) for one in result.moving["near"]]
    methods = {
        method: _method(learned, found["methods"][method], near)
        for method, learned in result.methods.items()
    }
    return Thoughts(
        Said(found["said"], found["topic"]),
        found["next"],
        methods,
        result.steps,
        len(result.moving["topics"]),
        result.data,
        settings.updates,
    )


def _method(learned: Learned, found: dict[str, Any], near: list[Said]) -> Method:
    wrong, ranks = learned.others.values()
    return Method(
        np.array(learned.validation),
        np.array(wrong.validation),
        np.array(ranks.validation),
        np.array(wrong.test),
        tuple(found["written"]),
        tuple(near[at] for at in found["nearest"]),
    )


def _table(result: Thoughts) -> Table:
    """A row for each evaluation of each method."""
    rows = [
        (
            str(NAMES[method]),
            step,
            float(one.missed[:, place].mean()),
            float(one.wrong[:, place].mean()),
            float(one.ranks[:, place].mean()),
            one.written[place],
            one.nearest[place].words,
        )
        for method, one in result.methods.items()
        for place, step in enumerate(result.steps)
    ]
    columns = (
        *("method", "step", "nats a word", "wrong topics, %", "rank of the next of 100"),
        *("written next", "nearest"),
    )
    notes = (result.asked, result.ended, SELECTED, result.data)
    return Table(columns, tuple(rows), STUDY.title, notes=notes)


def _observed(result: Thoughts) -> str:
    place = result.opening
    answers = [
        text(
            "The network {name} {answered!s}.",
            name=NAMES[method],
            answered=result.answered(method, place),
        )
        for method in result.methods
    ]
    return " ".join([result.told(place), result.asked, *answers, result.ended])


STUDY = Study(
    name="skip_thoughts",
    title=text("What a network writes after a sentence as it learns"),
    alt=text(
        "A held-out sentence, and for each network the sentence that it writes next and the one "
        "whose vector is nearest. Below, two pairs of axes: nats a word and the share of wrong "
        "topics against the updates, a gray line without a norm and a green one with layer norm."
    ),
    uses=("updates",),
    compute=compute,
    table=_table,
    observed=_observed,
    source=text("section 6.3; Kiros et al. 2015, Skip-thought vectors"),
    slider="updates",
)
