"""A visitor's own training run: its report, with the corrections of the session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import streamlit as st

from normgeo.pictures.your_network.layer import CHOICES
from normgeo.pictures.your_network.own_run import RUN, OwnRun, own_run, seconds
from normgeo.pictures.your_network.training import Run
from normgeo.settings import Settings
from normgeo.ui.your_network.apart import Apart
from normgeo.ui.your_network.files import Files, files

_RUN = "_own_run"


@final
@dataclass(eq=False)
class ChosenRun:
    """A session's choices for its run.

    Attributes:
        files: of the session. steps: corrected, one for each checkpoint in the order given.
        block: the selected one, None for none.
        there: the report on the run so far.

    """

    files: Files
    steps: tuple[int, ...] | None = None
    block: int | None = None
    there: OwnRun = field(default_factory=OwnRun)
    _kept: object = None
    _apart: Apart = field(default_factory=lambda: Apart("own_run"))

    def told(self, settings: Settings) -> Run:
        """Return the report on the run.

        Raises:
            Refusal: there is no run, or its training is not stated, in one sentence.

        """
        stated = [getattr(settings, name) for name in CHOICES]
        if self._kept != (asked := (self.files.state(RUN), stated, self.steps)):
            self.there, self._kept = OwnRun(), None
            given = self.files.given(RUN)
            self.there = self._apart.result(
                asked, seconds(given), own_run, given, self.steps, settings
            )
            self._kept = asked
        if self.there.refusal is not None:
            raise self.there.refusal.anew()
        if self.there.run is None:
            raise RuntimeError("a run without a refusal is told")
        return self.there.run.lighting(self.block)


def held() -> ChosenRun | None:
    """The session's own run; None if it shows the example."""
    here = files()
    if not here.names(RUN):
        return None
    own: ChosenRun = st.session_state.setdefault(_RUN, ChosenRun(here))
    return own


def forget() -> None:
    """Forget the choices for files that are no longer shown."""
    st.session_state.pop(_RUN, None)
