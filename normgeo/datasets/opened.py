"""Files that the command line opens in the explorer, passed as paths in the server's environment.

No page or address can name another file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

PASSED = "NORMGEO_OPEN"
"""The environment variable."""


class State(NamedTuple):
    """The state of a file, to detect a change since it was opened; zeros if it no longer exists."""

    changed: int
    size: int

    @classmethod
    def of(cls, path: Path) -> State:
        """The state of a file now."""
        try:
            found = path.stat()
        except OSError:
            return cls(0, 0)
        return cls(found.st_mtime_ns, found.st_size)


class Opened(NamedTuple):
    """Files by purpose, each with its state when it was opened; and a chosen layer."""

    files: Mapping[str, Mapping[Path, State]]
    layer: str | None

    @property
    def changed(self) -> list[str]:
        """The names of the files that have changed since."""
        every = (pair for paths in self.files.values() for pair in paths.items())
        return [path.name for path, state in every if State.of(path) != state]


def pass_on(files: Mapping[str, Iterable[Path]], layer: str | None = None) -> None:
    """Pass files, and the name of the layer to show first, to a server started by this process."""
    states = {
        what: [(str(path.resolve()), State.of(path)) for path in paths]
        for what, paths in files.items()
    }
    os.environ[PASSED] = json.dumps([states, layer])


def opened() -> Opened:
    """Return the files opened from the command line; none otherwise."""
    states, layer = json.loads(os.environ.get(PASSED, "[{}, null]"))
    return Opened(
        {
            what: {Path(path): State(*state) for path, state in paths}
            for what, paths in states.items()
        },
        layer,
    )
