"""A training run of a visitor's own: a recording, or checkpoints with a step for each."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import final

import streamlit as st

from normgeo.base.budget import MEGABYTE, memory
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.opened import State
from normgeo.datasets.tensor_files import list_tensors
from normgeo.pictures.your_network.checkpoints import are_checkpoints, read_run, steps_of
from normgeo.pictures.your_network.layer import CHOICES, corrections
from normgeo.pictures.your_network.training import Run, of_run
from normgeo.settings import Settings
from normgeo.ui.your_network.files import RUN, TURN, Files, files

LARGEST = 100 * MEGABYTE
"""Bytes of a recording; reading takes some times as much."""
UNPACKED = 200 * MEGABYTE
"""Bytes of a checkpoint in double precision; one at a time is read."""
MOST = 5000  # blocks: a thousand take half a second

_RUN = "_own_run"


@final
@dataclass(eq=False)
class OwnRun:
    """What a session has chosen of its run, and what is told of it.

    Attributes:
        files: of the session. steps: corrected, one for each checkpoint as they were given.
        block: the selected one, None for none.
        shown: names of checkpoints with their steps, for the page; empty for a recording.

    """

    files: Files
    steps: tuple[int, ...] | None = None
    block: int | None = None
    shown: tuple[tuple[str, int], ...] = ()
    _kept: tuple[object, Run] | None = None

    def told(self, settings: Settings) -> Run:
        """Return what is drawn and told of the run.

        Raises:
            Refusal: no run, or it is not said how it was trained, in one sentence.

        """
        stated = [getattr(settings, name) for name in CHOICES]
        asked = self.files.state(RUN), stated, self.steps
        if self._kept is None or self._kept[0] != asked:
            self._kept = None
            with TURN:
                self._kept = asked, self._computed(settings)
        return self._kept[1].lighting(self.block)

    def _computed(self, settings: Settings) -> Run:
        optimizer = None if settings.trained_by == "auto" else settings.trained_by
        self.shown = ()
        with self.files.given(RUN).paths() as paths:
            given, steps = paths[RUN], None
            title = text("{name!s}", name=given[0].name)
            if are_checkpoints(given):
                steps = self.steps or steps_of(given)
                self.shown = tuple(zip((path.name for path in given), steps, strict=True))
                given = [given[i] for i in sorted(range(len(given)), key=steps.__getitem__)]
                title = text("{first!s} to {last!s}", first=given[0].name, last=given[-1].name)
            _require_small(given, checkpoints=steps is not None)
            recording = read_run(
                given,
                optimizer,
                rate=settings.rate or None,
                decay=settings.decay or 0.0,
                steps=None if steps is None else sorted(steps),
                corrections=corrections(settings),
            )
        if (blocks := len(recording.names)) > MOST:
            raise Refusal(
                text(
                    "A page takes runs of up to {most:,} blocks; this one has {blocks:,}. Use "
                    "`python -m normgeo training`, which takes more.",
                    most=MOST,
                    blocks=blocks,
                )
            )
        return of_run(recording, title, frozen=settings.frozen_below)


def _require_small(given: list[Path], *, checkpoints: bool) -> None:
    """Refuse what is large, or what a small file may hold packed, before it is read."""
    for path in given:
        size = State.of(path).size
        if checkpoints:
            size = sum(8 * prod(tensor.shape) for tensor in list_tensors(path))
        if size > (UNPACKED if checkpoints else LARGEST):
            raise Refusal(
                text(
                    "A page reads recordings of up to {largest}, and checkpoints of up to "
                    "{unpacked} as float64; {name!s} takes {size}. Use `python -m normgeo "
                    "training`, which reads larger ones.",
                    largest=memory(LARGEST),
                    unpacked=memory(UNPACKED),
                    name=path.name,
                    size=memory(size),
                )
            )


def held() -> OwnRun | None:
    """The run that this session looks at; None where it is the one that ships."""
    here = files()
    if not here.names(RUN):
        return None
    own: OwnRun = st.session_state.setdefault(_RUN, OwnRun(here))
    return own


def forget() -> None:
    """Forget what was chosen of files that are no longer looked at."""
    st.session_state.pop(_RUN, None)
