"""Output that commands share: the program's name, and tables on standard output or in a file."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import TextIO, cast, final

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.base.writing import require_writable, write_bytes
from normgeo.tables.formats import FORMATS, render
from normgeo.tables.table import Table


def program() -> str:
    """The name under which the program was called."""
    called = Path(sys.argv[0]).name
    return "python -m normgeo" if called == "__main__.py" else "normgeo"


@final
class _Closed(io.TextIOBase):
    """Stands for a standard output that was closed before the program began, as by `>&-`."""

    def write(self, words: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), str(text("standard output")))


def open_streams() -> None:
    """Return a substitute for a stream that Python does not have."""
    if sys.stdout is None:
        sys.stdout = cast(TextIO, _Closed())
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


def silence_streams() -> None:
    """Discard all further output, also what the interpreter writes at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the option of a report to a command."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help=text("a report: .html .pdf .md .tex, or its numbers: .csv .json"),
    )


def add_format(parser: argparse.ArgumentParser, about: str | None = None) -> None:
    """Add the choice of a table's format to a command; `about` says what csv and json have."""
    parser.add_argument("--format", choices=FORMATS, default="text", help=about)


def require_apart(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse to overwrite an input file, also through a link or another name.

    Raises:
        ValueError: an output file is also an input file.

    """
    for path, read in product(outputs, [*inputs]):
        if path.exists() and read.exists() and path.samefile(read):
            raise Refusal(
                "{path!s} is a file that is read. Write to another one with -o.", path=path
            )


def format_of(options: argparse.Namespace) -> str:
    """Return the format of a command's table: that of its report's file, or else `--format`.

    Raises:
        ValueError: a file of another kind, or a path that must not be replaced. OSError: a
            read-only file.

    """
    if options.output is None:
        return str(options.format)
    from normgeo.pictures.style.printing import DOCUMENTS

    others = [value for name, value in vars(options).items() if name != "output"]
    files = [file for value in others for file in (value if isinstance(value, list) else [value])]
    require_apart([options.output], [file for file in files if isinstance(file, Path)])
    suffix: str = options.output.suffix.lower().removeprefix(".")
    if suffix not in DOCUMENTS:
        raise Refusal(
            "A report is written to .html, .pdf, .md or .tex, and its numbers to .csv or "
            ".json; got {path!s}.",
            path=options.output,
        )
    require_writable(options.output)
    return suffix


def give(options: argparse.Namespace, *tables: Table) -> None:
    """Write tables to the file of a report if one is given, or print them.

    Raises:
        ValueError: a file of another kind, or no browser for PDF. OSError: a file that can't be
            written.

    """
    format = format_of(options)
    if options.output is None:
        for place, table in enumerate(tables):
            if place:
                print()
            print_table(table, format)
        return
    from normgeo.pictures.style.printing import document

    write_bytes(document(format, *tables), options.output)


def print_table(table: Table, format: str) -> None:
    """Print a table, with words for the characters that the terminal lacks."""
    print(render(table, format, sys.stdout.encoding or "utf-8"), end="")
