"""Files that are read in blocks of rows, from the beginning for each pass."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.datasets.files import NUMBERS, first_line, misplaced, no_text
from normgeo.datasets.numpy_files import Header, opened

Pieces = Callable[[int | None], Iterator[Array]]
"""Yields the rows of a source from the first one, in arrays of the given length; None: any."""

CACHED = 2**17
"""Numbers in a block of unspecified length: 1 MB, which fits into a processor's cache.

With twice as many, every temporary array is new memory from the system, and a pass takes half as
long again."""


def suiting(columns: int) -> int:
    """Return the number of rows, at least 1, that make about `CACHED` numbers.

    >>> suiting(64)
    2048

    """
    return CACHED // max(1, min(columns, CACHED))


def pieces_of_file(path: Path) -> tuple[Pieces, int | None]:
    """Return a reader of the rows of a file, and their number if its header states it.

    Raises:
        ValueError: another kind of file, or one without such rows. OSError: no such file.

    """
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise Refusal(
            "Rows are read in blocks from files that end in one of {suffixes}; got {path!s}.",
            suffixes=", ".join(READERS),
            path=path,
        )
    return READERS[suffix](path)


def _numpy(path: Path) -> tuple[Pieces, int | None]:
    return partial(_numpy_pieces, path), _header(path).shape[0]


def _header(path: Path) -> Header:
    with opened(path) as (file, archive):
        if archive is not None:
            raise Refusal(
                "The arrays of {path!s} are compressed as a whole; save X by itself with "
                "`np.save`, and give the .npy file.",
                path=path,
            )
        head = Header.read(file, os.fstat(file.fileno()).st_size, path, math.inf)
    if len(head.shape) not in (1, 2) or head.dtype.kind not in "fbui":
        raise Refusal(
            "{path!s} must hold a matrix of real numbers, a row for each case; it holds an "
            "array of shape {shape} with elements of type {kind}.",
            path=path,
            shape=head.shape,
            kind=head.dtype,
        )
    return head


def _numpy_pieces(path: Path, block: int | None) -> Iterator[Array]:
    # Read, not mapped: memory is freed after each block, and counts against no limit.
    head = _header(path)
    N, D = (*head.shape, 1)[:2]
    step = block or suiting(max(1, D))
    with path.open("rb") as file:
        for start in range(0, N, step):
            n = min(step, N - start)
            if not head.fortran_order:
                yield _read(file, head, start * D, n * D, path).reshape(n, D)
                continue
            rows = np.empty((n, D), head.dtype)
            for d in range(D):
                rows[:, d] = _read(file, head, d * N + start, n, path)
            yield rows


def _read(file: IO[bytes], head: Header, first: int, count: int, path: Path) -> Array:
    """Read numbers from number `first` on, in the order of the file."""
    file.seek(head.offset + first * head.dtype.itemsize)
    found = file.read(count * head.dtype.itemsize)
    if len(found) < count * head.dtype.itemsize:
        raise Refusal("{path!s} became shorter while it was read. Begin again.", path=path)
    return np.frombuffer(found, head.dtype)


def _text(path: Path) -> tuple[Pieces, int | None]:
    with path.open("rb"):
        return partial(_text_pieces, path), None


def _text_pieces(path: Path, block: int | None) -> Iterator[Array]:
    import pandas

    heading = False
    try:
        first, heading = first_line(path)
        step = block or suiting(max(1, len(first)))
        with pandas.read_csv(path, skiprows=int(heading), chunksize=step, **NUMBERS) as tables:
            for table in tables:
                if any(dtype.kind not in "iuf" for dtype in table.dtypes):
                    raise Refusal(misplaced(path, heading) or no_text(path, table.dtypes.iloc[-1]))
                yield np.ascontiguousarray(table.to_numpy(np.float64))
    except pandas.errors.EmptyDataError:
        return  # the caller reports a file without rows
    except (UnicodeDecodeError, csv.Error) as error:
        raise Refusal(no_text(path, error)) from error
    except pandas.errors.ParserError as error:
        raise Refusal(misplaced(path, heading) or no_text(path, error)) from error


def _parquet(path: Path) -> tuple[Pieces, int | None]:
    with _parquet_file(path) as file:
        return partial(_parquet_pieces, path), file.metadata.num_rows


@contextmanager
def _parquet_file(path: Path) -> Iterator[Any]:
    """Open a file; errors while reading it name the file."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            yield file
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # errors of the disk, like a missing file
        raise Refusal(
            "{path!s} is no whole Parquet file ({error!s}).",
            path=path,
            error=" ".join(str(error).split())[:200].rstrip("."),
        ) from error


def _parquet_pieces(path: Path, block: int | None) -> Iterator[Array]:
    with _parquet_file(path) as file:
        step = block or suiting(max(1, len(file.schema_arrow)))
        for batch in file.iter_batches(step):
            columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            for name, column in zip(batch.schema.names, columns, strict=True):
                if column.dtype.kind not in "fbui":
                    raise Refusal(
                        "Every column of {path!s} must hold numbers; {name!r} does not. Write "
                        "a file without it.",
                        path=path,
                        name=name,
                    )
            yield np.column_stack(columns)


READERS: dict[str, Callable[[Path], tuple[Pieces, int | None]]] = {
    ".npy": _numpy,
    ".csv": _text,
    ".parquet": _parquet,
}
