"""Tensors of .safetensors files: checked by the library of that name, then memory-mapped.

The library does not read bfloat16 or float8 into NumPy, so numbers are read from the offsets in the
header after the library has checked it.
"""

from __future__ import annotations

import json
import mmap
from collections import Counter
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.datasets.numpy_files import require_at_most
from normgeo.datasets.tensor import Tensor

LONGEST_HEADER: Final = 10 * 10**6
"""Bytes; reading it takes about ten times as much memory. Large models use a tenth of it."""

_PLAIN = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "U16": "<u2",
    "I16": "<i2",
    "U32": "<u4",
    "I32": "<i4",
    "U64": "<u8",
    "I64": "<i8",
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
}
_STORED = {**_PLAIN, "BF16": "<u2", "F8_E5M2": "u1", "F8_E4M3": "u1"}
"""The NumPy type of the numbers in the file, for each type that is read."""


def read_safetensors(path: Path) -> tuple[Tensor, ...]:
    """Return the tensors of a file from its header; their numbers stay in the file.

    Raises:
        ValueError: another file format, a truncated file, or two tensors with one name.
        OSError: the file cannot be read.

    """
    from safetensors import SafetensorError, safe_open

    with path.open("rb") as file:
        first = file.read(8)
        length = int.from_bytes(first, "little")
        size = path.stat().st_size
        if len(first) == 8 and LONGEST_HEADER < length <= size:
            raise Refusal(
                "{path!s} has a header of {length:,} bytes; up to {most:,} are read. Take a "
                "file with fewer tensors.",
                path=path,
                length=length,
                most=LONGEST_HEADER,
            )
        try:
            with safe_open(path, framework="np"):
                pass
        except (SafetensorError, ValueError) as error:
            raise Refusal(
                "{path!s} is no whole file of safetensors ({error!s}).",
                path=path,
                error=str(error)[:200].rstrip("."),
            ) from error
        header = json.loads(file.read(length), object_pairs_hook=lambda pairs: pairs)
    counts = Counter(name for name, _ in header)
    name, times = max(counts.items(), key=lambda item: item[1], default=("", 0))
    if times > 1:
        raise Refusal(
            "The tensors of {path!s} must have names of their own; {name!r} is there {times} "
            "times.",
            path=path,
            name=name[:80],
            times=times,
        )
    described = ((name, dict(pairs)) for name, pairs in header if name != "__metadata__")
    return tuple(
        Tensor(
            name,
            tuple(about["shape"]),
            about["dtype"],
            path.name,
            _loader(path, name, about, 8 + length),
        )
        for name, about in described
    )


def _loader(path: Path, name: str, about: dict[str, Any], start: int) -> Callable[[], Array]:
    kind, shape = about["dtype"], tuple(about["shape"])
    begin, _ = about["data_offsets"]

    def load() -> Array:
        if kind not in _STORED:
            raise Refusal(
                "{name!r} in {path!s} has numbers of type {kind}, which are not read; these "
                "are: {kinds}. Convert it first.",
                name=name[:80],
                path=path,
                kind=kind,
                kinds=", ".join(_STORED),
            )
        stored = np.dtype(_STORED[kind])
        count = prod(shape)
        # Types that NumPy lacks become float32, which is larger.
        require_at_most(count * max(stored.itemsize, 4 * (kind not in _PLAIN)), path)
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        values = np.frombuffer(mapped, stored, count, start + begin).reshape(shape)
        return values if kind in _PLAIN else _widened(kind, values)

    return load


def _widened(kind: str, values: Array) -> Array:
    """Convert a type that NumPy lacks to float32, which represents each number exactly."""
    if kind == "BF16":
        bits: Array = values.astype(np.uint32) << 16
        return np.asarray(bits.view(np.float32))
    if kind == "F8_E5M2":
        half: Array = values.astype(np.uint16) << 8
        return np.asarray(half.view(np.float16).astype(np.float32))
    found: Array = _e4m3()[values]
    return found


def _e4m3() -> Array:
    """The 256 numbers of float8 E4M3: a sign, 4 bits of exponent, 3 of mantissa, no infinity."""
    bits = np.arange(256)
    exponent, mantissa = bits >> 3 & 15, bits & 7
    size = np.where(exponent > 0, np.ldexp(8 + mantissa, exponent - 10), np.ldexp(mantissa, -9))
    size[bits & 127 == 127] = np.nan
    values: Array = np.where(bits < 128, size, -size).astype(np.float32)
    return values
