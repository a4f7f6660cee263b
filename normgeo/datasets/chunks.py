"""The rows of a Dask array, processed chunk by chunk where they are, with one merged result.

Dask is imported only if the caller has made an array with it; the tasks run on the cluster in use,
or in threads without one. This module schedules nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import accumulate
from math import isnan
from typing import Any, NamedTuple, TypeVar, cast, final
from weakref import WeakKeyDictionary

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal

T = TypeVar("T")

AT_ONCE = 8
"""Results of neighboring chunks merged by one task."""


def is_dask(source: Any) -> bool:
    """Whether it is a Dask array, without importing Dask."""
    return all(hasattr(source, name) for name in ("dask", "chunks", "to_delayed"))


class Work(NamedTuple):
    """The common arguments of the tasks of one pass."""

    step: Callable[..., Any]
    merge: Callable[[Any, Any], Any]


@final
@dataclass(frozen=True, eq=False)
class Chunks:
    """A Dask array (N, D), or (N,), in chunks of whole rows.

    Attributes:
        array: the Dask array.

    """

    array: Any
    _sent: WeakKeyDictionary[Any, tuple[Any, Any]] = field(default_factory=WeakKeyDictionary)

    @classmethod
    def of(cls, array: Any) -> Chunks:
        """Check a Dask array.

        Raises:
            ValueError: it is no matrix, its rows are split among chunks, or their number is
                unknown.

        """
        if array.ndim not in (1, 2):
            raise Refusal(
                "A Dask array of rows must have one or two axes, a row for each case; got "
                "shape {shape}.",
                shape=array.shape,
            )
        if any(isnan(size) for size in array.shape):
            raise Refusal(
                "The rows of a Dask array must be counted; got one of unknown shape. Call its "
                "`compute_chunk_sizes()` first."
            )
        if array.ndim == 2 and len(array.chunks[1]) > 1:
            raise Refusal(
                "A chunk of a Dask array must hold whole rows; got chunks of {widths} columns. "
                "Use X.rechunk({{1: -1}}).",
                widths=array.chunks[1],
            )
        return cls(array)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of rows in each chunk."""
        return cast("tuple[int, ...]", self.array.chunks[0])

    def cut_as(self, other: Chunks) -> Chunks:
        """Return the same rows, in the same chunks as `other`."""
        return self if self.sizes == other.sizes else Chunks(self.array.rechunk({0: other.sizes}))

    def cut(self, values: Array) -> Any:
        """Turn an array with the same number of rows into a Dask array with the same chunks."""
        import dask.array

        return dask.array.from_array(  # type: ignore[no-untyped-call]
            values, chunks=(self.sizes, *values.shape[1:])
        )

    def gathered(
        self,
        step: Callable[..., T],
        merge: Callable[[T, T], T],
        given: Sequence[Any],
        beside: Sequence[Chunks],
    ) -> T:
        """Run a step on each chunk, merge the results on the workers, and return one result.

        Args:
            step: called with the number of the chunk's first row, a list of the chunk and those
                `beside` it, and `given`. merge: merges the results of neighbors, in order.
            given: the same for all chunks; sent once, and kept on the workers as long as here.
            beside: other arrays in the same chunks.

        """
        from dask.delayed import delayed

        client = _client()
        run, join = (delayed(function, pure=False) for function in (_run, _join))
        work = _held(client, Work(step, merge))
        kept = [self._kept(client, value) for value in given]
        starts = accumulate(self.sizes, initial=0)
        pieces = zip(*(chunks.pieces for chunks in (self, *beside)), strict=True)
        found = [
            run(work, start, list(each), *kept)
            for start, size, each in zip(starts, self.sizes, pieces, strict=False)
            if size
        ]
        while len(found) > 1:
            some = (found[i : i + AT_ONCE] for i in range(0, len(found), AT_ONCE))
            found = [join(work, *each) for each in some]
        (answer,) = found
        result = answer.compute() if client is None else client.compute(answer).result()
        return cast(T, result)

    @cached_property
    def pieces(self) -> list[Any]:
        """The chunks, each computed by one task."""
        return list(self.array.to_delayed().reshape(-1))

    def _kept(self, client: Any, value: Any) -> Any:
        of, held = self._sent.get(value, (None, None))
        if held is None or of is not client:
            held = _held(client, value)
            self._sent[value] = client, held
        return held


def _client() -> Any:
    """The cluster in use, or None; a caller with a cluster has imported its module."""
    distributed = sys.modules.get("distributed")
    try:
        return distributed and distributed.get_client()
    except ValueError:
        return None


def _held(client: Any, value: Any) -> Any:
    """A value as a separate task, so that each worker receives it once.

    If the worker that holds it dies, the cluster restores it from the scheduler.
    """
    from dask.delayed import delayed

    if client is None:
        return delayed(value, pure=False, traverse=False)
    return client.submit(_itself, value, pure=False)


def _itself(value: T) -> T:
    return value


def _run(work: Work, start: int, chunks: list[Any], *given: Any) -> Any:
    return work.step(start, chunks, *given)


def _join(work: Work, *answers: Any) -> Any:
    return reduce(work.merge, answers)
