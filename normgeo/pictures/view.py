"""The form of pictures before `Study` and `Picture`, until the last of them has moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from normgeo.base import progress as base
from normgeo.pictures.picture import DATA, Picture, Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

__all__ = ["DATA", "Progress", "View", "picture"]
Progress = Callable[[int, int], Any]


def progress_of(callback: Progress | None) -> base.Progress:
    """Return the progress that tells a callback, which stops it by StopIteration."""

    def report(done: int, steps: int) -> None:
        try:
            if callback is not None:
                callback(done, steps)
        except StopIteration:
            raise base.Stop from None

    return base.Progress(report)


@final
class Ending(base.Stop, StopIteration):
    """A stop, for computations of the new form and of the old one."""


@final
@dataclass(frozen=True)
class View:
    """One picture."""

    name: str
    title: str
    uses: tuple[str, ...]
    compute: Callable[[Settings], Any]
    figure: Callable[[Any, str], Any]
    table: Callable[[Any], Table]
    watched: Callable[[Settings, Progress], Any] | None = None


def picture(view: View) -> Picture:
    """Return a picture of the new form."""
    watched = view.watched

    def compute(settings: Settings, progress: base.Progress) -> Any:
        if watched is None:
            return view.compute(settings)

        def tell(done: int, steps: int) -> None:
            if not progress.tell(done, steps):
                raise Ending

        return watched(settings, tell)

    return Picture(Study(view.name, view.title, "", view.uses, compute, view.table), view.figure)
