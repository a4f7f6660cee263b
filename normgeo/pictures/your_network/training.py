"""What a training run did, block by block: norm and angular update, beside what is predicted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.dynamics.optimizer import Optimizer
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.captions import listed
from normgeo.pictures.picture import Study
from normgeo.recordings.example import EXAMPLE
from normgeo.recordings.findings import (
    FROZEN,
    WITHIN,
    BlockFinding,
    findings,
    laws,
    optimizer_of_run,
)
from normgeo.recordings.recording import Recording, read_recording
from normgeo.settings import Settings
from normgeo.tables.table import Table
from normgeo.tables.training import training_table

POINTS = 300
"""Steps at most that are told: of a longer run, each stands for several."""
NAMED = 6  # blocks at most that a sentence names


@final
@dataclass(frozen=True, eq=False)
class Run:
    """A recorded run of B blocks, in K parts of one or more records each.

    Attributes:
        title: of the run. optimizer: of it, None where it is not known.
        findings: what became of each block. normalizers: the norm of each.
        steps: the last one of each part, (K,).
        norms, angles: measured, root mean squares over a part, angles in degrees, (K, B).
        norm_law, angle_law: by the optimizer's own law, likewise; NaN where there is none.
        blocks: a row for each block, and sentences for the reader.
        lit: the number of the block that is selected; None for none.

    """

    title: str
    optimizer: Optimizer | None
    findings: tuple[BlockFinding, ...]
    normalizers: tuple[Normalizer, ...]
    steps: Array
    norms: Array
    angles: Array
    norm_law: Array
    angle_law: Array
    blocks: Table
    lit: int | None = None

    def lighting(self, block: int | None) -> Run:
        """The run with a block selected; with none where it has no such block."""
        known = block is not None and block < len(self.findings)
        return replace(self, lit=block if known else None)

    @property
    def balanced(self) -> tuple[str, ...]:
        """The names of the blocks in balance that are not frozen."""
        return tuple(f.name for f in self.findings if f.is_balanced and not f.is_frozen)

    @property
    def frozen(self) -> tuple[str, ...]:
        """The names of the blocks that are frozen."""
        return tuple(f.name for f in self.findings if f.is_frozen)

    @property
    def headline(self) -> str:
        """Which blocks are in balance, and which are frozen."""
        blocks = len(self.findings)
        return text(
            "In balance: {balanced} of {blocks} blocks{names}. Frozen: {frozen}{which}.",
            balanced=len(self.balanced),
            blocks=blocks,
            names=_names(self.balanced),
            frozen=len(self.frozen),
            which=_names(self.frozen),
        )

    @property
    def of_block(self) -> str:
        """What the selected block comes to; "" for none."""
        if self.lit is None:
            return ""
        found = self.findings[self.lit]
        turn = text(", {angle}° from record to record", angle=number(np.degrees(found.angle), 3))
        return text(
            "Block {name!s}: {verdict}. Norm {norm}{turn}.",
            name=found.name,
            verdict=found.verdict,
            norm=number(found.norm, 3),
            turn=turn if np.isfinite(found.angle) else "",
        )


def of_run(
    recording: Recording,
    title: str,
    optimizer: str | Optimizer | None = None,
    *,
    frozen: float = FROZEN,
    within: float = WITHIN,
) -> Run:
    """Return what is drawn and told of a recording; the arguments are those of `findings`."""
    rule = optimizer_of_run(recording, optimizer)
    found = findings(recording, rule, frozen=frozen, within=within)
    norm_law, angle_law = laws(recording, rule)
    records = len(recording.steps)
    first = np.unique(np.linspace(0, records, min(POINTS, records), endpoint=False).astype(int))
    before = np.full((1, len(found)), np.nan)
    measured = (recording.norms, np.degrees(recording.angles))
    predicted = (norm_law, np.concatenate([before, np.degrees(angle_law)])[:records])
    parts = [_root_mean_squares(values, first) for values in (*measured, *predicted)]
    norms, angles, norms_by_law, angles_by_law = parts
    return Run(
        title=title,
        optimizer=rule,
        findings=found,
        normalizers=tuple(recording.tensors[place].normalizer for place in recording.places),
        steps=recording.steps[np.append(first[1:], records) - 1],
        norms=norms,
        angles=angles,
        norm_law=norms_by_law,
        angle_law=angles_by_law,
        blocks=training_table(recording, rule, found),
    )


def _root_mean_squares(values: Array, first: Array) -> Array:
    """Over the records of each part that are known, NaN where none is."""
    known = np.isfinite(values)
    counts = np.add.reduceat(known, first, axis=0, dtype=int)
    # In units of the largest, as squares of norms may exceed a float.
    largest = np.abs(values).max(axis=0, initial=0, where=known)
    unit = np.where(known, values, 0) / np.where(largest > 0, largest, 1)
    squares = np.add.reduceat(unit**2, first, axis=0)
    means: Array = largest * np.sqrt(squares / np.where(counts, counts, np.nan))
    return means


def _names(blocks: tuple[str, ...]) -> str:
    if not blocks or len(blocks) > NAMED:
        return ""
    return text(" ({names})", names=listed(text("{name!s}", name=block) for block in blocks))


def _compute(settings: Settings, progress: Progress) -> Run:
    run = read_recording(EXAMPLE.path)
    found = of_run(run, EXAMPLE.title, frozen=settings.frozen_below)
    return found.lighting(settings.block)


def _table(result: Run) -> Table:
    """Return a row for each block and part of the run, with the law and the balance."""
    rows = [
        (
            found.name,
            step,
            *(float(values[k, b]) for values in (result.norms, result.norm_law)),
            found.balance.norm if found.balance else None,
            *(float(values[k, b]) for values in (result.angles, result.angle_law)),
            float(np.degrees(found.balanced_angle)),
            found.verdict,
        )
        for b, found in enumerate(result.findings)
        for k, step in enumerate(result.steps.tolist())
    ]
    columns = (
        "block",
        "step",
        "norm",
        "norm_by_law",
        "norm_in_balance",
        "angle",
        "angle_by_law",
        "angle_in_balance",
        "verdict",
    )
    notes = (text("Angles are in degrees."), *result.blocks.notes)
    return Table(columns, tuple(rows), result.title, notes=notes)


def _observed(result: Run) -> str:
    return f"{_of_all(result)} {result.of_block}".rstrip()


def _of_all(result: Run) -> str:
    turning = [f for f in result.findings if f.name in result.balanced]
    if not turning:
        return str(result.headline)
    angles = np.degrees([(found.angle, found.balanced_angle) for found in turning])
    measured, predicted = ([number(angle, 3) for angle in column] for column in angles.T.tolist())
    turn = text(
        "Those in balance turn by {measured}° from record to record; {predicted}° is predicted.",
        measured=_between(measured),
        predicted=_between(predicted),
    )
    return f"{result.headline} {turn}"


def _between(numbers: list[str]) -> str:
    low, high = min(numbers, key=float), max(numbers, key=float)
    return low if low == high else text("{low} to {high}", low=low, high=high)


STUDY = Study(
    name="training_run",
    title=text("Which blocks of a training run are in balance, and which are frozen"),
    source=text("van Laarhoven 2017; Wan et al. 2021; Kosson et al. 2024"),
    alt=text(
        "Norm of each block of weights, and below it how far a step turns it, against the step. "
        "Solid lines are measured; thin dashed ones are the optimizer's own law; dashed levels "
        "over the last half are where growth and weight decay balance."
    ),
    uses=("frozen_below", "block"),
    compute=_compute,
    table=_table,
    observed=_observed,
)
