"""Files by what they are for, as a visitor gave them: contents in memory, or paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.in_memory import as_files
from normgeo.datasets.opened import State


@final
@dataclass(frozen=True)
class Given:
    """Files by what they are for, which another process can be given as well.

    Attributes:
        contents: the name and the bytes of each that was uploaded. opened: paths of the others.

    """

    contents: Mapping[str, Sequence[tuple[str, bytes]]]
    opened: Mapping[str, Sequence[Path]]

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        of_uploads = sum(len(content) for of in self.contents.values() for _, content in of)
        return of_uploads + sum(State.of(path).size for of in self.opened.values() for path in of)

    @contextmanager
    def paths(self) -> Iterator[dict[str, list[Path]]]:
        """Give paths for as long as the block lasts; a refusal in it tells names alone.

        Raises:
            Refusal: as the block does; or an opened file cannot be read any more.

        """
        contents = [(what, one) for what, of in self.contents.items() for one in of]
        found = {what: [*paths] for what, paths in self.opened.items()}
        there = {str(path) for paths in found.values() for path in paths}
        with as_files([one for _, one in contents]) as places:
            for (what, _), place in zip(contents, places, strict=True):
                found.setdefault(what, []).append(place)
            try:
                yield found
            except OSError as error:
                if str(error.filename) not in there:
                    raise
                raise Refusal(
                    text(
                        "{name!s} cannot be read any more: {why}. Start `normgeo open` anew.",
                        name=Path(error.filename).name,
                        why=error.strerror,
                    )
                ) from None
