"""A visitor's files by purpose: contents in memory, or paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from normgeo.base.refusal import Refusal
from normgeo.datasets.in_memory import as_files
from normgeo.datasets.opened import State


@final
@dataclass(frozen=True)
class Given:
    """Files by purpose, in a form that can be sent to another process.

    Attributes:
        contents: the name and the bytes of each uploaded file. opened: paths of the others.

    """

    contents: Mapping[str, Sequence[tuple[str, bytes]]]
    opened: Mapping[str, Sequence[Path]]

    @property
    def size(self) -> int:
        """Their total size in bytes."""
        of_uploads = sum(len(content) for of in self.contents.values() for _, content in of)
        return of_uploads + sum(State.of(path).size for of in self.opened.values() for path in of)

    @contextmanager
    def paths(self) -> Iterator[dict[str, list[Path]]]:
        """Give paths to all files during a `with` block; errors in it show file names only.

        Raises:
            Refusal: as the block does; or an opened file can no longer be read.

        """
        contents = [(what, one) for what, of in self.contents.items() for one in of]
        found = {what: [*paths] for what, paths in self.opened.items()}
        there = {str(path) for paths in found.values() for path in paths}
        with as_files([one for _, one in contents]) as paths:
            for (what, _), path in zip(contents, paths, strict=True):
                found.setdefault(what, []).append(path)
            try:
                yield found
            except OSError as error:
                if str(error.filename) not in there:
                    raise
                raise Refusal(
                    "{name!s} cannot be read any more: {why}. Start `normgeo open` anew.",
                    name=Path(error.filename).name,
                    why=error.strerror,
                ) from None
