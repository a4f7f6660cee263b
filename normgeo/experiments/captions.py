"""Pictures with five captions each: words by number, and the files of Kiros's and Vendrov's code.

A data set of theirs, as `f8k`, is a folder of `f8k_train_caps.txt`, a caption a line, and
`f8k_train_ims.npy`, the features of an image a row, each either once or five times; likewise `dev`
and `test`. Source: github.com/ivendrov/order-embedding, datasets.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text

EACH = 5  # captions of an image
LONGEST = 100  # words that are read of a caption, as in the original
SPLITS = ("train", "dev", "test")
ENDING = "_train_caps.txt"
NOTHING, UNKNOWN = 0, 1  # numbers that are no words: after the end, and a word not learned from
FIRST_WORD = 2


class Part(NamedTuple):
    """Images as features (N, F), and the words of their captions, `EACH` for one."""

    images: Array
    captions: Sequence[Sequence[str]]


def vocabulary(captions: Sequence[Sequence[str]]) -> list[str]:
    """Return the words that occur, in the order of the alphabet."""
    return sorted({word for caption in captions for word in caption})


def numbered(
    captions: Sequence[Sequence[str]], words: Sequence[str], longest: int
) -> NDArray[np.int32]:
    """Return the numbers of words, (N, EACH, longest), with `NOTHING` after the end."""
    places = {word: at for at, word in enumerate(words, start=FIRST_WORD)}
    found = np.full((len(captions), longest), NOTHING, np.int32)
    for row, caption in zip(found, captions, strict=True):
        kept = caption[:longest]
        row[: len(kept)] = [places.get(word, UNKNOWN) for word in kept]
    return found.reshape(-1, EACH, longest)


def read(where: str) -> tuple[Part, Part, Part]:
    """Read the parts of a data set to learn from, for validation and for the test.

    Raises:
        ValueError: a folder without such files, or files that do not fit. OSError: as they are
            read.

    """
    folder = Path(where)
    named = sorted(folder.glob(f"*{ENDING}")) if folder.is_dir() else []
    if len(named) != 1:
        raise Refusal(
            "Captions are read from a folder with one NAME{ending}, as f8k{ending}; "
            "{folder!s} has {found}.",
            ending=ENDING,
            folder=folder,
            found=len(named),
        )
    name = named[0].name.removesuffix(ENDING)
    learned, validation, test = (_part(folder, f"{name}_{split}") for split in SPLITS)
    if len(widths := {part.images.shape[1] for part in (learned, validation, test)}) > 1:
        raise Refusal(
            "All images must have the same number of features; those in {folder!s} have {widths}.",
            folder=folder,
            widths=" and ".join(map(str, sorted(widths))),
        )
    return learned, validation, test


def _part(folder: Path, name: str) -> Part:
    captions = _captions(_there(folder / f"{name}_caps.txt"))
    path = _there(folder / f"{name}_ims.npy")
    images = _images(path)
    rows = len(images)
    if len(captions) == rows and rows % EACH == 0:
        images = images[::EACH]  # each image stands beside each of its captions
    elif len(captions) != EACH * rows:
        raise Refusal(
            "{path!s} must have a row for each caption, or for each five; it has {rows} rows, "
            "and there are {captions} captions.",
            path=path,
            rows=rows,
            captions=len(captions),
        )
    return Part(images, captions)


def _there(path: Path) -> Path:
    if not path.is_file():
        raise Refusal(
            "Captions come as a caption a line, images as an array; {path!s} is missing.",
            path=path,
        )
    return path


def _captions(path: Path) -> list[list[str]]:
    try:
        captions = [line.split() for line in path.read_text("utf-8").splitlines()]
    except UnicodeDecodeError as error:
        raise Refusal(
            "{path!s} must be text in UTF-8, with a caption a line.", path=path
        ) from error
    if not captions or not all(captions):
        line = captions.index([]) + 1 if captions else 1
        raise Refusal(
            "Each line of {path!s} must be a caption; line {line} has no word.",
            path=path,
            line=line,
        )
    return captions


def _images(path: Path) -> Array:
    wanted = text("{path!s} must be a NumPy array of finite numbers, images × features", path=path)
    try:
        images = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise Refusal("{wanted}; it can't be read as one.", wanted=wanted) from error
    if not isinstance(images, np.ndarray) or images.dtype.kind not in "fiu" or images.ndim != 2:
        raise Refusal(
            "{wanted}; it holds {kind} of shape {shape}.",
            wanted=wanted,
            kind=str(getattr(images, "dtype", text("several arrays"))),
            shape=str(getattr(images, "shape", "?")),
        )
    if not images.size or not np.isfinite(images).all():
        raise Refusal("{wanted}; it is empty or has numbers that are not finite.", wanted=wanted)
    return images.astype(np.float32)
