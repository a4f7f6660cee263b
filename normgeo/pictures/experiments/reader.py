"""Where trained readers look in a document, word by word of the query, and what they answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.experiments.results import load
from normgeo.pictures.captions import listed
from normgeo.pictures.experiments.about import NAMES
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

PLACEHOLDER = "@placeholder"
GAP = "____"  # how it is shown


class Read(NamedTuple):
    """A method at work, after each of U words: attention (U, T), chances of the names (U, E)."""

    attention: Array
    chance: Array


class Reading(NamedTuple):
    """A question with its names hidden, what each method makes of it, and where it opens.

    Attributes:
        names: what the markers in the document stand for. answer: the place of the right one.

    """

    document: tuple[str, ...]
    query: tuple[str, ...]
    names: tuple[str, ...]
    answer: int
    methods: dict[str, Read]
    data: str
    start: int

    @property
    def words(self) -> int:
        """U, of the query."""
        return len(self.query)

    @property
    def opening(self) -> int:
        """The place of the frame at which it opens: the nearest."""
        return min(self.start, self.words) - 1

    @property
    def strongest(self) -> float:
        """The largest attention on one word."""
        return max(float(one.attention.max()) for one in self.methods.values())

    @property
    def most(self) -> float:
        """The largest chance of a name."""
        return max(float(one.chance.max()) for one in self.methods.values())

    @property
    def offered(self) -> list[int]:
        """The places of the names that the document has."""
        return [at for at in range(len(self.names)) if marker(at) in self.document]

    def picked(self, method: str, place: int) -> int:
        """The place of the name that a method holds for most likely."""
        return int(self.methods[method].chance[place].argmax())

    def told(self, place: int) -> str:
        """How many have the answer after a word of the query."""
        right = [self.picked(method, place) for method in self.methods].count(self.answer)
        words = {"n": place + 1, "all": self.words, "name": self.names[self.answer]}
        if not right:
            return text(
                "After {n} of {all} words the right name, “{name!s}”, leads nowhere.",
                **words,
            )
        return text(
            "After {n} of {all} words the right name, “{name!s}”, leads in {right} of {networks} "
            "networks.",
            **words,
            right=right,
            networks=len(self.methods),
        )


SELECTED = text(
    "It is the first question of the test set, of those with a long query and some names, that "
    "most networks answer."
)


def marker(place: int) -> str:
    """The word that stands for a name."""
    return f"@entity{place}"


def compute(settings: Settings, progress: Progress) -> Reading:
    """Read the question that ships."""
    result = load("reader")
    found = result.moving["questions"][0]
    names = tuple(found["names"])
    methods = {
        method: Read(np.array(one["attention"]), np.array(one["chance"]))
        for method, one in found["methods"].items()
    }
    answer = [marker(at) for at in range(len(names))].index(found["answer"])
    document, query = (tuple(found[of]) for of in ("document", "query"))
    return Reading(document, query, names, answer, methods, result.data, settings.word)


def _table(result: Reading) -> Table:
    """A row for each word of the document after each word of the query."""
    rows = [
        (str(NAMES[method]), after, place, word, float(share))
        for method, one in result.methods.items()
        for after, shares in enumerate(one.attention, start=1)
        for place, (word, share) in enumerate(zip(result.document, shares, strict=True), start=1)
    ]
    columns = ("method", "words of the query", "place", "word", "attention")
    notes = (" ".join(result.query), listed(result.names), result.data)
    return Table(columns, tuple(rows), STUDY.title, notes=(*notes, SELECTED))


def _observed(result: Reading) -> str:
    chances = listed(
        f"{result.methods[method].chance[result.opening][result.answer]:.0%} {NAMES[method]}"
        for method in result.methods
    )
    return text(
        "{told} Its chance is {chances}.", told=result.told(result.opening), chances=chances
    )


STUDY = Study(
    name="reader",
    title=text("Where a reader looks as it is asked"),
    alt=text(
        "A text with its names hidden and a sentence with a gap, read word by word. For each "
        "network the text, with words in stronger color where the attention is, and a bar for the "
        "chance of each name."
    ),
    uses=("word",),
    compute=compute,
    table=_table,
    observed=_observed,
    source=text("section 6.2; Hermann et al. 2015, Teaching machines to read and comprehend"),
    slider="word",
)
