"""What is told of a training run of one's own files: read and computed apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import final

from normgeo.base.budget import MEGABYTE, memory
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.given_files import Given
from normgeo.datasets.opened import State
from normgeo.datasets.tensor_files import list_tensors
from normgeo.pictures.your_network.checkpoints import are_checkpoints, read_run, steps_of
from normgeo.pictures.your_network.layer import corrections
from normgeo.pictures.your_network.training import Run, of_run
from normgeo.settings import Settings

RUN = "training"
"""What files of a recorded run are for."""

LARGEST = 100 * MEGABYTE
"""Bytes of a recording; reading takes some times as much."""
UNPACKED = 200 * MEGABYTE
"""Bytes of a checkpoint in double precision; one at a time is read."""
MOST = 5000  # blocks: a thousand take half a second

SECONDS_A_BYTE = 3e-5
"""Of a file, at most: a block takes up to a millisecond, and 32 bytes or more of a recording."""


@final
@dataclass(eq=False)
class OwnRun:
    """What is told of a run, as far as it went.

    Attributes:
        checkpoints: their names with their steps; empty for a recording.
        run: None where it is not known. refusal: why it is not.

    """

    checkpoints: tuple[tuple[str, int], ...] = ()
    run: Run | None = None
    refusal: Refusal | None = None


def seconds(given: Given) -> float:
    """Return how long it takes to tell a run of files, at most."""
    return given.size * SECONDS_A_BYTE


def own_run(
    given: Given, steps: Sequence[int] | None, settings: Settings, progress: Progress
) -> OwnRun:
    """Return what is told of a run; what is wrong with it is its `refusal`.

    Args:
        given: a recording, or checkpoints. steps: one for each of these; None as their names say.
        settings: how the run was trained. progress: told after each checkpoint.

    """
    told = OwnRun()
    try:
        with given.paths() as paths:
            told.run = _run(told, paths[RUN], steps, settings, progress)
    except Refusal as refusal:
        told.refusal = refusal
    return told


def _run(
    told: OwnRun,
    given: list[Path],
    steps: Sequence[int] | None,
    settings: Settings,
    progress: Progress,
) -> Run:
    in_order = None
    title = text("{name!s}", name=given[0].name)
    if are_checkpoints(given):
        steps = steps or steps_of(given)
        told.checkpoints = tuple(zip((path.name for path in given), steps, strict=True))
        given = [given[i] for i in sorted(range(len(given)), key=steps.__getitem__)]
        in_order = sorted(steps)
        title = text("{first!s} to {last!s}", first=given[0].name, last=given[-1].name)
    _require_small(given, checkpoints=in_order is not None)
    recording = read_run(
        given,
        None if settings.trained_by == "auto" else settings.trained_by,
        rate=settings.rate or None,
        decay=settings.decay or 0.0,
        steps=in_order,
        corrections=corrections(settings),
        progress=progress,
    )
    if (blocks := len(recording.names)) > MOST:
        raise Refusal(
            "A page takes runs of up to {most:,} blocks; this one has {blocks:,}. Use "
            "`python -m normgeo training`, which takes more.",
            most=MOST,
            blocks=blocks,
        )
    return of_run(recording, title, frozen=settings.frozen_below)


def _require_small(given: list[Path], *, checkpoints: bool) -> None:
    """Refuse what is large, or what a small file may hold packed, before it is read."""
    for path in given:
        size = State.of(path).size
        if checkpoints:
            size = sum(8 * prod(tensor.shape) for tensor in list_tensors(path))
        if size > (UNPACKED if checkpoints else LARGEST):
            raise Refusal(
                "A page reads recordings of up to {largest}, and checkpoints of up to "
                "{unpacked} as float64; {name!s} takes {size}. Use `python -m normgeo "
                "training`, which reads larger ones.",
                largest=memory(LARGEST),
                unpacked=memory(UNPACKED),
                name=path.name,
                size=memory(size),
            )
