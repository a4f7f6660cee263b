"""Formats of tables: aligned text, Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import shutil
import textwrap
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any
from unicodedata import normalize

from normgeo.base.characters import MARKDOWN, latex, spell, width_of
from normgeo.base.numbers import number
from normgeo.base.refusal import Refusal
from normgeo.base.text import marking, printable, text
from normgeo.tables.table import Table, plain

DIGITS = 6  # digits of a number in a table for people


def render(table: Table, format: str, encoding: str = "utf-8") -> str:
    """Return the table as text, Markdown, LaTeX, CSV or JSON, with a line's end at the end.

    Text is for a terminal: headings wrap if the table is too wide. LaTeX is a plain tabular, or a
    longtable if a page may not hold it; it also needs amssymb, for check marks. These and Markdown
    round numbers to six digits and show "—" for undefined or infinite ones. CSV (RFC 4180) and JSON
    (an array of records) keep all digits, and leave those empty or null. Words replace characters
    that the encoding lacks.

    Raises:
        ValueError: a format that is not in `FORMATS`.

    >>> print(render(Table(("animal", "legs"), (("ant", 6), ("bee", 6))), "text"), end="")
    animal  legs
    ant        6
    bee        6

    """
    if format not in FORMATS:
        raise Refusal(
            "`format` must be one of {formats}; got {format!r}.",
            formats=", ".join(FORMATS),
            format=format,
        )
    words = _spelled(encoding) if format == "json" else _escaped(encoding)
    with marking(str):  # each format escapes cells in its own way
        return FORMATS[format](table.with_words(words), encoding)


def _spelled(encoding: str) -> Callable[[str], str]:
    return lambda words: spell(words, encoding)


def _escaped(encoding: str) -> Callable[[str], str]:
    """Escapes for terminal control and text direction characters; line ends stay."""
    return lambda words: spell("\n".join(map(printable, words.splitlines())), encoding)


def shown(value: Any, digits: int = DIGITS) -> str:
    """Return a value formatted for people, on one line.

    >>> shown(0.125), shown(-3e-16), shown(1797), shown(None), shown(True)
    ('0.125', '−3 · 10⁻¹⁶', '1,797', '—', 'yes')

    """
    value = plain(value)
    if value is None:
        return "—"
    if isinstance(value, bool):
        return str(text("yes") if value else text("no"))
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    return number(value, digits) if isinstance(value, float) else " ".join(str(value).split())


def _alignments(table: Table) -> str:
    """Return a letter for each column: "r" for numbers, "c" for symbols, "l" for words, factors."""
    found = ""
    for i in range(len(table.columns)):
        values = [plain(row[i]) for row in table.rows]
        numbers = [isinstance(v, int | float) and not isinstance(v, bool) for v in values]
        if any(numbers) and all(n or v is None for n, v in zip(numbers, values, strict=True)):
            found += "r"
        else:
            said = [shown(v) for v in values]
            short = i > 0 and all(width_of(words) <= 3 for words in said)
            found += "c" if short and not any("×" in words for words in said) else "l"
    return found


def _pad(words: str, width: int, alignment: str) -> str:
    space = width - width_of(words)
    before = {"l": 0, "r": space, "c": space // 2}[alignment]
    return " " * before + words + " " * (space - before)


def _as_text(table: Table, encoding: str) -> str:
    room = shutil.get_terminal_size().columns
    body = [[spell(shown(value), encoding) for value in row] for row in table.rows]
    alignments = _alignments(table)
    heads = [[column] for column in table.columns]
    if _total(widths := _widths(heads, body)) > room:
        heads = [column.split() or [""] for column in table.columns]
        widths = _widths(heads, body)
    spans = _spans(table)
    for start, stop, group in spans:
        widths[stop - 1] += max(0, width_of(group) - _total(widths[start:stop]))
    lines: list[tuple[list[str], list[int], str]] = []
    if table.groups:
        totals = [_total(widths[start:stop]) for start, stop, _ in spans]
        groups = [group for *_, group in spans]
        rules = ["-" * n if group else "" for n, group in zip(totals, groups, strict=True)]
        lines += [(groups, totals, "l" * len(spans)), (rules, totals, "l" * len(spans))]
    for i in range(max(map(len, heads), default=0)):
        line = [head[i] if i < len(head) else "" for head in heads]
        lines.append((line, widths, alignments))
    lines += [(row, widths, alignments) for row in body]
    notes = [textwrap.fill(note, min(room, 80)) for note in table.notes]
    return (
        "\n".join(
            [
                *([table.title, ""] if table.title else []),
                *("  ".join(map(_pad, *line)).rstrip() for line in lines),
                *(["", *notes] if notes else []),
            ]
        )
        + "\n"
    )


def _widths(heads: list[list[str]], body: list[list[str]]) -> list[int]:
    columns = zip(*body, strict=True) if body else [()] * len(heads)
    return [max(map(width_of, (*head, *cells))) for head, cells in zip(heads, columns, strict=True)]


def _total(widths: list[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _spans(table: Table) -> list[tuple[int, int, str]]:
    """Return (start, stop, group) for every run of columns under one group."""
    spans, start = [], 0
    for group, columns in groupby(table.groups or ("",) * len(table.columns)):
        stop = start + len(list(columns))
        spans.append((start, stop, group))
        start = stop
    return spans


def _as_markdown(table: Table, encoding: str) -> str:
    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.translate(MARKDOWN) for cell in cells) + " |"

    marks = {"l": ":--", "c": ":-:", "r": "--:"}
    return (
        "\n".join(
            [
                *([f"**{table.title.translate(MARKDOWN)}**", ""] if table.title else []),
                line(table.headings),
                line(marks[alignment] for alignment in _alignments(table)),
                *(line(spell(shown(v), encoding) for v in row) for row in table.rows),
                *(part for note in table.notes for part in ("", note.translate(MARKDOWN))),
            ]
        )
        + "\n"
    )


def _as_latex(table: Table, encoding: str) -> str:
    def line(cells: Iterable[str]) -> str:
        return " & ".join(latex(cell) for cell in cells) + r" \\"

    columns, spans = _latex_columns(table), _spans(table)
    groups = (
        rf"\multicolumn{{{stop - start}}}{{c}}{{{latex(group)}}}" for start, stop, group in spans
    )
    long = len(table.rows) > ON_A_PAGE
    kind, packages = ("longtable", "amssymb,longtable") if long else ("tabular", "amssymb")
    return (
        "\n".join(
            [
                *(f"% {words}" for words in (table.title, *table.notes) if words),
                rf"% In the preamble: \usepackage{{{packages}}}",
                rf"\begin{{{kind}}}{{{'|'.join(''.join(columns[i:j]) for i, j, _ in spans)}}}",
                r"\hline",
                *([" & ".join(groups) + r" \\"] if table.groups else []),
                line(table.columns),
                r"\hline",
                *([r"\endhead"] if long else []),
                *(line(map(shown, row)) for row in table.rows),
                r"\hline",
                rf"\end{{{kind}}}",
            ]
        )
        + "\n"
    )


ON_A_PAGE = 30  # rows; a longer LaTeX table breaks across pages and repeats its headings
LONG = 80  # characters; a cell of half of them is a sentence, which LaTeX must wrap


def _latex_columns(table: Table) -> list[str]:
    """Return the column types: those with long sentences wrap, in shares of the line."""
    widths = [
        max((width_of(shown(row[i])) for row in table.rows), default=0)
        for i in range(len(table.columns))
    ]
    total = sum(min(width, LONG) for width in widths)
    return [
        rf"p{{{0.85 * min(width, LONG) / total:.2f}\linewidth}}" if width > LONG / 2 else alignment
        for width, alignment in zip(widths, _alignments(table), strict=True)
    ]


def _as_csv(table: Table, encoding: str) -> str:
    """Write truth values like JSON, as spreadsheets and pandas read them, and never a formula."""

    def cell(value: Any) -> Any:
        if isinstance(value, bool):
            return str(value).lower()
        return _no_formula(value) if isinstance(value, str) else value

    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(map(cell, table.headings))
    writer.writerows(map(cell, record.values()) for record in table.records())
    return file.getvalue()


def _no_formula(words: str) -> str:
    """Words quoted if a spreadsheet would read them as a formula.

    Some spreadsheets read East Asian wide forms like the plain characters.
    """
    if not normalize("NFKC", words).lstrip().startswith(("=", "+", "-", "−", "@")):
        return words
    try:
        float(words)
    except ValueError:
        return f"'{words}"
    return words


def _as_json(table: Table, encoding: str) -> str:
    """Write words unescaped, except for characters that cannot be printed."""
    written = json.dumps(table.records(), ensure_ascii=False, allow_nan=False, indent=2)
    return (
        "".join(c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in written) + "\n"
    )


FORMATS: dict[str, Callable[[Table, str], str]] = {
    "text": _as_text,
    "markdown": _as_markdown,
    "latex": _as_latex,
    "csv": _as_csv,
    "json": _as_json,
}
