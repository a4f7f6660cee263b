"""Tables with their notes as one self-contained HTML file, also for print."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader

from normgeo.base.numbers import number
from normgeo.base.text import marking, text
from normgeo.tables.table import Table


def page(*tables: Table) -> str:
    """Return tables as a page: the title, notes and rows of each."""
    with marking(str):  # the template escapes values from outside
        return _TEMPLATES.get_template("tables.html").render(
            title=str(tables[0].title), tables=tables
        )


def fragment(table: Table) -> str:
    """Return a table as HTML for a notebook: its rows, then its notes."""
    with marking(str):
        return _TEMPLATES.get_template("fragment.html").render(table=table)


def _written(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(text("yes")) if value else str(text("no"))
    return number(value) if isinstance(value, float) else str(value)


_TEMPLATES = Environment(loader=PackageLoader("normgeo.tables"), autoescape=True)
_TEMPLATES.globals.update(written=_written)
