"""What commands print."""

from __future__ import annotations

import sys

from normgeo.tables.table import Table, render


def print_table(table: Table, format: str) -> None:
    """Print a table, with words for the characters that the terminal lacks."""
    encoding = sys.stdout.encoding or "utf-8"
    print(render(table.spelled(encoding), format), end="")
