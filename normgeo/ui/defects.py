"""What a page says if it has nothing to show: the reason, or that the program made a mistake.

Only a `Refusal` is explained. Any other exception is a defect: the log gets its traceback and the
address, and the page says so in one sentence.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, final

import streamlit as st

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.pictures.picture import in_words
from normgeo.settings import SETTINGS, Settings
from normgeo.ui import url

LOG = logging.getLogger("normgeo")
SORRY = text(
    "Something went wrong here: a mistake of the program, not yours. It was logged on the server "
    "with the settings of this page; with other settings, or after Reset, the page works again."
)
ABOVE = text("There is nothing to show here; the reason stands above.")
"""Replaces a sentence that the page has said already."""

_said: ContextVar[frozenset[str]] = ContextVar("said", default=frozenset())


@contextmanager
def each_once() -> Iterator[None]:
    """Say each reason only once, as long as the block lasts."""
    token = _said.set(frozenset())
    try:
        yield
    finally:
        _said.reset(token)


@final
class Explained:
    """A block that may end early: the page says why, once, and goes on after it.

    Streamlit ends scripts (after a click, a stop) by other errors, which pass.

    """

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: object
    ) -> bool:
        """Explain a refusal, or log a defect; return whether the error was handled."""
        if isinstance(error, Refusal):
            said, why = _said.get(), str(error)
            if why in said:
                st.markdown(str(ABOVE))
            else:
                st.info(why, icon=":material/info:")
                _offer(error.way_out, key=f"way_out_{len(said)}")
            _said.set(said | {why})
        elif isinstance(error, Exception):
            LOG.error("A page has a defect: %s", url.address(), exc_info=error)
            st.error(str(SORRY), icon=":material/error:")
        return isinstance(error, Exception)


def _offer(way_out: Mapping[str, Any], *, key: str) -> None:
    """Draw a button that changes to settings that have a result."""
    if not way_out or url.bare():
        return
    changes = ", ".join(_change(name, value) for name, value in way_out.items())
    st.button(
        str(text("Set {changes}", changes=changes)),
        key=key,
        on_click=partial(url.change, **way_out),
    )


def _change(name: str, value: Any) -> str:
    """A setting and its value; 0 and None by their meaning."""
    label, _, zero = str(SETTINGS[name].label).partition(" (0: ")
    words = in_words(replace(Settings(), **{name: value}), name)
    if value is None or (value == 0 and zero):
        words = zero.rstrip(")") if value == 0 else text("automatic")
    return text("{label}: {words}", label=label, words=words)
