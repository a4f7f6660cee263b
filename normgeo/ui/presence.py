"""Since when nobody has been at a session: what it holds may be let go then."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import final

import streamlit as st

_KEY = "_presence"


@final
@dataclass(eq=False)
class Presence:
    """Whether a browser is at a session.

    Attributes:
        left: when it went, in seconds of `time.monotonic`; None while it is there.

    """

    left: float | None = None

    def away(self, now: float) -> float:
        """Return for how many seconds nobody has been there; 0 while somebody is."""
        return 0.0 if self.left is None else now - self.left

    def leave(self) -> None:
        """Note that the browser has gone."""
        self.left = monotonic()


def here() -> Presence:
    """Return the presence of this session; a run means that somebody is at it."""
    presence: Presence = st.session_state.setdefault(_KEY, Presence())
    _held(presence)
    return presence


@st.cache_resource(scope="session", on_release=Presence.leave, show_spinner=False)
def _held(_presence: Presence) -> Presence:
    """Hold a presence until its browser goes; it may come back, and the next run holds it again."""
    _presence.left = None
    return _presence
