"""Plain text to learn sentences from, as BookCorpus: a sentence a line, words between blanks.

It is one file, or a folder of files `*.txt`, in UTF-8. Each file is a topic; one file alone is cut
into stretches, which are topics. The last tenth of a topic is for the test, the one before it for
validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, pairwise
from pathlib import Path

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.experiments.sentences import TOPICS, Parts, triples

LINES = 20_000  # of a topic that are read, the first ones: the files of BookCorpus have millions


def of_folder(where: str) -> Parts:
    """Return the triples of a file, or of the largest files of a folder.

    Raises:
        ValueError: no such file, or a damaged one. OSError: as it is read.

    """
    root = Path(where)
    files = [root] if root.is_file() else sorted(root.glob("*.txt"))
    if not files:
        raise Refusal(
            "Sentences are read from a file of text, a sentence a line, or from a folder with "
            "files *.txt; {where!s} is none, or has none.",
            where=where,
        )
    largest = sorted(files, key=lambda file: -file.stat().st_size)[:TOPICS]
    topics = (
        {file.stem: read(file, LINES) for file in sorted(largest)}
        if len(files) > 1
        else _stretches(read(files[0], LINES * TOPICS))
    )
    parts: Parts = ([], [], [])
    for topic, lines in topics.items():
        ends = [0, len(lines) * 8 // 10, len(lines) * 9 // 10, len(lines)]
        for part, (first, last) in zip(parts, pairwise(ends), strict=True):
            part.extend(triples(lines[first:last], topic))
    return parts


def _stretches(lines: Sequence[tuple[str, ...]]) -> dict[str, Sequence[tuple[str, ...]]]:
    """As many stretches of equal length as there may be topics, by the line where each begins."""
    ends = [len(lines) * at // TOPICS for at in range(TOPICS + 1)]
    return {text("from line {n}", n=first + 1): lines[first:last] for first, last in pairwise(ends)}


def read(file: Path, most: int) -> list[tuple[str, ...]]:
    """Return the words of the first lines of a file that have any.

    Raises:
        ValueError: no text in UTF-8, or none at all. OSError: as it is read.

    """
    try:
        with file.open(encoding="utf-8") as lines:
            found = [
                words for line in islice(lines, most) if (words := tuple(line.lower().split()))
            ]
    except UnicodeDecodeError:
        found = []
    if not found or any("\0" in word for line in found for word in line):
        raise Refusal(
            "{file!s} must be text in UTF-8, with a sentence a line and blanks between words. "
            "Save it so, or take it away.",
            file=file,
        )
    return found
