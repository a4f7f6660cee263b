"""Cases in blocks of rows, read again for each pass: data larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np
from numpy.typing import DTypeLike

from normgeo.base.arguments import file_path, real_number, shown, whole_number
from normgeo.base.arrays import (
    Array,
    as_array,
    real_array,
    require_extent,
    require_unmasked,
)
from normgeo.base.progress import Progress, Report, Stop
from normgeo.base.refusal import Refusal
from normgeo.datasets.chunks import Chunks, is_dask
from normgeo.datasets.row_files import Pieces, pieces_of_file, suiting

T = TypeVar("T")

KINDS = ("float32", "float64")


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of X (N, D), or of y, in blocks; functions of this library accept it as X.

    Memory holds one block at a time, for any N. Each pass reads all rows again, so the source must
    be able to restart.

    Attributes:
        pieces: called for each pass with `block` as a wish; yields arrays (n, D) of any n.
        block: rows of a block; None for as many as fit into a processor's cache.
        dtype: float32 or float64, for all computations; None for the type used if X were in memory.
        count: N, if known beforehand.
        progress: called with (rows done, rows) after each block of each pass, or at its end on a
            cluster.
        chunks: of a Dask array; None if the rows are read here.
        start: the number of the first row, if the rows are a part of others.

    """

    pieces: Pieces
    block: int | None = None
    dtype: np.dtype[Any] | None = None
    count: int | None = None
    progress: Progress = field(default_factory=Progress)
    chunks: Chunks | None = None
    start: int = 0

    @classmethod
    def of(
        cls,
        source: Any,
        *,
        block: int | None = None,
        dtype: DTypeLike | None = None,
        progress: Report | Progress | None = None,
    ) -> Rows:
        """Return rows from a file, arrays, a Dask array, or a function that yields them.

        Args:
            source: the path of an .npy, .csv or .parquet file; an array, memory-mapped or with
                slices as one; a Dask array; a sequence of arrays (n, D); or a function without
                arguments that returns an iterator of such arrays, the same ones each time. One axis
                is a column.
            block: rows of a block, 1 or more. dtype: float32 or float64, like the attribute.
            progress: called with (rows done, rows); a stop ends the reading, which has no partial
                result and raises `Stop`.

        Raises:
            ValueError: no such source, or bad arguments. OSError: a file cannot be read.

        >>> rows = Rows.of([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], block=2)
        >>> [len(block) for block in rows.blocks()]
        [2, 1]

        """
        if block is not None:
            block = whole_number("block", block, 1)
        kind = None if dtype is None else _computed_in(dtype)
        chunks = Chunks.of(source) if is_dask(source) else None
        pieces, count = _pieces(source)
        return cls(pieces, block, kind, count, Progress.of(progress), chunks)

    def blocks(self, sizes: Iterable[int] | None = None) -> Iterator[Array]:
        """Yield all rows once, in blocks (n, D) of floats.

        Args:
            sizes: of the blocks, if prescribed.

        Raises:
            ValueError: pieces that are not matrices of numbers, or have different numbers of
                columns.
            Stop: the progress was stopped.

        """
        done = 0
        for rows in _regrouped(self._matrices(), self.block, sizes):
            kind = self.dtype or _floats(rows.dtype)
            with np.errstate(over="ignore"):
                floats = rows.astype(kind.newbyteorder("="), copy=False)
            yield floats
            done += len(rows)
            if not self.progress.tell(done, max(done, self.count or 0)):
                raise Stop

    def gathered(
        self,
        step: Callable[..., T],
        merge: Callable[[T, T], T],
        *given: Any,
        beside: Sequence[Rows] = (),
    ) -> T:
        """Return the result of a step over all rows in one pass, here or on the rows' cluster.

        Args:
            step: called with these rows, those beside them, and `given`; on a cluster, with a part
                of the rows. It must be self-contained.
            merge: merges the results of some rows and of those that follow.
            given: common to all passes; each worker of a cluster receives it once.
            beside: other rows of the same cases, in the same chunks if these have chunks.

        Raises:
            Stop: the progress was stopped.

        """
        each = (self, *beside)
        if self.chunks is None or not self.count:
            return step(*each, *given)
        options = [(rows.block, rows.dtype) for rows in each]

        def at_chunks(start: int, chunks: list[Array], *given: Any) -> T:
            parts = [
                replace(Rows.of(X, block=block, dtype=dtype), start=start)
                for X, (block, dtype) in zip(chunks, options, strict=True)
            ]
            return step(*parts, *given)

        others = [rows.chunks for rows in beside if rows.chunks is not None]
        found = self.chunks.gathered(at_chunks, merge, given, others)
        if not self.progress.tell(self.count, self.count):
            raise Stop
        return found

    def scaled(self, delta: float) -> Rows:
        """Return the rows δX, computed while reading."""
        delta = real_number("delta", delta)
        return replace(
            self,
            pieces=lambda block: (delta * np.asarray(X) for X in self.pieces(block)),
            chunks=None if self.chunks is None else Chunks(delta * self.chunks.array),
        )

    def cut_as(self, other: Rows) -> Rows:
        """Return the same rows in the chunks of others, if those have chunks.

        Raises:
            ValueError: the rows are read here, which a cluster cannot do.

        """
        if other.chunks is None:
            return self
        if self.chunks is None:
            raise Refusal(
                "Beside a Dask array `y` must be one too, or an array in memory; got Rows "
                "that are read here. Use dask.array.from_array or from_npy_stack."
            )
        return replace(self, chunks=self.chunks.cut_as(other.chunks))

    def _matrices(self) -> Iterator[Array]:
        columns = None
        for piece in self.pieces(self.block):
            require_unmasked("rows", piece)
            rows = _numbers_of(piece)
            if rows.ndim == 1:
                rows = rows[:, None]
            if rows.ndim != 2 or rows.dtype.kind not in "fbui" or not rows.shape[1]:
                raise Refusal(
                    "Rows must come as matrices (n, D) of real numbers; got an array of shape "
                    "{shape} with elements of type {kind}.",
                    shape=rows.shape,
                    kind=rows.dtype,
                )
            columns = columns or rows.shape[1]
            if rows.shape[1] != columns:
                raise Refusal(
                    "All rows must have equally many columns: the first have {first}, later "
                    "ones {here}.",
                    first=columns,
                    here=rows.shape[1],
                )
            if len(rows):
                yield rows

    if not TYPE_CHECKING:  # or type checkers take it for an array

        def __array__(self, *_: Any, **__: Any) -> Array:
            """Refuse a conversion to one array.

            Raises:
                Refusal: always.

            """
            raise Refusal(
                "Rows in blocks are meant not to be in memory, which this needs; use "
                "`fisher`, `kl`, `gain_metric`, `null_space`, or the model's `gradient` and "
                "`log_likelihood`, or np.concatenate(list(rows.blocks()))."
            )


