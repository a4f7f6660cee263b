"""Arrays in NumPy's files, .npy and .npz, with sizes checked before anything is allocated."""

from __future__ import annotations

import math
import os
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any, final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.tensor import Tensor

LARGEST = 512 * 10**6
"""Largest size, in bytes, of an array read from a file."""

_LONGEST_HEADER = 16_384  # bytes
_LONG_INTEGER = re.compile(rb"(\d *)L")  # Python 2 wrote the numbers of a shape like this
_NAMES = 10  # array names listed in a sentence
_MOST_ENTRIES = 10_000  # files in an archive
_PACKED = 100  # largest ratio of unpacked to packed size; numbers hardly ever exceed it
_SMALL = 50 * 10**6  # bytes that any entry may unpack to
_HEADERS_OF_ALL = 10**7  # bytes that an archive's headers may add to its numbers


def read_numpy(name: str, path: Path) -> Array:
    """Return the array of an .npy file; of an .npz the one called `name`, or its only one.

    Raises:
        ValueError: no array of numbers, or more than `LARGEST` bytes. OSError: no such file.

    """
    with opened(path) as (file, archive):
        if archive is None:
            return _array(file, os.fstat(file.fileno()).st_size, path)
        return _member(archive, _entry(archive, name, path), path)


def list_numpy(path: Path) -> tuple[Tensor, ...]:
    """Return the arrays of an .npy file, which is then mapped, or of an .npz, by their headers.

    Raises:
        ValueError: not of NumPy, or arrays of more than `LARGEST` bytes together. OSError: no such
            file.

    """
    with opened(path) as (file, archive):
        if archive is None:
            head = Header.read(file, os.fstat(file.fileno()).st_size, path)
            return (head.tensor(path.stem, path, lambda: head.mapped(path)),)
        entries = archive.infolist()
        if len(entries) > _MOST_ENTRIES:
            raise ValueError(f"it has {len(entries):,} entries")
        require_at_most(sum(entry.file_size for entry in entries), path, LARGEST + _HEADERS_OF_ALL)
        found = []
        for entry in entries:
            _require_plain(entry, path)
            with archive.open(entry) as stream:
                head = Header.read(stream, entry.file_size, path)
            name = entry.filename.removesuffix(".npy")
            found.append(head.tensor(name, path, partial(_read_entry, path, entry)))
        return tuple(found)


def _read_entry(path: Path, entry: ZipInfo) -> Array:
    with opened(path) as (_, archive):
        if archive is None:
            raise ValueError("it is no archive any more")
        return _member(archive, entry, path)


# An archive with false offsets makes Python seek to an impossible position, and a damaged header
# makes NumPy parse it as Python 2 wrote it.
_NOT_AS_WRITTEN = (
    ValueError,
    TypeError,
    EOFError,
    OSError,
    OverflowError,
    SyntaxError,
    RecursionError,
    TokenError,
    BadZipFile,
    NotImplementedError,
    struct.error,
    zlib.error,
)


@contextmanager
def opened(path: Path) -> Iterator[tuple[IO[bytes], ZipFile | None]]:
    """Open a file, with its archive if it is one; errors become sentences."""
    with path.open("rb") as file:
        zipped = file.read(2) == b"PK"
        file.seek(0)
        try:
            with ZipFile(file) if zipped else nullcontext() as archive:
                yield file, archive
        except Refusal:
            raise
        except _NOT_AS_WRITTEN as error:
            raise Refusal(
                "{path!s} holds no array of numbers as NumPy writes them with `np.save` or "
                "`np.savez` ({error!s}).",
                path=path,
                error=str(error)[:200].rstrip("."),
            ) from error


def require_at_most(size: int, path: Path, most: float = LARGEST) -> None:
    """Refuse a file whose contents are too large."""
    if size > most:
        raise Refusal(
            "{path!s} holds {size}; up to {most} are read. Take fewer cases or features.",
            path=path,
            size=megabytes(size),
            most=megabytes(most),
        )


def megabytes(size: float) -> str:
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
            "{path!s} must hold one array, or one with the name {name!r}; it holds {names!s}.",
            path=path,
            name=name,
            names=names or text("none"),
        )
    entry = entries.get(name) or next(iter(entries.values()))
    _require_plain(entry, path)
    return entry


def _require_plain(entry: ZipInfo, path: Path) -> None:
    if entry.flag_bits & 1:
        raise ValueError("it is encrypted")
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        # Other methods unpack whole blocks, whatever the declared size.
        raise ValueError("it is compressed in a way that NumPy does not write")
    require_at_most(entry.file_size, path, LARGEST + npy.BUFFER_SIZE)
    if entry.file_size > max(_SMALL, _PACKED * entry.compress_size):
        raise Refusal(
            "{path!s} unpacks {size} from {packed}, more than {most} times as much. Save it "
            "with `np.savez`, which does not pack.",
            path=path,
            size=megabytes(entry.file_size),
            packed=megabytes(entry.compress_size),
            most=_PACKED,
        )


def _member(archive: ZipFile, entry: ZipInfo, path: Path) -> Array:
    with archive.open(entry) as stream:
        # Bytes of a stream beyond its declared size are never unpacked.
        return _array(stream, entry.file_size, path)


@final
@dataclass(frozen=True)
class Header:
    """An array's header, checked against the file's size."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]
    offset: int

    @classmethod
    def read(cls, file: IO[bytes], size: int, path: Path, most: float = LARGEST) -> Header:
        """Read the header of a file of `size` bytes; raise if it declares more than there is."""
        # A header may claim to be 4 GB long.
        head = BytesIO(_LONG_INTEGER.sub(rb"\1 ", file.read(_LONGEST_HEADER)))
        version = npy.read_magic(head)
        if version not in _HEADERS:
            raise ValueError(f"the version {version} of its format holds no numbers")
        shape, fortran_order, dtype = _HEADERS[version](head)
        if dtype.hasobject:
            raise ValueError("Object arrays cannot be loaded when allow_pickle=False")
        if any(isinstance(length, bool) or length < 0 for length in shape):
            raise ValueError(f"its shape is {shape}")
        if not dtype.itemsize or dtype.subdtype:
            raise ValueError(f"its numbers are of the type {dtype}")
        found = cls(shape, fortran_order, dtype, head.tell())
        require_at_most(found.size, path, most)
        if found.size > size - found.offset:
            raise EOFError(f"it is cut short: its header says {found.size:,} bytes of numbers")
        return found

    @property
    def size(self) -> int:
        """Size of the numbers in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def of(self, numbers: bytes | mmap) -> Array:
        """Return the array from bytes that start with its numbers or, if mapped, with the file."""
        start = self.offset if isinstance(numbers, mmap) else 0
        flat = np.frombuffer(numbers, self.dtype, math.prod(self.shape), start)
        return flat.reshape(self.shape, order="F" if self.fortran_order else "C")

    def mapped(self, path: Path) -> Array:
        """The array as a view of the file."""
        with path.open("rb") as file:
            return self.of(mmap(file.fileno(), 0, access=ACCESS_READ))

    def tensor(self, name: str, path: Path, load: Callable[[], Array]) -> Tensor:
        return Tensor(name, self.shape, str(self.dtype), path.name, load)


def _array(file: IO[bytes], size: int, path: Path) -> Array:
    """Read an array whose size its header declares."""
    head = Header.read(file, size, path)
    file.seek(head.offset)
    return head.of(file.read(head.size))


_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
