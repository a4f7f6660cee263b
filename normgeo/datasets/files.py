"""Arrays from files: .npy, .npz and .csv."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text


def read_array(name: str, path: Path) -> Array:
    """Return the array of a file, any shape and type; of an .npz the one called `name`, or its one.

    A .csv has a row of numbers on each line; a first line that is not all numbers is a heading.

    Raises:
        ValueError: another kind of file, or one that holds no such array.
        OSError: a file that can't be read.

    """
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise ValueError(
            text(
                "Arrays are read from files that end in one of {suffixes}; got {path}.",
                suffixes=", ".join(READERS),
                path=path,
            )
        )
    return READERS[suffix](name, path)


def _npy(name: str, path: Path) -> Array:
    with path.open("rb") as file:
        try:
            found = np.load(file, allow_pickle=False)
            if isinstance(found, np.ndarray):
                return found
            names = found.files
            if name in names or len(names) == 1:
                array: Array = found[name if name in names else names[0]]
                return array
        except (ValueError, EOFError, BadZipFile) as error:
            raise ValueError(
                text(
                    "{path} holds no array of numbers as NumPy writes them with `np.save` or "
                    "`np.savez` ({error}).",
                    path=path,
                    error=str(error).rstrip("."),
                )
            ) from error
    raise ValueError(
        text(
            "{path} must hold one array, or one with the name {name!r}; it holds {names}.",
            path=path,
            name=name,
            names=", ".join(names) or text("none"),
        )
    )


def _csv(name: str, path: Path) -> Array:
    rows: list[list[float]] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, cells in enumerate(csv.reader(file), start=1):
                if not cells:
                    continue
                try:
                    rows.append([float(cell) for cell in cells])
                except ValueError:
                    if rows or number > 1:
                        raise ValueError(_no_number(path, number, cells)) from None
                if rows and len(rows[-1]) != len(rows[0]):
                    raise ValueError(
                        text(
                            "All lines of {path} must have equally many numbers: the first has "
                            "{first}, line {number} has {here}.",
                            path=path,
                            first=len(rows[0]),
                            number=number,
                            here=len(rows[-1]),
                        )
                    )
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            text(
                "{path} is not a text of comma-separated numbers ({error}).", path=path, error=error
            )
        ) from error
    if not rows:
        raise ValueError(text("{path} holds no line of comma-separated numbers.", path=path))
    return np.array(rows)


def _no_number(path: Path, line: int, cells: list[str]) -> str:
    def is_number(cell: str) -> bool:
        try:
            float(cell)
        except ValueError:
            return False
        return True

    bad = next(cell for cell in cells if not is_number(cell))
    return text(
        "Every value of {path} must be a number, but for a heading on its first line; line {line} "
        "has {bad!r}.",
        path=path,
        line=line,
        bad=bad[:40],
    )


READERS: dict[str, Callable[[str, Path], Array]] = {".npy": _npy, ".npz": _npy, ".csv": _csv}
