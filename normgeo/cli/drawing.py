"""Pictures as files, as `render` and `figures` write them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from normgeo.base.refusal import Refusal
from normgeo.base.text import printable, text
from normgeo.base.writing import require_writable, write_bytes
from normgeo.cli.output import program
from normgeo.cli.progress import Bar
from normgeo.settings import Settings
from normgeo.tables.files import FOR_PROGRAMS
from normgeo.tables.formats import render

if TYPE_CHECKING:
    from normgeo.pictures.picture import Picture


def setting_help() -> str:
    """The help of arguments that are settings."""
    return text("name=value; `{program} pictures` lists them", program=program())


def draw(files: Mapping[Picture, Sequence[Path]], settings: Settings) -> None:
    """Compute each picture once and write its files, all with one browser if any needs one.

    Of several pictures, those without a result for these settings are left out, with a message.

    Raises:
        ValueError: no picture has a result for these settings, or a file has no known format.
        Failure: no browser where one is needed. OSError: a place that can't be written to.

    """
    from normgeo.pictures.style import export

    formats = {path: _format(path) for paths in files.values() for path in paths}
    for path in formats:
        require_writable(path)
    static = not set(export.STATIC).isdisjoint(formats.values())
    refused: list[ValueError] = []
    with export.browser() if static else nullcontext() as draw_static:
        for i, (picture, paths) in enumerate(files.items(), start=1):
            names = printable(", ".join(map(str, paths)))
            print(f"[{i}/{len(files)}] {picture.title}: {names}", file=sys.stderr, flush=True)
            try:
                with Bar() as report:
                    result = picture.compute(settings, report)
            except Refusal as error:
                refused.append(error)
                if len(refused) == len(files):
                    raise
                print(text("Left out: {why}", why=error), file=sys.stderr, flush=True)
                continue
            for path in paths:
                if formats[path] in FOR_PROGRAMS:
                    numbers = render(picture.table(result), formats[path])
                    write_bytes(numbers.encode(), path)
                else:
                    figure = picture.figure(result, settings.theme)
                    words = picture.description(result)
                    export.write(
                        figure,
                        path,
                        title=picture.title,
                        alt=words,
                        about=picture.about(settings),
                        draw=draw_static,
                    )


def _format(path: Path) -> str:
    """Return the format of a picture's file: of its figure, or of its numbers."""
    from normgeo.pictures.style.export import format_of

    suffix = path.suffix.lower().removeprefix(".")
    return suffix if suffix in FOR_PROGRAMS else format_of(path)
