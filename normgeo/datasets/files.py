"""Arrays from files: .npy, .npz and .csv."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
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
        raise Refusal(
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
            raise Refusal(
                text(
                    "{path} holds no array of numbers as NumPy writes them with `np.save` or "
                    "`np.savez` ({error}).",
                    path=path,
                    error=str(error).rstrip("."),
                )
            ) from error
    raise Refusal(
        text(
            "{path} must hold one array, or one with the name {name!r}; it holds {names}.",
            path=path,
            name=name,
            names=", ".join(names) or text("none"),
        )
    )


def _csv(name: str, path: Path) -> Array:
    import pandas

    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            heading = not all(map(_is_number, next(csv.reader(file), [])))
        table = pandas.read_csv(
            path,
            header=None,
            skiprows=int(heading),
            encoding="utf-8-sig",
            keep_default_na=False,
            na_values=["nan", "NaN"],
            low_memory=False,
        )
    except pandas.errors.EmptyDataError as error:
        raise Refusal(
            text("{path} holds no line of comma-separated numbers.", path=path)
        ) from error
    except UnicodeDecodeError as error:
        raise Refusal(_no_text(path, error)) from error
    except pandas.errors.ParserError as error:
        raise Refusal(_misplaced(path, heading) or _no_text(path, error)) from error
    if any(dtype.kind not in "iuf" for dtype in table.dtypes):
        raise Refusal(_misplaced(path, heading) or _no_text(path, table.dtypes.iloc[-1]))
    return np.ascontiguousarray(table.to_numpy(np.float64))


def _no_text(path: Path, problem: object) -> str:
    return text(
        "{path} is not a text of comma-separated numbers ({problem}).",
        path=path,
        problem=str(problem).strip(),
    )


def _misplaced(path: Path, heading: bool) -> str:
    """Say which line of a file is not numbers, or not as many as the first; "" where none is."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = [(n, entries) for n, entries in enumerate(csv.reader(file), start=1) if entries]
    lines = lines[heading:]
    for number, entries in lines:
        bad = [entry for entry in entries if not _is_number(entry)]
        if bad:
            return text(
                "Every value of {path} must be a number, but for a heading on its first line; line "
                "{line} has {bad!r}.",
                path=path,
                line=number,
                bad=bad[0][:40],
            )
        if len(entries) != len(lines[0][1]):
            return text(
                "All lines of {path} must have equally many numbers: the first has {first}, line "
                "{line} has {here}.",
                path=path,
                first=len(lines[0][1]),
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


READERS: dict[str, Callable[[str, Path], Array]] = {".npy": _npy, ".npz": _npy, ".csv": _csv}
