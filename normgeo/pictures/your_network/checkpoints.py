"""A training run from files: a recording, or checkpoints whose names propose what to record."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from normgeo.base.arrays import Array
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.checkpoint import Checkpoint, Proposal
from normgeo.datasets.tensor_files import SUFFIXES, list_tensors
from normgeo.dynamics.optimizer import Optimizer
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.recordings.checkpoints import in_order
from normgeo.recordings.format import is_recording
from normgeo.recordings.recorder import Recorder
from normgeo.recordings.recording import Recording, read_recording


def read_run(
    files: Sequence[Path],
    optimizer: str | Optimizer | None = None,
    *,
    rate: float | None = None,
    decay: float = 0.0,
    steps: Sequence[int] | None = None,
    corrections: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Recording:
    """Return what was recorded, or what checkpoints in the order of the run come to.

    Args:
        files: a recording alone, or checkpoints. optimizer: of the run.
        rate, decay, steps: of checkpoints: η, λ, and how many steps there were before each.
        corrections: of the norms that the names of the first one propose, by `Checkpoint.of`.
        progress: told after each checkpoint; stopped there, the run ends with it.

    Raises:
        ValueError: files that are neither, or what is missing. OSError: one that can't be read.

    """
    if not are_checkpoints(files):
        return read_recording(files[0], optimizer)
    in_order(files, steps := steps_of(files) if steps is None else steps)
    if rate is None:
        raise Refusal(
            "Checkpoints do not say at which learning rate η they were made. State it, and "
            "the weight decay λ where there is one."
        )
    layers = Checkpoint.of(files[0], **(corrections or {})).proposals
    blocks = {layer.name: _norm_after(layer) for layer in layers}
    with TemporaryDirectory(prefix="normgeo-") as folder:
        path = Path(folder) / "run"
        biases = {layer.name: _bias_of(layer) for layer in layers if _has_bias(layer)}
        with Recorder(path, blocks, optimizer=optimizer, biases=biases) as recorder:
            for file, step in Progress.of(progress).over([*zip(files, steps, strict=True)]):
                recorder.step(_weights(file, layers), rate, decay=decay, at=step)
        return read_recording(path)


def are_checkpoints(files: Sequence[Path]) -> bool:
    """Whether files are checkpoints, and not a recording.

    Raises:
        ValueError: a recording among several.

    """
    recordings = sum(map(is_recording, files))
    if recordings and len(files) > 1:
        raise Refusal(
            "A run is one recording, or two checkpoints and more; {recordings} of these "
            "{files} files are recordings. Give one alone.",
            recordings=recordings,
            files=len(files),
        )
    return not recordings and (len(files) > 1 or files[0].suffix.lower() in SUFFIXES)


def steps_of(files: Sequence[Path]) -> list[int]:
    """The steps that names of checkpoints tell, as `net_500.npz`; 0, 1, 2 … where they do not."""
    found = [re.findall(r"\d+", file.stem) for file in files]
    steps = [int(numbers[-1][:18]) for numbers in found if numbers]
    return steps if len({*steps}) == len(files) else [*range(len(files))]


def _norm_after(layer: Proposal) -> Normalizer:
    """The norm that the outputs of a layer go through alone: no other one frees its scale."""
    return layer.normalizer if layer.place.takes_outputs else NORMALIZERS["standard"]


def _has_bias(layer: Proposal) -> bool:
    """Whether the norm takes a bias of the layer among its weights."""
    return "bias" in layer.module.tensors and _norm_after(layer).takes_bias


def _bias_of(layer: Proposal) -> str:
    return f"{layer.name} (bias)"


def _weights(file: Path, layers: Sequence[Proposal]) -> dict[str, Array]:
    """The rows of each layer by its name; the only tensor of a file may have any name."""
    tensors = {tensor.name: tensor for tensor in list_tensors(file)}
    if len(tensors) == len(layers) == 1:
        tensors = {layers[0].weight.name: next(iter(tensors.values()))}
    found = {}
    for layer in layers:
        tensor = tensors.get(layer.weight.name)
        if tensor is None or tensor.shape != layer.weight.shape:
            raise Refusal(
                "Checkpoints of a run must hold the same weights; {name!r} has the shape "
                "{shape} in the first one, and {other!s} in {file!s}.",
                name=layer.weight.name[:80],
                shape=layer.weight.shape,
                other=text("is missing") if tensor is None else tensor.shape,
                file=file,
            )
        found[layer.name] = layer.arrangement.rows(tensor.read())
        if _has_bias(layer):
            bias = tensors.get(layer.module.tensors["bias"].name)
            if bias is None or (own := layer.arrangement.of_rows(bias.read().ravel())) is None:
                raise Refusal(
                    "Checkpoints of a run must hold the same weights; {name!r} is missing in "
                    "{file!s}.",
                    name=layer.module.tensors["bias"].name[:80],
                    file=file,
                )
            found[_bias_of(layer)] = own
    return found
