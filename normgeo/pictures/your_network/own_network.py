"""A measured table of one's own, read apart from the page."""

from __future__ import annotations

from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.given_files import Given
from normgeo.measured.saved.reading import read_measured
from normgeo.pictures.your_network.network import Network

NETWORK = "network"
"""What a file with a measured table is for."""

SECONDS_A_BYTE = 1e-7
"""Of a file, at most."""


def seconds(given: Given) -> float:
    """Return how long it takes to read a table, at most."""
    return given.size * SECONDS_A_BYTE


def own_network(given: Given, progress: Progress) -> Network | Refusal:
    """Return the table of a file, or why there is none, in one sentence."""
    try:
        with given.paths() as paths:
            path = paths[NETWORK][0]
            return Network.of(text("{name!s}", name=path.name), read_measured(path))
    except Refusal as refusal:
        return refusal
