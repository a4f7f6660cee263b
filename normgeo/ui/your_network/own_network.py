"""A measured table of a visitor's own, and the cell of it that the session has selected."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import streamlit as st

from normgeo.base.refusal import Refusal
from normgeo.pictures.your_network.network import Network
from normgeo.pictures.your_network.own_network import NETWORK, own_network, seconds
from normgeo.settings import Settings
from normgeo.ui.your_network.apart import Apart
from normgeo.ui.your_network.files import Files, files

_OWN = "_own_network"


@final
@dataclass(eq=False)
class OwnNetwork:
    """A measured table of a visitor's own, and the cell of it that is selected.

    Attributes:
        files: of the session. tensor, change: as of the settings.

    """

    files: Files
    tensor: int | None = None
    change: str = Settings.change
    _kept: tuple[object, Network | Refusal] | None = None
    _apart: Apart = field(default_factory=lambda: Apart("own_network"))

    def told(self) -> Network:
        """Return the table.

        Raises:
            Refusal: the file is none, in one sentence.

        """
        state = self.files.state(NETWORK)
        if self._kept is None or self._kept[0] != state:
            given = self.files.given(NETWORK)
            self._kept = state, self._apart.result(state, seconds(given), own_network, given)
        found = self._kept[1]
        if isinstance(found, Refusal):
            raise found.anew()
        return found.at(self.tensor, self.change)


def held() -> OwnNetwork | None:
    """The table that this session looks at; None where it is one that ships."""
    here = files()
    if not here.names(NETWORK):
        return None
    own: OwnNetwork = st.session_state.setdefault(_OWN, OwnNetwork(here))
    return own


def forget() -> None:
    """Forget what was chosen of a file that is no longer looked at."""
    st.session_state.pop(_OWN, None)
