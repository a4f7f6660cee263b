"""The file of a recording: a header, then records of one size, each with a checksum.

    magic (16 bytes) · length of the header (uint32) · CRC-32 of the header (uint32)
    header: JSON in UTF-8
    record: step (uint64) · span (uint32) · what is known (uint32)
            · η and λ of each tensor (float64)
            · ‖w̃‖, angle, ‖Δw̃‖, ‖G‖ and ‖w̃‖ before the step of each block (float64)
            · CRC-32 of all before it in the record (uint32) · 0 (uint32)

Numbers are little-endian. A record is written at once, so a cut file holds whole records and at
most one part. A file of the first version has no ‖w̃‖ before the step. Nothing in it is ever
executed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, final
from zlib import crc32

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import MALFORMED, Refusal
from normgeo.base.text import text
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.recordings.tensors import Tensor

MAGIC = b"\x93normgeo run 2\r\n"
FIRST_MAGIC = b"\x93normgeo run 1\r\n"
"""The first bytes of a file of the first version."""
NUMBERS, FIRST_NUMBERS = 5, 4  # of a block in a record, now and in the first version
LONGEST_HEADER = 16 * 10**6  # bytes
LARGEST = 512 * 10**6
"""Bytes of records that are read."""
MOST_NEURONS = 10**6

HAS_TURN, HAS_GRADIENT = 1, 2  # flags for what a record holds besides the norms


@final
@dataclass(frozen=True)
class Header:
    """The header of a file.

    Attributes:
        tensors: of the recorded blocks, in order. optimizer: the rule, None if not stated.
        numbers: how many a record holds of each block.

    Raises:
        ValueError: over `MOST_NEURONS`.

    """

    tensors: tuple[Tensor, ...]
    optimizer: Optimizer | None
    numbers: int = NUMBERS

    def __post_init__(self) -> None:
        if (neurons := sum(tensor.shape[tensor.axis] for tensor in self.tensors)) > MOST_NEURONS:
            raise Refusal(
                "A recording holds up to {most:,} neurons; these are {neurons:,}. Leave some "
                "weights out.",
                most=MOST_NEURONS,
                neurons=neurons,
            )

    @cached_property
    def counts(self) -> list[int]:
        """How many blocks each tensor has."""
        return [len(tensor.blocks.neurons) for tensor in self.tensors]

    @cached_property
    def record(self) -> np.dtype[Any]:
        """The layout of a record."""
        return np.dtype(
            [
                ("step", "<u8"),
                ("span", "<u4"),
                ("known", "<u4"),
                ("rates", "<f8", (len(self.tensors), 2)),
                ("blocks", "<f8", (sum(self.counts), self.numbers)),
                ("crc", "<u4"),
                ("pad", "<u4"),
            ]
        )

    def encoded(self) -> bytes:
        """The bytes of the header at the beginning of a file."""
        rule = self.optimizer and {"key": self.optimizer.key} | _numbers_of(self.optimizer)
        tensors = [tensor.described() for tensor in self.tensors]
        words = json.dumps({"tensors": tensors, "optimizer": rule}).encode("utf-8")
        frame = np.array([len(words), crc32(words)], "<u4").tobytes()
        return (MAGIC if self.numbers == NUMBERS else FIRST_MAGIC) + frame + words


class Contents(NamedTuple):
    """The content of a file.

    Attributes:
        header: of the file. records: the valid ones, in order, (R,).
        size: bytes up to the end of the last complete record.
        notes: sentences on damaged or incomplete parts.

    """

    header: Header
    records: Array
    size: int
    notes: tuple[str, ...]


def frame(header: Header, step: int, span: int, known: int, rates: Array, blocks: Array) -> bytes:
    """The bytes of a record."""
    record = np.zeros((), header.record)
    for name, value in zip(
        record.dtype.names or (), (step, span, known, rates, blocks), strict=False
    ):
        record[name] = value
    record["crc"] = crc32(record.tobytes()[:-8])
    return record.tobytes()


def is_recording(path: Path) -> bool:
    """Whether a file begins as a recording does, even if it is cut within the first bytes."""
    try:
        with path.open("rb") as file:
            begin = file.read(len(MAGIC))
    except OSError:
        return False  # the reader will say why it cannot be read
    return begin != b"" and _begins(begin)


def _begins(begin: bytes) -> bool:
    """Whether these are the first bytes of a recording, or the start of them."""
    return any(magic.startswith(begin[: len(magic)]) for magic in (MAGIC, FIRST_MAGIC))


def read_file(path: Path) -> Contents:
    """Read a recording, while it grows and after a crash in the middle of a record.

    Raises:
        ValueError: no recording, or one of more than `LARGEST` bytes. OSError: no such file.

    """
    with path.open("rb") as file:
        begin = file.read(len(MAGIC) + 8)
        if not _begins(begin):
            raise _refused(path, text("it begins with other bytes"))
        if len(begin) < len(MAGIC) + 8:
            raise _refused(path, text("it ends before its first step was recorded"))
        length, checksum = np.frombuffer(begin[len(MAGIC) :], "<u4").tolist()
        if length > LONGEST_HEADER:
            raise _refused(path, text("its header claims to be {length:,} bytes", length=length))
        words = file.read(length)
        if len(words) < length:
            raise _refused(path, text("it ends before its first step was recorded"))
        if crc32(words) != checksum:
            raise _refused(path, text("its header is damaged"))
        numbers = NUMBERS if begin.startswith(MAGIC) else FIRST_NUMBERS
        header = _header(words, numbers, path)
        place, size = file.tell(), header.record.itemsize
        there = os.fstat(file.fileno()).st_size - place
        if there > LARGEST:
            raise Refusal(
                "{path!s} holds {there:,} bytes of records; up to {most:,} are read. Record "
                "every tenth step, or fewer blocks.",
                path=path,
                there=there,
                most=LARGEST,
            )
        data = file.read(there // size * size)
    whole = len(data) // size  # a file that is being written may have become shorter
    records = np.frombuffer(data, header.record, whole)
    sound = np.array(
        [
            crc32(data[i * size : (i + 1) * size - 8]) == int(records["crc"][i])
            for i in range(whole)
        ],
        dtype=bool,
    )
    notes = []
    if not sound.all():
        notes.append(
            text(
                "{damaged} of {whole} records are damaged and left out, the first after {before}.",
                damaged=int(whole - sound.sum()),
                whole=whole,
                before=int(np.argmin(sound)),
            )
        )
    if there % size:
        notes.append(
            text(
                "The file ends within a record, after {whole} whole ones: the run is being "
                "recorded, or was cut off.",
                whole=whole,
            )
        )
    return Contents(header, records[sound], place + whole * size, tuple(notes))


def _header(words: bytes, numbers: int, path: Path) -> Header:
    try:
        kept = json.loads(words.decode("utf-8"))
        # Before allocating anything for the number of neurons that it claims.
        if sum(int(tensor["shape"][tensor["axis"]]) for tensor in kept["tensors"]) > MOST_NEURONS:
            raise ValueError(len(kept["tensors"]))
        tensors = tuple(map(Tensor.from_description, kept["tensors"]))
        rule = kept["optimizer"]
        optimizer = None
        if rule is not None:
            own = {name: value for name, value in rule.items() if name != "key"}
            optimizer = type(OPTIMIZERS[rule["key"]])(**own)
    except MALFORMED as error:
        raise _refused(path, text("its header says what this version does not know")) from error
    if not tensors:
        raise _refused(path, text("its header names no weights"))
    return Header(tensors, optimizer, numbers)


def _numbers_of(optimizer: Optimizer) -> dict[str, Any]:
    """The parameters of an optimizer; a registered one is a dataclass."""
    return asdict(optimizer)  # type: ignore[call-overload, no-any-return]


def _refused(path: Path, why: str) -> Refusal:
    return Refusal(
        "A recording is a file that `normgeo.Recorder` has written; {path!s} is none: {why}.",
        path=path,
        why=why,
    )


def block_names(tensors: Sequence[Tensor]) -> tuple[str, ...]:
    """The name of each block: its tensor, and its neurons if the tensor has several blocks."""
    names = []
    for tensor in tensors:
        for neurons in (blocks := tensor.blocks.neurons).tolist():
            inside = f"{neurons[0]}" if len(neurons) == 1 else f"{neurons[0]}–{neurons[-1]}"
            names.append(tensor.name if len(blocks) == 1 else f"{tensor.name}[{inside}]")
    return tuple(names)
