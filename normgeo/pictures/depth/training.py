"""A residual network trained with its norm at each place, without and with a warm-up of the rate.

The runs behind one depth of `placement`, one seed of them, with other settings if asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import log2
from typing import final

from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.networks.norm import require_norm
from normgeo.networks.training import ResidualHistory
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.captions import listed
from normgeo.pictures.depth.accuracy import (
    BATCH,
    KINDS,
    WARMING,
    WIDTH,
    Run,
    cases_of,
    kept,
    trained,
)
from normgeo.pictures.picture import Study
from normgeo.pictures.work import BASE, BYTES, ENTRIES, PRODUCTS
from normgeo.settings import Settings
from normgeo.tables.table import Table


@final
@dataclass(frozen=True, eq=False)
class Trained:
    """A run with its norm at one place.

    Attributes:
        kind, warming: keys of KINDS and WARMING. rate: η. planned: its steps.
        history: what happened. run: its end; None where it has none.

    """

    kind: str
    warming: str
    rate: float
    planned: int
    history: ResidualHistory
    run: Run | None

    @property
    def remark(self) -> str:
        """Why it has no end; "" where it has one."""
        name = text("{name} {warmed}", name=KINDS[self.kind], warmed=WARMING[self.warming])
        if self.history.ended:
            return text(
                "{name} ended at step {step}: {reason}",
                name=name,
                step=len(self.history.losses) + 1,
                reason=self.history.ended,
            )
        if len(self.history.losses) < self.planned:
            return text(
                "{name} was stopped after step {step:,} of {planned:,}.",
                name=name,
                step=len(self.history.losses),
                planned=self.planned,
            )
        return ""


@final
@dataclass(frozen=True, eq=False)
class Placements:
    """The runs, in their order. The rest is of all of them."""

    runs: tuple[Trained, ...]
    normalizer: Normalizer
    blocks: int
    width: int
    epochs: int
    seed: int

    def of(self, warming: str) -> tuple[Trained, ...]:
        """The runs without or with warm-up."""
        return tuple(run for run in self.runs if run.warming == warming)

    def share(self, run: Trained) -> float | None:
        """The share of test cases that a run tells right at its end."""
        return None if run.run is None else run.run.test / len(cases_of(self.seed).y_test)

    @property
    def about(self) -> str:
        """What was trained."""
        rates: dict[str, list[str]] = {}
        for run in self.runs:
            rates.setdefault(run.kind, []).append(number(run.rate))
        told = (
            text("{name} {rates}", name=KINDS[kind], rates=" / ".join(each))
            for kind, each in rates.items()
        )
        batches = text("Test cases share their statistics.")
        return text(
            "{method}, depth {blocks}, width {width}, Adam, epochs: {epochs}, seed {seed}. "
            "Rates without / with warm-up: {rates}. {batches}",
            batches=batches if self.normalizer.shared_by_cases else "",
            method=self.normalizer.title.capitalize(),
            blocks=self.blocks,
            width=self.width,
            epochs=self.epochs,
            seed=self.seed,
            rates=listed(told),
        )


def _rate(settings: Settings, kind: str, warming: str) -> float:
    """η as set, or the one that was best at the nearest depth that was measured."""
    if settings.rate:
        return settings.rate
    found = kept()
    places = range(len(found.depths))
    nearest = min(places, key=lambda d: abs(log2(found.depths[d] / settings.depth)))
    return float(found.chosen(kind, warming).rates[nearest])


def _width(settings: Settings) -> int:
    return settings.neurons or WIDTH


def compute(settings: Settings, progress: Progress) -> Placements:
    """Train from the same weights; a stop leaves the runs that have begun."""
    steps = settings.epochs * -(-len(cases_of(settings.seed).y) // BATCH)
    planned = list(product(KINDS, WARMING))
    runs = []
    for place, (kind, warming) in enumerate(planned):
        rate = _rate(settings, kind, warming)
        history, run = trained(
            kind,
            warming,
            depth=settings.depth,
            rate=rate,
            seed=settings.seed,
            normalizer=settings.normalizer,
            width=_width(settings),
            epochs=settings.epochs,
            progress=progress.part(place, len(planned)),
        )
        if progress.stopped:
            run = None
        runs.append(Trained(kind, warming, rate, steps, history, run))
        if progress.stopped:
            break
    width = _width(settings)
    return Placements(
        tuple(runs), settings.normalizer, settings.depth, width, settings.epochs, settings.seed
    )


def _table(result: Placements) -> Table:
    """The loss of each step's batch, and the test at the end."""

    def rows() -> Iterator[tuple[object, ...]]:
        for run in result.runs:
            place = (KINDS[run.kind], WARMING[run.warming], run.rate)
            last = len(run.history.losses)
            for step, loss in enumerate(run.history.losses.tolist(), start=1):
                yield (*place, step, loss, result.share(run) if step == last else None)

    columns = ("place", "warm-up", "rate", "step", "train_loss", "test_accuracy")
    notes = (result.about, *(run.remark for run in result.runs if run.remark))
    return Table(columns, tuple(rows()), STUDY.title, notes=notes)


def _observed(result: Placements) -> str:
    return " ".join(
        str(
            text(
                "{name} {warmed} is right on {share:.0%} of the test digits.",
                name=KINDS[run.kind],
                warmed=WARMING[run.warming],
                share=share,
            )
        )
        for run in result.runs
        if (share := result.share(run)) is not None
    )


def _cost(settings: Settings) -> Cost:
    require_norm(settings.normalizer, _width(settings), BATCH)
    D, L = _width(settings), settings.depth
    runs = len(KINDS) * len(WARMING)
    steps = settings.epochs * -(-len(cases_of(0).y) // BATCH)
    # Python and small arrays for a block of a step; products, back and forth, and with the
    # identity in the norm; Adam goes through all weights some 10 times.
    block = 1.5e-4 + BATCH * D * D * 10 / PRODUCTS + (10 * BATCH * D + 10 * D * D) / ENTRIES
    held = BYTES * L * (BATCH * D * 12 + 20 * D * D)
    return BASE + Cost(held, runs * steps * (L + 1) * block)


STUDY = Study(
    name="placements",
    title=text("Training with the norm at each place"),
    alt=text(
        "Training loss against the step, on the left without, on the right with a warm-up of the "
        "rate; a line for pre-norm, for post-norm and for no norm, with their test accuracies."
    ),
    uses=("method", "groups", "eps", "neurons", "depth", "seed", "epochs", "rate"),
    compute=compute,
    table=_table,
    cost=_cost,
    observed=_observed,
    begins=text("Train it here"),
    source=text("Xiong et al. 2020, On Layer Normalization in the Transformer Architecture"),
)
