"""The files that a session looks at: uploads, in memory and within a budget, or opened ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import IO, final
from weakref import WeakSet

import streamlit as st

from normgeo.base.budget import MEGABYTE, memory
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.reading import WEIGHTS
from normgeo.datasets.given_files import Given
from normgeo.datasets.opened import State, opened
from normgeo.pictures.your_network.own_network import NETWORK
from normgeo.pictures.your_network.own_run import RUN
from normgeo.ui import presence
from normgeo.ui.presence import Presence

ONE = 50 * MEGABYTE
"""Bytes of the uploads of a session together; Streamlit takes no larger file (`maxUploadSize`)."""
ALL = 400 * MEGABYTE
"""Bytes of the uploads of all sessions of a server."""

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
        left: of WEIGHTS, RUN and NETWORK, where what ships is looked at though another is open.
        presence: of who has given them. closing: what Streamlit holds of the uploads.

    """

    presence: Presence = field(default_factory=Presence)
    uploaded: dict[str, list[Content]] = field(default_factory=dict)
    changes: int = 0
    left: set[str] = field(default_factory=set)
    closing: dict[str, Sequence[IO[bytes]]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return sum(len(content) for of in self.uploaded.values() for _, content in of)

    def empty(self) -> None:
        """Hold nothing any more, and have Streamlit hold nothing."""
        self.uploaded.clear()
        for files in self.closing.values():
            for file in files:
                file.close()
        self.closing.clear()

    def uploads(self, what: str) -> bool:
        """Whether files for this have been uploaded."""
        return bool(self.uploaded.get(what))

    def _opened(self, what: str) -> list[Path]:
        of = what if what in (RUN, NETWORK) else WEIGHTS
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

    def given(self, *whats: str) -> Given:
        """The files for these, for who reads them."""
        contents = {what: self.uploaded[what] for what in whats if self.uploads(what)}
        return Given(contents, {what: self._opened(what) for what in whats if what not in contents})


def files() -> Files:
    """What this session looks at."""
    here: Files = st.session_state.setdefault(_HELD, Files(presence.here()))
    with _BUDGET:
        _ALIVE.add(here)
        give_back(monotonic(), float(st.get_option("server.disconnectedSessionTTL")))
    return here


def give_back(now: float, patience: float) -> None:
    """Empty what sessions hold that nobody has come back to.

    A session that has ended is not always collected: what it has in common with the heap that the
    server froze when it began (see `frame`) stays, and so would its uploads.

    Args:
        now: seconds of `time.monotonic`. patience: for how many seconds one that was left can be
            come back to.

    """
    for one in [*_ALIVE]:
        if one.presence.away(now) > patience:
            one.empty()


def in_memory() -> int:
    """Bytes of the uploads of all sessions."""
    return sum(one.size for one in [*_ALIVE])


def hold(what: str, contents: list[Content], closing: Sequence[IO[bytes]] = ()) -> None:
    """Hold uploads in place of those before, within the budget; where it is exceeded, none.

    Args:
        what: they are for. contents: of them. closing: the files of Streamlit that hold these too.

    Raises:
        Refusal: they are too large, or those of all sessions are.

    """
    here, size = files(), sum(len(content) for _, content in contents)
    with _BUDGET:
        here.uploaded.pop(what, None)
        here.closing.pop(what, None)
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
        if in_memory() + size > ALL:
            raise Refusal(
                text(
                    "The files of all visitors take {most}, all that this server has for them. "
                    "Try again later, or use `python -m normgeo open`.",
                    most=memory(ALL),
                )
            )
        if contents:
            here.uploaded[what], here.closing[what] = contents, closing
