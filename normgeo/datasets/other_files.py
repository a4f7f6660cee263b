"""Other files of weights: PyTorch reads pickled ones; for others there is a line that converts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.numpy_files import require_at_most
from normgeo.datasets.tensor import Tensor

PICKLED = (".pt", ".pth", ".bin", ".ckpt")
"""Kinds that run code when read, unless PyTorch reads weights only."""

INSIDE = ("state_dict", "model_state_dict", "model")
"""Entries of a training checkpoint that contain the weights of its network."""

DEEPEST = 8
"""The deepest level of nested dictionaries to search."""

CONVERTED = {
    ".msgpack": text(
        "Flax has packed {path!s}. With Flax, "
        "numpy.savez('weights.npz', **flatten_dict(msgpack_restore(open({path!r}, 'rb').read()), "
        "sep='/')) makes a file that is read; flatten_dict is in flax.traverse_util and "
        "msgpack_restore in flax.serialization."
    ),
    ".keras": text(
        "{path!s} is a model of Keras, an archive with code. With Keras, "
        "numpy.savez('weights.npz', **{{w.path: w.numpy() for w in "
        "keras.saving.load_model({path!r}).weights}}) makes a file that is read."
    ),
    ".h5": text(
        "{path!s} is a file of HDF5. With h5py, d = {{}}; h5py.File({path!r}).visititems(lambda n, "
        "o: d.update({{n: o[()]}}) if hasattr(o, 'dtype') else None); numpy.savez('weights.npz', "
        "**d) makes a file that is read."
    ),
    ".gguf": text(
        "{path!s} is a file of llama.cpp, whose numbers are mostly quantized. With gguf, "
        "numpy.savez('weights.npz', **{{t.name: gguf.dequantize(t.data, t.tensor_type) for t in "
        "gguf.GGUFReader({path!r}).tensors}}) makes a file that is read."
    ),
}
"""Kinds that are not read → the sentence with a line that converts them."""


def refuse_other(path: Path) -> None:
    """Refuse a file of a known kind that is not read, with the line that converts it."""
    if (sentence := CONVERTED.get(path.suffix.lower())) is not None:
        raise Refusal(sentence, path=str(path))


def read_pickled(path: Path) -> tuple[Tensor, ...]:
    """Return the tensors of a file of PyTorch, reading weights only and running no code.

    Raises:
        ValueError: PyTorch is missing, or it is no file of weights. OSError: it cannot be read.

    """
    try:
        torch = import_module("torch")
    except ImportError as error:
        raise Refusal(
            "{path!s} is pickled, which runs code when it is read, and PyTorch, which reads "
            "its weights alone, is not installed here. Where it is, "
            "safetensors.torch.save_file(torch.load({path!r}, weights_only=True), "
            "'weights.safetensors') makes a file that is read.",
            path=str(path),
        ) from error
    require_at_most(path.stat().st_size, path)
    try:
        with ZipFile(path) as archive:
            require_at_most(sum(entry.file_size for entry in archive.infolist()), path)
    except BadZipFile:
        pass  # PyTorch's format until 2020; its size is that of its contents
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # PyTorch does not document its errors
        raise Refusal(
            "PyTorch reads no weights alone from {path!s} ({error!s}). Save its state_dict.",
            path=path,
            error=str(error)[:200].split("\n")[0].rstrip("."),
        ) from error
    if isinstance(held, Mapping):
        held = next((held[key] for key in INSIDE if isinstance(held.get(key), Mapping)), held)
    found = tuple(_tensors(held, path))
    if not found:
        raise Refusal("{path!s} holds no tensors by name. Save a model's state_dict.", path=path)
    return found


def _tensors(held: Any, path: Path, above: str = "", depth: int = 0) -> Iterator[Tensor]:
    for name, value in held.items() if isinstance(held, Mapping) else ():
        whole = f"{above}{name}"
        if isinstance(value, Mapping) and depth < DEEPEST:
            yield from _tensors(value, path, f"{whole}.", depth + 1)
        elif hasattr(value, "detach") and hasattr(value, "shape"):
            kind = str(value.dtype).rpartition(".")[2]
            yield Tensor(whole, tuple(map(int, value.shape)), kind, path.name, _loader(value))


def _loader(value: Any) -> Any:
    def load() -> Array:
        kept = value.detach()
        if str(kept.dtype).rpartition(".")[2] in {"bfloat16", "float8_e4m3fn", "float8_e5m2"}:
            kept = kept.float()  # types that NumPy lacks; float32 represents each exactly
        return np.asarray(kept.numpy())

    return load