def as_rows(X: Any) -> Any:
    """Return the rows of a Dask array; anything else unchanged."""
    return Rows.of(X) if is_dask(X) else X


def _computed_in(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError, RuntimeError):
        kind = None
    if kind is None or kind.name not in KINDS:
        raise Refusal("`dtype` must be float32, float64 or None; got {kind}.", kind=shown(dtype))
    return kind


def _pieces(source: Any) -> tuple[Pieces, int | None]:
    """Return a function that yields the pieces of a source, and the number of rows if known."""
    if isinstance(source, str | Path):
        return pieces_of_file(file_path("source", source))
    if hasattr(source, "__getitem__") and np.ndim(getattr(source, "shape", 0)) and source.shape:
        require_unmasked("source", source)
        require_extent("source", source)
        return partial(_slices, source), int(source.shape[0])
    if isinstance(source, Sequence) and all(hasattr(piece, "shape") for piece in source):
        return lambda block: iter(source), None
    if isinstance(source, list | tuple):
        numbers = real_array("source", source, 1, 2)
        return partial(_slices, numbers), len(numbers)
    if callable(source):
        return partial(_given, source), None
    raise Refusal(
        "Rows come from the path of a file, an array, a sequence of arrays, or a function that "
        "returns an iterator of arrays; got {source}. An iterator itself can't begin again: "
        "give the function that makes it.",
        source=shown(source),
    )


def _given(source: Callable[[], Any], block: int | None) -> Iterator[Array]:
    found = source()
    if not isinstance(found, Iterable):
        raise Refusal(
            "The function that gives the rows must return an iterator of arrays (n, D); got "
            "{found}.",
            found=shown(found),
        )
    return iter(found)


def _numbers_of(piece: Any) -> Array:
    try:
        return as_array("rows", piece)
    except Refusal:
        raise
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        raise Refusal(
            "Rows must come as matrices (n, D) of real numbers; got {piece}.", piece=shown(piece)
        ) from error


def _floats(kind: np.dtype[Any]) -> np.dtype[Any]:
    """The floating-point type in which numbers of a type are computed."""
    return kind if kind.kind == "f" and kind.itemsize <= 8 else np.dtype(np.float64)


def _slices(source: Any, block: int | None) -> Iterator[Array]:
    N = source.shape[0]
    step = block or suiting(source.shape[1] if len(source.shape) > 1 else 1)
    return (source[start : start + step] for start in range(0, N, step))


def _regrouped(
    pieces: Iterator[Array], block: int | None, sizes: Iterable[int] | None
) -> Iterator[Array]:
    """Split and join matrices to the given numbers of rows; the last one has the remaining rows."""
    wanted, held, left = None if sizes is None else iter(sizes), list[Array](), 0
    for piece in pieces:
        if wanted is None:
            wanted = repeat(block or suiting(piece.shape[1]))
        start = 0
        while start < len(piece):
            left = left or whole_number("sizes", next(wanted, len(piece)), 1)
            rows = piece[start : start + left]
            held.append(rows)
            start += len(rows)
            left -= len(rows)
            if not left:
                yield held[0] if len(held) == 1 else np.concatenate(held)
                held = []
    if held:
        yield held[0] if len(held) == 1 else np.concatenate(held)
