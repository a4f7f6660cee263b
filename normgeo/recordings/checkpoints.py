"""A recording from checkpoints alone: files of weights, in the order of the run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, final

from normgeo.base.arguments import file_path, shown, whole_numbers
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.numpy_files import read_numpy
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
) -> None:
    """Write a recording of checkpoints that were kept of a run.

    Args:
        files: in order, .npz, or .npy of one array.
        path, blocks, optimizer, neurons: as `Recorder` takes them.
        rate: η. decay: λ.
        steps: how many steps the optimizer had taken at each, rising; 0, 1, 2, … without it.

    Raises:
        ValueError: fewer than two files, as many steps as files are not, or what `Recorder`
            refuses. OSError: a file that cannot be read.

    """
    given: object = files
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise Refusal(
            text("`files` must be a list of paths, in order; got {given}.", given=shown(given))
        )
    checkpoints = [file_path("files", file) for file in given]
    numbers = range(len(checkpoints)) if steps is None else whole_numbers("steps", steps)
    rising = all(a < b for a, b in pairwise(numbers))
    if len(checkpoints) < 2 or len(numbers) != len(checkpoints) or not rising:
        raise Refusal(
            text(
                "Checkpoints must be two or more files with a step for each, rising; got {files} "
                "and {steps}.",
                files=text("{count} files", count=len(checkpoints)),
                steps=text("{count} steps", count=len(numbers)),
            )
        )
    with Recorder(path, blocks, optimizer=optimizer, neurons=neurons) as recorder:
        for checkpoint, step in zip(checkpoints, numbers, strict=True):
            recorder.step(_Checkpoint(checkpoint, blocks), rate, decay=decay, at=step)


@final
class _Checkpoint(Mapping[str, Array]):
    """The arrays of a file, each read when it is asked for."""

    def __init__(self, path: Path, names: Iterable[str]) -> None:
        self._path, self._names = path, tuple(names)

    def __getitem__(self, name: str) -> Any:
        return read_numpy(name, self._path)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
