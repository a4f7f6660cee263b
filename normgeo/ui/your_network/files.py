"""The files that a session looks at: uploads, in memory and within a budget, or opened ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import final
from weakref import WeakSet

import streamlit as st

from normgeo.base.budget import MEGABYTE, memory
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.in_memory import as_files
from normgeo.datasets.opened import State, opened

ONE = 50 * MEGABYTE
"""Bytes of the uploads of a session together; Streamlit takes no larger file (`maxUploadSize`)."""
ALL = 400 * MEGABYTE
"""Bytes of the uploads of all sessions of a server."""

WEIGHTS, RUN = "weights", "training"
"""What files are for: a layer, or a recorded run; EXTRA is what else is known of the layer."""

Content = tuple[str, bytes]  # a name, and what it names

_HELD = "_own_files"
_ALIVE: WeakSet[Files] = WeakSet()  # those of all sessions, for their size alone
_BUDGET = Lock()

TURN = Lock()
"""Reports are made one at a time: each takes some times the memory of what it reads."""


@final
@dataclass(eq=False)
class Files:
    """The files of a session; its uploads are here and nowhere else.

    Attributes:
        uploaded: by what they are for. changes: how often these changed.
        left: WEIGHTS or RUN, where what ships is looked at though another one has been opened.

    """

    uploaded: dict[str, list[Content]] = field(default_factory=dict)
    changes: int = 0
    left: set[str] = field(default_factory=set)

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return sum(len(content) for of in self.uploaded.values() for _, content in of)

    def uploads(self, what: str) -> bool:
        """Whether files for this have been uploaded."""
        return bool(self.uploaded.get(what))

    def _opened(self, what: str) -> list[Path]:
        of = RUN if what == RUN else WEIGHTS
        if of in self.left or self.uploads(of):
            return []
        return [*opened().files.get(what, ())]

    def names(self, what: str) -> list[str]:
        """The names of the files for this."""
        uploaded = [name for name, _ in self.uploaded.get(what, ())]
        return uploaded or [path.name for path in self._opened(what)]

    def state(self, *whats: str) -> object:
        """What differs where any of the files for these does."""
        return self.changes, [State.of(path) for what in whats for path in self._opened(what)]

    @contextmanager
    def paths(self, *whats: str) -> Iterator[dict[str, list[Path]]]:
        """Give paths for as long as the block lasts; a refusal in it tells names alone.

        Raises:
            Refusal: as the block does; or an opened file cannot be read any more.

        """
        contents = [(what, one) for what in whats for one in self.uploaded.get(what, ())]
        found = {what: self._opened(what) for what in whats if not self.uploads(what)}
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


def files() -> Files:
    """What this session looks at."""
    here: Files = st.session_state.setdefault(_HELD, Files())
    with _BUDGET:
        _ALIVE.add(here)
    return here


def hold(what: str, contents: list[Content]) -> None:
    """Hold uploads in place of those before, within the budget; where it is exceeded, none.

    Raises:
        Refusal: they are too large, or those of all sessions are.

    """
    here, size = files(), sum(len(content) for _, content in contents)
    with _BUDGET:
        here.uploaded.pop(what, None)
        here.changes += 1
        if here.size + size > ONE:
            raise Refusal(
                text(
                    "The files of a session may take {most} together; these take {size}. Use "
                    "`python -m normgeo open`, which takes larger ones.",
                    most=memory(ONE),
                    size=memory(here.size + size),
                )
            )
        if sum(one.size for one in _ALIVE) + size > ALL:
            raise Refusal(
                text(
                    "The files of all visitors take {most}, all that this server has for them. "
                    "Try again later, or use `python -m normgeo open`.",
                    most=memory(ALL),
                )
            )
        if contents:
            here.uploaded[what] = contents
