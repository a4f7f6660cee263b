"""Tables as files, by the kind of file: to read, to typeset, or for programs."""

from __future__ import annotations

from normgeo.tables.formats import render
from normgeo.tables.printed import page
from normgeo.tables.table import Table

FILES = {"html": "", "md": "markdown", "tex": "latex", "csv": "csv", "json": "json"}
"""Kinds of files → the format of `render` that they hold; a page is no such format."""

FOR_PROGRAMS = ("csv", "json")


def as_file(kind: str, *tables: Table) -> bytes:
    r"""Return tables as what a file holds; one for programs has the rows of the first one.

    Args:
        kind: of FILES. tables: of which the first one gives the file its title.

    >>> as_file("md", Table(("animal", "legs"), (("ant", 6),)))
    b'| animal | legs |\n| :-- | --: |\n| ant | 6 |\n'

    """
    if kind == "html":
        return page(*tables).encode()
    shown = tables[:1] if kind in FOR_PROGRAMS else tables
    return "\n".join(render(table, FILES[kind]) for table in shown).encode()
