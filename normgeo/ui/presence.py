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
        keeps: whether something is held for the session.

    """

    left: float | None = None
    keeps: bool = False

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


def stay() -> None:
    """Let the browser tell again and again that it is there, where its session holds something.

    A connection that was lost and found again starts no run, and would count as gone.
    """
    if here().keeps:
        st.fragment(here, run_every=_interval())()


def patience() -> float:
    """Seconds after which a browser that went, as `away` tells it, can no longer come back.

    One that came back at the last moment is seen an interval later; a busy server needs another.
    """
    return _ttl() + 2 * _interval()


def _ttl() -> float:
    """Seconds for which Streamlit keeps a session without a browser."""
    return float(st.get_option("server.disconnectedSessionTTL"))


def _interval() -> float:
    return max(1.0, _ttl() / 4)


@st.cache_resource(scope="session", on_release=Presence.leave, show_spinner=False)
def _held(_presence: Presence) -> Presence:
    """Hold a presence until its browser goes; it may come back, and the next run holds it again."""
    _presence.left = None
    return _presence
