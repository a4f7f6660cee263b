"""The files of a session: uploads, held in memory within a budget, or opened ones."""

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
"""Reports are made one at a time: each needs several times the memory of its files."""


@final
@dataclass(eq=False)
class Files:
    """The files of a session; its uploads are here and nowhere else.

    Attributes:
        uploaded: by their purpose. changes: how often they changed.
        left: those of WEIGHTS, RUN and NETWORK whose example is shown although another is open.
        presence: of their owner. closing: the uploads as Streamlit holds them.

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
        """Release all files, also those that Streamlit holds."""
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
        """A value that changes whenever any of these files does."""
        return self.changes, [State.of(path) for what in whats for path in self._opened(what)]

    def given(self, *whats: str) -> Given:
        """The files for these, for who reads them."""
        contents = {what: self.uploaded[what] for what in whats if self.uploads(what)}
        return Given(contents, {what: self._opened(what) for what in whats if what not in contents})


def files() -> Files:
    """The files of this session."""
    here: Files = st.session_state.setdefault(_HELD, Files(presence.here()))
    with _BUDGET:
        _ALIVE.add(here)
        give_back(monotonic(), presence.patience())
    return here


def give_back(now: float, patience: float) -> None:
    """Release the files of sessions that were left for good.

    Python does not always collect an ended session: objects of the heap that the server froze at
    its start (see `frame`) may refer to it, and would keep its uploads.

    Args:
        now: seconds of `time.monotonic`. patience: seconds within which a visitor may return to a
            session.

    """
    for one in [*_ALIVE]:
        if one.presence.away(now) > patience:
            one.empty()


def in_memory() -> int:
    """Bytes of the uploads of all sessions."""
    return sum(one.size for one in [*_ALIVE])


def hold(what: str, contents: list[Content], closing: Sequence[IO[bytes]] = ()) -> None:
    """Replace the uploads of one purpose, within the budget; beyond it, hold none.

    Args:
        what: their purpose. contents: their bytes. closing: Streamlit's own copies.

    Raises:
        Refusal: they are too large, or those of all sessions together.

    """
    here, size = files(), sum(len(content) for _, content in contents)
    with _BUDGET:
        here.uploaded.pop(what, None)
        here.closing.pop(what, None)
        here.changes += 1
        if here.size + size > ONE:
            raise Refusal(
                "The files of a session may take {most} together; these take {size}. Use "
                "`python -m normgeo open`, which takes larger ones.",
                most=memory(ONE),
                size=memory(here.size + size),
            )
        if in_memory() + size > ALL:
            raise Refusal(
                "The files of all visitors take {most}, all that this server has for them. "
                "Try again later, or use `python -m normgeo open`.",
                most=memory(ALL),
            )
        if contents:
            here.uploaded[what], here.closing[what] = contents, closing
        here.presence.keeps = bool(here.uploaded)
