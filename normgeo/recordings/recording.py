"""A recorded run, read from its file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arguments import file_path
from normgeo.base.arrays import Array
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import optimizer_of
from normgeo.recordings.format import (
    FIRST_NUMBERS,
    HAS_GRADIENT,
    HAS_TURN,
    block_names,
    read_file,
)
from normgeo.recordings.tensors import Tensor


@final
@dataclass(frozen=True, eq=False)
class Recording:
    """R records of B blocks of weights.

    Attributes:
        tensors: the arrays of weights, each with one block or more, in order.
        optimizer: the rule of the run, None if unknown.
        names: of the blocks. places: for each block the number of its tensor, (B,).
        steps: (R,), from 0 before the first step. spans: the number of steps that each angle
            covers, (R,), 0 without an angle.
        rates, decays: η and λ of the step that led to each record, (R, B).
        norms: ‖w̃‖. angles: radians. step_norms: ‖Δw̃‖. gradient_norms: ‖G‖ of the step that led
            to each record. norms_before: ‖w̃‖ before that step; all (R, B), NaN if not measured.
        notes: sentences on damaged or incomplete parts of the file.

    """

    tensors: tuple[Tensor, ...]
    optimizer: Optimizer | None
    names: tuple[str, ...]
    places: Array
    steps: Array
    spans: Array
    rates: Array
    decays: Array
    norms: Array
    angles: Array
    step_norms: Array
    gradient_norms: Array
    norms_before: Array
    notes: tuple[str, ...]

    @property
    def is_every_step(self) -> bool:
        """Whether every step from the first is recorded, as laws that sum over a run require."""
        in_order = self.steps == np.arange(len(self.steps))
        return bool(in_order.all() and (self.spans[1:] == 1).all())


def read_recording(
    path: str | os.PathLike[str], optimizer: str | Optimizer | None = None
) -> Recording:
    """Read the file of a `Recorder`, while it is written or later.

    Args:
        path: of the file.
        optimizer: the rule of the run, in place of the recorded one.

    Raises:
        ValueError: no recording, or an unknown optimizer. OSError: no such file.

    """
    rule = None if optimizer is None else optimizer_of(optimizer)
    header, records, _, notes = read_file(file_path("path", path))
    places = np.repeat(np.arange(len(header.tensors)), header.counts)
    by_number = np.moveaxis(records["blocks"].astype(np.float64), -1, 0)
    norms, angles, steps, gradients = by_number[:FIRST_NUMBERS]
    known = records["known"][:, None]
    angles = np.where(known & HAS_TURN, angles, np.nan)
    rates = records["rates"].astype(np.float64)
    decays = rates[:, places, 1]
    if header.numbers > FIRST_NUMBERS:
        before = by_number[FIRST_NUMBERS]
    else:
        before = _recovered(records["step"], norms, angles, steps, decays)
    return Recording(
        tensors=header.tensors,
        optimizer=rule or header.optimizer,
        names=block_names(header.tensors),
        places=places,
        steps=records["step"].astype(np.int64),
        spans=records["span"].astype(np.int64),
        rates=rates[:, places, 0],
        decays=decays,
        norms=norms,
        angles=angles,
        step_norms=np.where(known & HAS_TURN, steps, np.nan),
        gradient_norms=np.where(known & HAS_GRADIENT, gradients, np.nan),
        norms_before=np.where(records["span"][:, None] == 1, before, np.nan),
        notes=notes,
    )


def _recovered(steps: Array, norms: Array, angles: Array, lengths: Array, decays: Array) -> Array:
    """‖w̃‖ before each step, (R, B), for a file that holds it only at records of successive steps.

    Elsewhere ‖w‖, the angle θ and ‖Δw‖ leave two norms, ‖w‖ cos θ ± √(‖Δw‖² − ‖w‖² sin² θ). A step
    with decay is assumed to shrink w, which selects the longer norm, one without decay to grow it.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        along = np.sqrt(np.maximum(lengths**2 - (norms * np.sin(angles)) ** 2, 0))
        before: Array = norms * np.cos(angles) + np.where(decays > 0, along, -along)
    follows = np.flatnonzero(np.diff(steps.astype(np.int64)) == 1) + 1
    before[follows] = norms[follows - 1]
    return before
