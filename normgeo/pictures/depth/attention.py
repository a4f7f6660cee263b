"""Logits of attention with and without QK-norm, as the weights of queries and keys grow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.models.recurrence import digit_rows
from normgeo.networks.attention import AttentionHead
from normgeo.networks.attention_ignored import attention_ignored
from normgeo.networks.verdict import Ignored
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.picture import Study
from normgeo.pictures.work import BASE
from normgeo.settings import Settings
from normgeo.tables.table import Table

DIMENSION = 16
SEQUENCES = 20
FACTORS = 2.0 ** np.arange(-3, 5.5, 0.5)
WITHOUT = "standard"


class Curves(NamedTuple):
    """A head at each factor on W_q and W_k: the largest |logit|, and the mean largest weight."""

    normalizer: Normalizer
    largest: Array
    sharpest: Array
    bound: float | None
    ignored: dict[str, Ignored]


class Attention(NamedTuple):
    """Heads with the same weights without and with a norm of q and k.

    Attributes:
        factors: on W_q and W_k. dimension: d. heads: by the key of the method.

    """

    factors: Array
    dimension: int
    heads: dict[str, Curves]

    @property
    def rows(self) -> list[tuple[str, tuple[str, ...]]]:
        """The changes of weights in words, with a mark for each head."""
        first, *_ = self.heads.values()
        return [
            (one.title, tuple(head.ignored[key].symbol for head in self.heads.values()))
            for key, one in first.ignored.items()
        ]

    @property
    def answers(self) -> tuple[str, ...]:
        """What grows and what stays, in sentences."""
        return tuple(_answer(self, head) for head in self.heads.values())


def _answer(result: Attention, head: Curves) -> str:
    grown = head.largest[-1] / head.largest[0]
    if grown > 2:
        return text(
            "Without a norm the largest logit grows × {grown} as W_q and W_k grow × {factor:g}.",
            grown=number(float(grown), 2),
            factor=result.factors[-1] / result.factors[0],
        )
    words = text(
        "With {name} of q and k it stays at {logit}",
        name=head.normalizer.title,
        logit=number(float(head.largest[-1]), 2),
    )
    if head.bound is None:
        return text("{words}.", words=words)
    return text("{words}; its bound is {bound}.", words=words, bound=number(head.bound, 2))


def tokens() -> Array:
    """Rows of digits, each with a mark of its place beside its eight pixels, (S, 8, 16)."""
    rows = digit_rows(DATASETS["digits"].load(), range(SEQUENCES))
    marks = np.broadcast_to(np.eye(rows.shape[1]), (len(rows), *np.eye(rows.shape[1]).shape))
    return np.concatenate([rows, marks], axis=2)


def head(settings: Settings, normalizer: Normalizer) -> AttentionHead:
    """The head of the settings with a norm."""
    rng = np.random.default_rng(settings.seed)
    return AttentionHead.random(normalizer, DIMENSION, tokens().shape[2], rng)


def compute(settings: Settings, progress: Progress) -> Attention:
    """The same weights without a norm and with the method of the settings."""
    X = tokens()
    heads = {}
    methods = {WITHOUT: NORMALIZERS[WITHOUT], settings.method: settings.normalizer}
    for key, normalizer in methods.items():
        start = head(settings, normalizer)
        largest, sharpest = [], []
        for factor in FACTORS:
            grown = start.times(factor)
            largest.append(max(float(np.abs(grown.logits(x)).max()) for x in X))
            sharpest.append(np.mean([grown.weights(x).max(axis=1).mean() for x in X]))
        bounds = [start.bound(x) for x in X]
        known = [bound for bound in bounds if bound is not None]
        heads[key] = Curves(
            normalizer,
            np.array(largest),
            np.array(sharpest),
            max(known) if known else None,
            attention_ignored(normalizer, settings.seed, DIMENSION),
        )
    return Attention(FACTORS, DIMENSION, heads)


def _table(result: Attention) -> Table:
    rows = [
        (at.normalizer.title, float(factor), float(largest), float(sharpest))
        for at in result.heads.values()
        for factor, largest, sharpest in zip(result.factors, at.largest, at.sharpest, strict=True)
    ]
    columns = text("norm"), text("factor"), text("largest |logit|"), text("largest weight")
    return Table(columns, tuple(rows), STUDY.title)


def _cost(settings: Settings) -> Cost:
    attention = len(FACTORS) * SEQUENCES * 4 * 2e-4
    return BASE + Cost(0.0, attention + 0.6)


STUDY = Study(
    name="attention",
    title=text("Attention with a norm of queries and keys"),
    alt=text(
        "Left, the largest logit against a factor on the weights of queries and keys, beside it "
        "the largest weight of attention, one line without a norm and one with it; right, a table "
        "of changes of weights with a mark for each head that ignores them."
    ),
    uses=("method", "groups", "eps", "seed"),
    compute=compute,
    table=_table,
    cost=_cost,
    observed=lambda result: " ".join(map(str, result.answers)),
    source=text(
        "Dehghani et al. 2023 for layer norm of queries and keys; Henry et al. 2020 for ℓ2 norms"
    ),
)
