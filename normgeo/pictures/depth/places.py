"""A residual network on digits with its norm at either place: sizes by layer, what it ignores."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.networks.blocks import PLACES, Place
from normgeo.networks.ignored import SIZE, residual_ignored
from normgeo.networks.norm import require_norm
from normgeo.networks.residual import ResidualNetwork
from normgeo.networks.signals import Signals, signals
from normgeo.networks.verdict import Ignored
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.picture import Study
from normgeo.pictures.work import BASE, BYTES, ENTRIES, PRODUCTS
from normgeo.settings import Settings
from normgeo.tables.table import Table

WIDTH = 64
CASES = 200
CLASSES = 10
STAYS = 0.1  # a size that changes by no more is said to stay


class AtPlace(NamedTuple):
    """A network with its norm at a place: sizes by layer, and what it ignores, by change."""

    place: Place
    signals: Signals
    ignored: dict[str, Ignored]

    @property
    def gradient(self) -> float:
        """The gradient of the last block over that of the first, of those that have one.

        A block has none where no ReLU of it is active for any case, or where the norm above it
        leaves nothing, as layer norm of two features. NaN where all have none.
        """
        return _growth(self.signals.gradients)

    @property
    def answer(self) -> str:
        """What happens to the two, in a sentence."""
        said = text(
            "With {place} the stream {stream}, and the gradient {gradient}.",
            place=self.place.title,
            stream=_trend(self.signals.stream),
            gradient=_trend(self.signals.gradients),
        )
        none = int((self.signals.gradients == 0).sum())
        if not 0 < none < len(self.signals.gradients):
            return said
        return text(
            "{said} It is 0 in {none} of {all} blocks.",
            said=said,
            none=none,
            all=len(self.signals.gradients),
        )


class Depth(NamedTuple):
    """A residual network with its norm at each place.

    Attributes:
        normalizer: N. blocks: L. width: D. at: by the key of the place.

    """

    normalizer: Normalizer
    blocks: int
    width: int
    at: dict[str, AtPlace]

    @property
    def about(self) -> str:
        """In a line."""
        return text(
            "First block to last, before training: {name}, L = {blocks}, D = {width}, {cases} "
            "digits, one seed.",
            name=self.normalizer.title,
            blocks=self.blocks,
            width=self.width,
            cases=CASES,
        )

    @property
    def rows(self) -> list[tuple[str, tuple[str, ...]]]:
        """The changes of weights in words with their marks by place, alike ones together."""
        first, *_ = self.at.values()
        marks = {
            key: tuple(at.ignored[key].symbol for at in self.at.values()) for key in first.ignored
        }
        order = [("✓", "✗"), ("✗", "✓"), ("✓", "✓")]
        place: dict[tuple[str, ...], int] = {pair: index for index, pair in enumerate(order)}
        keys = sorted(marks, key=lambda key: place.get(marks[key], len(order)))
        return [(first.ignored[key].title, marks[key]) for key in keys]

    @property
    def counts(self) -> str:
        """How many of the changes are ignored, in a sentence."""
        pre, post = (sum(m[i] == "✓" for _, m in self.rows) for i in range(2))
        both = sum(m == ("✓", "✓") for _, m in self.rows)
        return text(
            "The whole network ignores {pre} of {all} changes of its weights with pre-norm and "
            "{post} with post-norm; {both} of them with both.",
            all=len(self.rows),
            pre=pre,
            post=post,
            both=both,
        )


def _growth(sizes: Array) -> float:
    """The last over the first of those that are not 0; NaN where all are."""
    some = sizes[sizes > 0]
    return float(some[-1] / some[0]) if len(some) else np.nan


def _trend(sizes: Array) -> str:
    ratio = _growth(sizes)
    if np.isnan(ratio):
        return text("is 0")
    if abs(np.log(ratio)) < STAYS:
        return text("keeps its size")
    if ratio > 1:
        return text("grows to {ratio} times its size", ratio=number(ratio, 2))
    return text("shrinks to {ratio} of its size", ratio=number(ratio, 2))


def network(settings: Settings, place: Place) -> ResidualNetwork:
    """The network of the settings at a place, at its random start."""
    X, _ = data()
    rng = np.random.default_rng(settings.seed)
    return ResidualNetwork.random(
        settings.normalizer, place, settings.depth, _width(settings), X.shape[1], CLASSES, rng
    )


def data() -> tuple[Array, Array]:
    """The digits that pass through, standardized, and their classes."""
    digits = DATASETS["digits"].load(standardize=True)
    return digits.X[:CASES], digits.y[:CASES]


def _width(settings: Settings) -> int:
    return settings.neurons or WIDTH


def _ignored(settings: Settings, place: Place) -> dict[str, Ignored]:
    """What is ignored, by a network of at most two groups, each of the size in use or of 3.

    One group more, and one feature more in a group of three or more, decide nothing.
    """
    normalizer = settings.normalizer
    groups = min(normalizer.groups, 2)
    features = groups * min(_width(settings) // normalizer.groups, SIZE.D // groups)
    size = SIZE._replace(D=max(features, 2))
    return residual_ignored(replace(normalizer, groups=groups), place, settings.seed, size)


def compute(settings: Settings, progress: Progress) -> Depth:
    """Both places with the same weights."""
    X, y = data()
    at = {
        key: AtPlace(
            place,
            signals(network(settings, place), X, y),
            _ignored(settings, place),
        )
        for key, place in PLACES.items()
    }
    return Depth(settings.normalizer, settings.depth, _width(settings), at)


def _table(result: Depth) -> Table:
    rows: list[tuple[str, str, int | str, float | str]] = []
    for at in result.at.values():
        found = at.signals
        rows += [(text("stream"), at.place.title, i, float(v)) for i, v in enumerate(found.stream)]
        rows += [
            (text("gradient"), at.place.title, i, float(v))
            for i, v in enumerate(found.gradients, start=1)
        ]
        rows += [
            (text("ignores"), at.place.title, one.title, one.symbol) for one in at.ignored.values()
        ]
    columns = text("quantity"), text("place"), text("layer or change"), text("value")
    return Table(columns, tuple(rows), STUDY.title)


def _cost(settings: Settings) -> Cost:
    D, L = _width(settings), settings.depth
    normalizer = require_norm(settings.normalizer, D, CASES)
    # Three products a matrix, back and forth, and the norm's with the identity.
    products = 2 * L * CASES * D * D * (3 * 2 + 4)
    passes = 2 * L * CASES * D * 40
    exact = 0.9 if normalizer.shared_by_cases else 0.45
    held = BYTES * L * (CASES * D * 12 + 6 * D * D)
    return BASE + Cost(held, products / PRODUCTS + passes / ENTRIES + exact)


def _observed(result: Depth) -> str:
    return " ".join([*(str(at.answer) for at in result.at.values()), str(result.counts)])


STUDY = Study(
    name="depth",
    title=text("The stream and the gradients of a residual network"),
    alt=text(
        "Left, the size of the residual stream by layer, in the middle the gradient of each block, "
        "one line for pre-norm and one for post-norm, on logarithmic scales; right, a table of "
        "changes of weights with a mark for each place that ignores them."
    ),
    uses=("method", "groups", "eps", "neurons", "depth", "seed"),
    compute=compute,
    table=_table,
    cost=_cost,
    observed=_observed,
    source=text("Xiong et al. 2020, On Layer Normalization in the Transformer Architecture"),
)
