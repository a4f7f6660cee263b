"""A recorded training run as a table: each block, and its predictions."""

from __future__ import annotations

from math import degrees, nan

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.recordings.findings import BlockFinding
from normgeo.recordings.recording import Recording
from normgeo.tables.table import Table

COLUMNS = (
    text("block"),
    text("weights"),
    text("verdict"),
    text("‖w‖"),
    text("predicted ‖w‖"),
    text("angle (°)"),
    text("predicted angle (°)"),
    text("effective rate"),
    text("steps to balance"),
    text("half-life of the norm"),
    text("norm law off"),
    text("angle law off"),
)


def training_table(
    run: Recording, optimizer: Optimizer | None, findings: tuple[BlockFinding, ...]
) -> Table:
    """Return a row for each block, with notes on the columns and assumptions."""
    rows = tuple(
        (
            text("{name!s}", name=found.name),
            found.weights,
            found.verdict,
            found.norm,
            found.balance.norm if found.balance else nan,
            degrees(found.angle),
            degrees(found.balanced_angle),
            found.effective_rate,
            found.approach,
            found.balance.half_life if found.balance else nan,
            found.norm_off,
            found.angle_off,
        )
        for found in findings
    )
    steps = int(run.steps[-1])
    title = text(
        "{records} records of {steps} steps with {optimizer}",
        records=len(run.steps),
        steps=steps,
        optimizer=text("an optimizer that is not stated") if optimizer is None else optimizer.title,
    )
    return Table(COLUMNS, rows, title, notes=(*run.notes, *_notes(run, optimizer, findings)))


def _notes(
    run: Recording, optimizer: Optimizer | None, findings: tuple[BlockFinding, ...]
) -> tuple[str, ...]:
    one = findings[0]
    balanced = sum(found.is_balanced and not found.is_frozen for found in findings)
    frozen = sum(found.is_frozen for found in findings)
    notes = [
        text(
            "{balanced} of {blocks} blocks are in balance: angle and norm, as far as they are "
            "predicted, within {within}% of what random gradients would give. Frozen, at less "
            "than {angle}° from record to record: {frozen}.",
            balanced=balanced,
            blocks=len(findings),
            within=number(100 * one.within),
            frozen=frozen,
            angle=number(degrees(one.frozen)),
        ),
        text(
            "‖w‖ and angles are root mean squares over the last half of the records; predictions "
            "are for its mean η and λ."
        ),
    ]
    if optimizer is None:
        notes.append(
            text(
                "This run does not say its optimizer, so nothing is predicted. State it, one of "
                "{optimizers}.",
                optimizers=", ".join(OPTIMIZERS),
            )
        )
    else:
        notes.append(optimizer.equilibrium_assumes)
    if not any(found.sphere_gradient >= 0 for found in findings):
        notes.append(
            text(
                "No gradients were recorded: what depends on their length is not predicted. Give "
                "`gradients` to `Recorder.step`."
            )
        )
    if not run.is_every_step:
        notes.append(
            text(
                "Not every step is recorded from the first, so the laws of single steps are left "
                "out."
            )
        )
    return tuple(notes)
