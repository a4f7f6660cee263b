"""The named arrays of files and of folders of models, listed before any is read."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from normgeo.base.arguments import file_path, shown
from normgeo.base.refusal import Refusal
from normgeo.datasets.files import SUFFIXES as OF_ARRAYS
from normgeo.datasets.files import Tell, read_array
from normgeo.datasets.model_folders import index_of, is_description, require_whole, resolved
from normgeo.datasets.numpy_files import list_numpy
from normgeo.datasets.other_files import PICKLED, read_pickled, refuse_other
from normgeo.datasets.safetensors_files import read_safetensors
from normgeo.datasets.tensor import Tensor

SUFFIXES = (".safetensors", *OF_ARRAYS)

MOST_TENSORS = 20_000
"""Limit for all files together; the largest models have a tenth of it."""


File = str | PathLike[str]
Files = File | list[File] | tuple[File, ...]


def list_tensors(files: Files, tell: Tell = str) -> tuple[Tensor, ...]:
    """Return the tensors of files from their headers, in the order of the files.

    The folder of a model, or the index of its shards, stands for its files without config.json.
    Nothing is unpickled: PyTorch, if installed, reads the weights of .pt, .pth, .bin and .ckpt.
    These and a .csv have no header, and are read.

    Args:
        files: one path, or several. tell: called with a sentence about a heading left out of a
            .csv.

    Raises:
        ValueError: contents that do not match a file's name, two tensors with one name, too many.
        OSError: a file cannot be read.

    """
    found: list[Tensor] = []
    given = _paths(files)
    for path in resolved(given):
        if is_description(path):
            continue
        found += _of_file(path, tell)
        if len(found) > MOST_TENSORS:
            raise Refusal(
                "The files hold over {most:,} tensors. Give fewer files.", most=MOST_TENSORS
            )
    seen: dict[str, str] = {}
    for tensor in found:
        if tensor.name in seen:
            raise Refusal(
                "Tensors must have names of their own; {name!r} is in {first!s} and in "
                "{second!s}. Give one of the files.",
                name=tensor.name[:80],
                first=seen[tensor.name],
                second=tensor.file,
            )
        seen[tensor.name] = tensor.file
    for path in given:
        if (index := index_of(path)) is not None:
            require_whole(index, seen)
    return tuple(found)


def _paths(files: object) -> list[Path]:
    given = files if isinstance(files, list | tuple) else [files]
    if not given or not all(isinstance(path, str | PathLike) for path in given):
        raise Refusal(
            "`files` must be a path, or a list of paths; got {files}.", files=shown(files)
        )
    return [file_path("files", path) for path in given]


def _of_file(path: Path, tell: Tell) -> tuple[Tensor, ...]:
    suffix = path.suffix.lower()
    refuse_other(path)
    if suffix not in (*SUFFIXES, *PICKLED):
        raise Refusal(
            "Tensors are read from files that end in one of {suffixes}, and from folders of "
            "models; got {path!s}. Save them as .safetensors.",
            suffixes=", ".join((*SUFFIXES, *PICKLED)),
            path=path,
        )
    if path.exists() and not path.is_file() and not path.is_dir():
        raise Refusal("{path!s} is no file but a pipe or a device.", path=path)
    if suffix in PICKLED:
        return read_pickled(path)
    if suffix == ".safetensors":
        return read_safetensors(path)
    if suffix != ".csv":
        return list_numpy(path)
    values = read_array(path.stem, path, tell)
    return (Tensor(path.stem, values.shape, str(values.dtype), path.name, lambda: values),)
