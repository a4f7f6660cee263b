"""What commands share: the program's name, and tables on standard output."""

from __future__ import annotations

import sys
from pathlib import Path

from normgeo.tables.formats import render
from normgeo.tables.table import Table

FOR_PROGRAMS = ("csv", "json")


def program() -> str:
    """The name that the program was called by."""
    called = Path(sys.argv[0]).name
    return "python -m normgeo" if called == "__main__.py" else "normgeo"


def print_table(table: Table, format: str) -> None:
    """Print a table, with words for the characters that the terminal lacks."""
    print(render(table, format, sys.stdout.encoding or "utf-8"), end="")
