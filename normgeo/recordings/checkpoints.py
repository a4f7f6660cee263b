"""Make a recording from checkpoints: files of weights, in the order of the run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from normgeo.base.arguments import entries, file_path, whole_numbers
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.tensor_files import list_tensors
from normgeo.dynamics.optimizer import Optimizer
from normgeo.normalizers.normalizer import Normalizer
from normgeo.recordings.recorder import Numbers, Recorder


def record_checkpoints(
    files: Iterable[str | os.PathLike[str]],
    path: str | os.PathLike[str],
    blocks: Mapping[str, str | Normalizer],
    rate: Numbers,
    *,
    decay: Numbers = 0.0,
    steps: Sequence[int] | None = None,
    optimizer: str | Optimizer | None = None,
    neurons: int = 0,
    biases: Mapping[str, str] | None = None,
) -> None:
    """Write a recording from the checkpoints of a run.

    Args:
        files: in order, .safetensors or .npz, or .npy of one array.
        path, blocks, optimizer, neurons, biases: as `Recorder` takes them.
        rate: η. decay: λ.
        steps: how many steps the optimizer had taken at each, rising; 0, 1, 2, … without it.

    Raises:
        ValueError: fewer than two files, another number of steps than of files, or what
            `Recorder` refuses. OSError: a file that cannot be read.

    """
    listed = entries("files", files, text("paths, in order"))
    checkpoints = [file_path("files", file) for file in listed]
    numbers = range(len(checkpoints)) if steps is None else whole_numbers("steps", steps)
    in_order(checkpoints, numbers)
    with Recorder(path, blocks, optimizer=optimizer, neurons=neurons, biases=biases) as recorder:
        names = {*blocks, *(biases or {}).values()}
        for checkpoint, step in zip(checkpoints, numbers, strict=True):
            recorder.step(_arrays(checkpoint, names), rate, decay=decay, at=step)


def in_order(files: Sequence[Path], steps: Sequence[int]) -> None:
    """Refuse checkpoints that form no run: fewer than two, or without a rising step for each."""
    rising = all(a < b for a, b in pairwise(steps))
    if len(files) < 2 or len(steps) != len(files) or not rising:
        raise Refusal(
            "Checkpoints must be two or more files with a step for each, rising; got {files} "
            "and {steps}.",
            files=text("{count} files", count=len(files)),
            steps=text("{count} steps", count=len(steps)),
        )


def _arrays(checkpoint: Path, names: set[str]) -> dict[str, Array | None]:
    """The recorded arrays of a file by name; an only array takes any name."""
    tensors = {tensor.name: tensor for tensor in list_tensors(checkpoint)}
    if len(tensors) == len(names) == 1:
        (only,) = tensors.values()
        return {name: only.load() for name in names}
    return {name: tensor.load() if name in names else None for name, tensor in tensors.items()}
