"""Lines of IAM-OnDB, strokes of a pen on a whiteboard and what they say, from a folder.

    lineStrokes/a01/a01-000/a01-000u-01.xml   strokes of one line: <Stroke>s of <Point x= y=>
    ascii/a01/a01-000/a01-000u.txt            after "CSR:", what each line says

Source: Liwicki and Bunke, IAM-OnDB, an on-line English sentence database, 2005.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal

STROKES, WORDS = "lineStrokes", "ascii"
HELD_OUT = 10  # one form in ten is for validation, one for the test


class Line(NamedTuple):
    """A line: its form, the offsets of the pen and whether it leaves the board (P, 3), its words.

    The first point has the offset 0; x goes to the right and y up, in units of the data.
    """

    form: str
    points: Array
    words: str


def lines(folder: Path) -> Iterator[Line]:
    """Yield all lines whose words are there, in the order of their files.

    Raises:
        ValueError: a folder without what it should hold, or a file that is damaged.

    """
    missing = [name for name in (STROKES, WORDS) if not (folder / name).is_dir()]
    if missing:
        raise Refusal(
            "A folder of IAM-OnDB holds {both}; {folder!s} has no {missing}. Unpack the "
            "archives of the data into it.",
            both=f"{STROKES} and {WORDS}",
            folder=folder,
            missing=", ".join(missing),
        )
    found = sorted((folder / STROKES).rglob("*.xml"))
    if not found:
        raise Refusal("{folder!s} holds no line as .xml.", folder=folder / STROKES)
    said: dict[Path, list[str]] = {}
    for path in found:
        form, _, number = path.stem.rpartition("-")
        words = folder / WORDS / path.parent.relative_to(folder / STROKES) / f"{form}.txt"
        if words not in said:
            said[words] = _words(words) if words.is_file() else []
        place = int(number) - 1 if number.isdecimal() else -1
        if 0 <= place < len(said[words]):
            yield Line(path.parent.name, _points(path), said[words][place])


def parts(folder: Path) -> tuple[list[Line], list[Line], list[Line]]:
    """Return lines to learn from, for validation and for the test: no form is in two of them.

    Raises:
        ValueError: as `lines`, or too few forms.

    """
    every = [*lines(folder)]
    forms = [*dict.fromkeys(line.form for line in every)]
    if len(forms) < HELD_OUT:
        raise Refusal(
            "IAM-OnDB needs lines of at least {least} forms, to hold some out; {folder!s} has "
            "those of {n}.",
            least=HELD_OUT,
            folder=folder,
            n=len(forms),
        )
    part_of = {form: place % HELD_OUT for place, form in enumerate(forms)}
    validation, test = ([one for one in every if part_of[one.form] == n] for n in (0, 1))
    return [one for one in every if part_of[one.form] > 1], validation, test


def spread(lines: Sequence[Line]) -> float:
    """The standard deviation of all offsets, along x and y, in units of the data.

    Raises:
        ValueError: the pen moves in none of them.

    """
    found = float(np.concatenate([line.points[:, :2] for line in lines]).std())
    if not found:
        raise Refusal(
            "The pen moves in none of the lines that are learned from: all their points have "
            "one place. Unpack the archives of the data again."
        )
    return found


def _words(path: Path) -> list[str]:
    """The lines that stand below "CSR:"."""
    _, _, below = path.read_text("utf-8", errors="replace").partition("CSR:")
    return [line.strip() for line in below.splitlines() if line.strip()]


def _points(path: Path) -> Array:
    """The offsets of a line, and where the pen leaves the board."""
    try:
        strokes = [
            [
                (float(point.attrib["x"]), -float(point.attrib["y"]))
                for point in stroke.iter("Point")
            ]
            for stroke in ElementTree.parse(path).iter("Stroke")
        ]
        at = np.array([point for stroke in strokes for point in stroke])
        if not (at.size and np.isfinite(at).all()):
            raise ValueError("no points, or no numbers")
        offsets = np.diff(at, axis=0, prepend=at[:1])
    except (ElementTree.ParseError, KeyError, ValueError) as error:
        raise Refusal(
            "{path!s} is no line of IAM-OnDB, strokes of points with x and y ({why!s}). "
            "Unpack it again, or remove it.",
            path=path,
            why=error,
        ) from error
    ends = np.cumsum([len(stroke) for stroke in strokes if stroke]) - 1
    return np.column_stack([offsets, np.isin(np.arange(len(at)), ends)])
