"""Measured tables in files: written by `MeasuredTable.save`, read back whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from normgeo.base.arguments import file_path, flag, seed_number, whole_number
from normgeo.base.budget import memory
from normgeo.base.refusal import MALFORMED, Refusal
from normgeo.measured.parameters import require_axes, require_names
from normgeo.measured.saved.described import role_from, tensor_from, trade_from
from normgeo.measured.table import KIND, MeasuredTable, Options

LARGEST = 100 * 10**6
"""The most bytes of a file; the table of a model with a hundred layers takes a hundredth."""


def is_measured(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a measured table does; False if it can't be read."""
    try:
        with Path(path).open("rb") as file:
            begin = file.read(200).decode("utf-8", "replace")
    except OSError:
        return False  # whoever reads it reports why
    return "".join(begin.split()).startswith('{"normgeo":"measuredtable')


def read_measured(path: str | os.PathLike[str]) -> MeasuredTable:
    """Read a table that `MeasuredTable.save` has written as .json, whole or in part.

    Raises:
        ValueError: no such table, one of another version, or over `LARGEST` bytes. OSError: no
            such file.

    """
    found = file_path("path", path)
    if found.exists() and not found.is_file() and not found.is_dir():
        raise Refusal("{path!s} is no file but a pipe or a device.", path=found)
    with found.open("rb") as file:
        size = os.fstat(file.fileno()).st_size  # read(n) takes n bytes of memory, however few come
        content = file.read(min(size, LARGEST) + 1)
    if len(content) > LARGEST:
        raise Refusal(
            "{path!s} is too large for a measured table: up to {most} are read.",
            path=found,
            most=memory(LARGEST),
        )
    try:
        told = json.loads(content)
        if told["normgeo"] != KIND:
            raise ValueError(f"it is {told['normgeo']!r}, and this version reads {KIND!r}")
        return _table(told)
    except MALFORMED as error:
        raise Refusal(
            "A measured table is a .json file that `MeasuredTable.save` or `normgeo network` "
            "has written; {path!s} is none ({error!s}).",
            path=found,
            error=str(error)[:200].rstrip("."),
        ) from error


def _table(told: Mapping[str, Any]) -> MeasuredTable:
    tensors = {one["name"]: tensor_from(one) for one in told["tensors"]}
    names = tuple(map(str, told["names"]))
    complete = flag("complete", told["complete"])
    roles = {name: role_from(role) for name, role in told["roles"].items()}
    if len(tensors) < len(told["tensors"]) or len({*names}) < len(names):
        raise ValueError("two tensors have one name")
    if not {*roles} <= {*tensors} <= {*names}:
        raise ValueError("it tells of tensors that it does not name")
    if complete and not len(roles) == len(tensors) == len(names):
        raise ValueError("it says that it is complete, and is not")
    options = told["options"]
    matrices = options.get("matrices")
    return MeasuredTable(
        tensors,
        roles,
        tuple(trade_from(trade, roles) for trade in told["trades"]),
        complete,
        _length(told["rounding"]),
        tuple(map(str, told["kinds"])),
        whole_number("calls", told["calls"]),
        _length(told["length"]),
        Options(
            require_axes(options["neurons"]),
            whole_number("tries", options["tries"]),
            seed_number(options["seed"]),
            flag("negative", options["negative"]),
            require_names("embeddings", options.get("embeddings", ())),
            None if matrices is None else require_names("matrices", matrices),
        ),
        names,
    )


def _length(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ValueError(f"{value!r} where a length is")
    return float(value)
