"""A visitor's own layer: its report, with the choices and corrections of the session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import streamlit as st

from normgeo.checkpoints.checkpoint import Proposal
from normgeo.checkpoints.reading import EXTRA, WEIGHTS
from normgeo.datasets.opened import opened
from normgeo.pictures.your_network.layer import CHOICES, Neurons, corrections
from normgeo.pictures.your_network.own_layer import (
    Choice,
    OwnLayer,
    own_layer,
    own_layers,
    proposed,
    seconds,
)
from normgeo.settings import Settings
from normgeo.tables.table import Table
from normgeo.ui.computing.server import here
from normgeo.ui.your_network.apart import Apart
from normgeo.ui.your_network.files import Files, files

_OWN = "_own_layer"


@final
@dataclass(eq=False)
class Own:
    """A session's choices for its files.

    Attributes:
        files: of the session. roles: corrections. neuron: the selected one.
        layer, norm, family, sliding: as of `Choice`.
        there: the report on the layer so far.

    """

    files: Files
    layer: str | None = None
    roles: dict[str, str] = field(default_factory=dict)
    neuron: int = 0
    norm: str | None = None
    family: str | None = None
    sliding: dict[str, str] = field(default_factory=dict)
    there: OwnLayer = field(default_factory=OwnLayer)
    _kept: object = None
    _proposed: tuple[object, Proposal | None] | None = None
    _every: tuple[object, Table] | None = None
    _of_one: Apart = field(default_factory=lambda: Apart("own_layer"))
    _of_all: Apart = field(default_factory=lambda: Apart("own_layers"))

    def choose(self, layer: str) -> None:
        """Choose another layer."""
        self.layer, self.neuron = layer, 0

    def require_possible(self, settings: Settings) -> None:
        """Refuse settings that the layer's norm cannot have, by the headers of the files alone.

        Raises:
            Refusal: the settings state an impossible norm.

        """
        if not self._knows_proposal:
            given = self.files.given(WEIGHTS)
            if seconds(given) > here().longest:
                return  # the report on the layer says so
            self._proposed = self._of_names, proposed(given, self._choice)
        if self._proposed is not None and (proposal := self._proposed[1]) is not None:
            proposal.corrected(**corrections(settings)).require_possible()

    @property
    def _of_names(self) -> object:
        return self.files.state(WEIGHTS), dict(self.roles), self.layer, self.norm

    @property
    def _knows_proposal(self) -> bool:
        return self._proposed is not None and self._proposed[0] == self._of_names

    def told(self, settings: Settings) -> Neurons:
        """Return the report on the layer, with the norm and the optimizer that the settings state.

        Raises:
            Refusal: bad files, roles or settings, in one sentence.

        """
        if self._kept != (asked := self._asked(settings)):
            self.there, self._kept = OwnLayer(), None
            given = self.files.given(WEIGHTS, *EXTRA)
            self.there = self._of_one.result(
                asked, seconds(given, self.family), own_layer, given, self._choice, settings
            )
            if self.there.proposal is not None:
                self.layer = self.there.proposal.name  # the layer that was chosen automatically
            self._kept = self._asked(settings)
            if not self._knows_proposal:
                self._proposed = self._of_names, self.there.proposal
                st.rerun()  # so that only possible values are offered
        if self.there.refusal is not None:
            raise self.there.refusal.anew()
        if (found := self.there.neurons) is None:
            raise RuntimeError("a layer without a refusal has neurons")
        return found._replace(neuron=min(self.neuron, len(found.values["neuron"]) - 1))

    def every(self, settings: Settings) -> Table:
        """Return a row for each layer, with the corrections of the chosen one.

        Raises:
            Refusal: bad files or settings, or more than a page reads, in one sentence.

        """
        asked = self._asked(settings)
        if self._every is None or self._every[0] != asked:
            self._every = None
            given = self.files.given(WEIGHTS, "gradient")
            found = self._of_all.result(
                asked, seconds(given), own_layers, given, self._choice, settings
            )
            self._every = asked, found
        return self._every[1]

    @property
    def _choice(self) -> Choice:
        return Choice(self.layer, dict(self.roles), self.norm, self.family, dict(self.sliding))

    def _asked(self, settings: Settings) -> object:
        stated = [getattr(settings, name) for name in CHOICES]
        return self.files.state(WEIGHTS, *EXTRA), stated, self._choice


def held() -> Own | None:
    """The session's own layer; None if it shows an example."""
    here = files()
    if not here.names(WEIGHTS):
        return None
    own: Own = st.session_state.setdefault(
        _OWN, Own(here, None if here.uploads(WEIGHTS) else opened().layer)
    )
    return own


def forget() -> None:
    """Forget the choices for files that are no longer shown."""
    st.session_state.pop(_OWN, None)
