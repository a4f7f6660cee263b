"""Arrays as NumPy writes them, .npy and .npz, measured before anything is allocated."""

from __future__ import annotations

import math
import os
import zlib
from io import BytesIO
from pathlib import Path
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text

LARGEST = 512 * 10**6
"""Bytes of an array that are read from a file."""

_LONGEST_HEADER = 16_384  # bytes
_NAMES = 10  # of an archive's arrays, in a sentence


def read_numpy(name: str, path: Path) -> Array:
    """Return the array of an .npy file; of an .npz the one called `name`, or its only one.

    Raises:
        ValueError: no array of numbers, or one of over `LARGEST` bytes. OSError: no such file.

    """
    with path.open("rb") as file:
        zipped = file.read(2) == b"PK"
        file.seek(0)
        try:
            if not zipped:
                return _array(file, os.fstat(file.fileno()).st_size, path)
            with ZipFile(file) as archive:
                entry = _entry(archive, name, path)
                with archive.open(entry) as stream:
                    # What a stream holds beyond its declared size is never unpacked.
                    return _array(stream, entry.file_size, path)
        except Refusal:
            raise
        except (ValueError, EOFError, BadZipFile, NotImplementedError, zlib.error) as error:
            raise Refusal(
                text(
                    "{path!s} holds no array of numbers as NumPy writes them with `np.save` or "
                    "`np.savez` ({error!s}).",
                    path=path,
                    error=str(error).rstrip("."),
                )
            ) from error


def require_at_most(size: int, path: Path, most: int = LARGEST) -> None:
    """Refuse a file whose content takes too many bytes."""
    if size > most:
        raise Refusal(
            text(
                "{path!s} holds {size}; up to {most} are read. Take fewer cases or features.",
                path=path,
                size=megabytes(size),
                most=megabytes(most),
            )
        )


def megabytes(size: int) -> str:
    """Return a number of bytes in megabytes.

    >>> megabytes(512_000_000), megabytes(8 * 10**12)
    ('512 MB', '8,000,000 MB')

    """
    return f"{size / 1e6:,.0f} MB" if size < 10**18 else text("over a million terabytes")


def _entry(archive: ZipFile, name: str, path: Path) -> ZipInfo:
    entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
    if name not in entries and len(entries) != 1:
        names = ", ".join(list(entries)[:_NAMES]) + (", …" if len(entries) > _NAMES else "")
        raise Refusal(
            text(
                "{path!s} must hold one array, or one with the name {name!r}; it holds {names!s}.",
                path=path,
                name=name,
                names=names or text("none"),
            )
        )
    entry = entries.get(name) or next(iter(entries.values()))
    if entry.flag_bits & 1:
        raise ValueError("it is encrypted")
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        # Other methods unpack whole blocks, whatever size is declared.
        raise ValueError("it is compressed in a way that NumPy does not write")
    require_at_most(entry.file_size, path, LARGEST + npy.BUFFER_SIZE)
    return entry


def _array(file: IO[bytes], size: int, path: Path) -> Array:
    """Read an array, after a look at what its header says and at what there is of it."""
    head = BytesIO(file.read(_LONGEST_HEADER))  # a header may claim to be 4 GB long
    version = npy.read_magic(head)
    if version not in _HEADERS:
        raise ValueError(f"the version {version} of its format holds no numbers")
    shape, fortran_order, dtype = _HEADERS[version](head)
    if dtype.hasobject:
        raise ValueError("Object arrays cannot be loaded when allow_pickle=False")
    if any(length < 0 for length in shape):
        raise ValueError(f"its shape is {shape}")
    bytes_of_array = math.prod(shape) * dtype.itemsize
    require_at_most(bytes_of_array, path)
    if bytes_of_array > size - head.tell():
        raise EOFError(f"it is cut short: its header says {bytes_of_array:,} bytes of numbers")
    file.seek(head.tell())
    flat = np.frombuffer(file.read(bytes_of_array), dtype=dtype)
    return flat.reshape(shape, order="F" if fortran_order else "C")


_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
