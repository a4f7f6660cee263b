"""Arrays from files: .npy, .npz and .csv."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.numpy_files import LARGEST, read_numpy, require_at_most

Tell = Callable[[str], object]

SUFFIXES = (".npy", ".npz", ".csv")

NUMBERS: dict[str, Any] = {
    "header": None,
    "encoding": "utf-8-sig",
    "keep_default_na": False,
    "na_values": ["nan", "NaN"],
}
"""Options with which pandas reads lines of numbers."""

LARGEST_TEXT = LARGEST // 4
"""Bytes of the longest text: two characters or more become a number of eight bytes."""

MOST_COLUMNS = 20_000
_LONGEST_LINE = 100 * MOST_COLUMNS  # characters


def read_array(name: str, path: Path, tell: Tell = str) -> Array:
    """Return the array of a file, any shape and type; of an .npz the one called `name`, or its one.

    A .csv has a row of numbers on each line. A first line of names is a heading: no name is a
    number or begins like one. A first line with both names and numbers is taken for a typing error,
    and refused.

    Args:
        name: of the array in an .npz. path: of the file.
        tell: called with a sentence about a heading that was left out.

    Raises:
        ValueError: another kind of file, one without such an array, or one above 512 MB.
        OSError: the file cannot be read.

    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise Refusal(
            "Arrays are read from files that end in one of {suffixes}; got {path!s}.",
            suffixes=", ".join(SUFFIXES),
            path=path,
        )
    if path.exists() and not path.is_file() and not path.is_dir():
        raise Refusal("{path!s} is no file but a pipe or a device.", path=path)
    return _csv(path, tell) if suffix == ".csv" else read_numpy(name, path)


def _csv(path: Path, tell: Tell) -> Array:
    import pandas

    try:
        require_at_most(path.stat().st_size, path, LARGEST_TEXT)
        first, heading = first_line(path)
        table = pandas.read_csv(path, skiprows=int(heading), low_memory=False, **NUMBERS)
    except pandas.errors.EmptyDataError as error:
        raise Refusal("{path!s} holds no line of comma-separated numbers.", path=path) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise Refusal(no_text(path, error)) from error
    except pandas.errors.ParserError as error:
        raise Refusal(misplaced(path, heading) or no_text(path, error)) from error
    if any(dtype.kind not in "iuf" for dtype in table.dtypes):
        raise Refusal(misplaced(path, heading) or no_text(path, table.dtypes.iloc[-1]))
    if heading:
        names = ", ".join(first)
        tell(
            text(
                "Line 1 of {path!s} was taken for its heading: {names!s}.",
                path=path,
                names=names if len(names) <= 60 else f"{names[:60]}…",
            )
        )
    return np.ascontiguousarray(table.to_numpy(np.float64))


def first_line(path: Path) -> tuple[list[str], bool]:
    """Return the entries of the first line of a .csv, and whether it is a heading.

    Raises:
        ValueError: it has too many columns, or is neither names nor numbers.

    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        _require_narrow(file.readline(_LONGEST_LINE), path)
        file.seek(0)
        first = next(csv.reader(file), [])
    return first, _is_heading(first, path)


def _require_narrow(line: str, path: Path) -> None:
    """Refuse a first line with more columns than can be read as text in acceptable time."""
    columns = line.count(",") + 1
    if columns > MOST_COLUMNS or len(line) == _LONGEST_LINE:
        raise Refusal(
            "{path!s} has {columns:,} columns or more; up to {most:,} are read from text. "
            "Save the array with `np.save`.",
            path=path,
            columns=columns,
            most=MOST_COLUMNS,
        )


def _is_heading(entries: list[str], path: Path) -> bool:
    """Whether a first line contains names; refuse one that mixes names and numbers."""
    numbers = [entry for entry in entries if _is_number(entry)]
    others = [entry for entry in entries if not _is_number(entry)]
    # A trailing comma on every line, or a column of row labels, has no name.
    slips = [entry for entry in others if entry.strip() and not _is_name(entry)]
    if others and (numbers or slips):
        raise Refusal(
            "The first line of {path!s} must be numbers, or names of which none is or begins "
            "like a number; it has {other!r}{beside}. Correct it, or leave it out.",
            path=path,
            other=(slips or others)[0][:40],
            beside=text(" beside {number!r}", number=numbers[0][:40]) if numbers else "",
        )
    return bool(others)


def _is_name(entry: str) -> bool:
    start = entry.strip().lstrip("#\"' ")[:1]
    return start.isalpha() or start == "_"


def no_text(path: Path, problem: object) -> str:
    """Return the sentence that a file is not a table of numbers."""
    return text(
        "{path!s} is not a text of comma-separated numbers ({problem!s}).",
        path=path,
        problem=str(problem).strip(),
    )


def misplaced(path: Path, heading: bool) -> str:
    """Return which line of a file is not numbers, or has another number of them; "" if none."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = 0
        for number, entries in enumerate(csv.reader(file), start=1):
            if not entries or (heading and number == 1):
                continue
            bad = [entry for entry in entries if not _is_number(entry)]
            if bad:
                return text(
                    "Every value of {path!s} must be a number, but for a heading on its first "
                    "line; line {line} has {bad!r}.",
                    path=path,
                    line=number,
                    bad=bad[0][:40],
                )
            first = first or len(entries)
            if len(entries) != first:
                return text(
                    "All lines of {path!s} must have equally many numbers: the first has {first}, "
                    "line {line} has {here}.",
                    path=path,
                    first=first,
                    line=number,
                    here=len(entries),
                )
    return ""


def _is_number(entry: str) -> bool:
    try:
        float(entry)
    except ValueError:
        return False
    return True
