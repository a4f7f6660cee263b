"""What is found in a recording, as scalars for TensorBoard and W&B."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from normgeo.recordings.findings import findings
from normgeo.recordings.recording import read_recording


def scalars(path: str | os.PathLike[str]) -> dict[str, float]:
    """Return, of each recorded tensor, the medians over its blocks, by "normgeo/tensor/quantity".

    Quantities are the norm, the angle of a step in degrees, the effective rate where one is known,
    and how many blocks are frozen, over the last half of the records.
    """
    run = read_recording(path)
    found = findings(run)
    told: dict[str, float] = {}
    for number, tensor in enumerate(run.tensors):
        blocks = [block for block, place in zip(found, run.places, strict=True) if place == number]
        for quantity, values in (
            ("norm", [block.norm for block in blocks]),
            ("angle", [np.degrees(block.angle) for block in blocks]),
            ("effective_rate", [block.effective_rate for block in blocks]),
        ):
            if np.isfinite(values).any():
                told[f"normgeo/{tensor.name}/{quantity}"] = float(np.nanmedian(values))
        told[f"normgeo/{tensor.name}/frozen"] = float(sum(block.is_frozen for block in blocks))
    return told


def write_findings(path: str | os.PathLike[str], writer: Any, step: int) -> None:
    """Write the scalars of a recording by a writer of its user's.

    Args:
        path: of the recording, which may still grow.
        writer: a `SummaryWriter`, whose `add_scalar` is called; or a run of W&B, whose `log` is.
            Others, None among them, get nothing.
        step: of the training.

    """
    if callable(add := getattr(writer, "add_scalar", None)):
        for name, value in scalars(path).items():
            add(name, value, step)
    elif callable(log := getattr(writer, "log", None)):
        log(scalars(path), step=step)
