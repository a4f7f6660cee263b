"""A measured table as plain JSON values, and back: reading a file runs no code in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from math import inf, isfinite, prod
from typing import Any

import numpy as np

from normgeo.measured.changes import CHANGES
from normgeo.measured.judging import WORDS, Verdict
from normgeo.measured.roles import ROLES
from normgeo.measured.tensor import MeasuredTensor
from normgeo.measured.trade import PARTS, Part, Trade

ROWS = ("untried", "zeros", "dead", "undecided")
"""Attributes of a measured tensor that are numbers of rows."""


def describe(one: MeasuredTensor) -> dict[str, Any]:
    """Return a measured tensor as plain values; neighboring rows become a pair of ends."""
    by_verdict: dict[Verdict, list[int]] = {}
    for row, verdict in sorted(one.rows.items()):
        by_verdict.setdefault(verdict, []).append(row)
    return {
        "name": one.name,
        "shape": [*one.shape],
        "is_vector": one.is_vector,
        "influence": _finite(one.influence),
        "verdicts": {
            change: verdict and _of_verdict(verdict) for change, verdict in one.verdicts.items()
        },
        "rows": [[*_of_verdict(verdict), _runs(rows)] for verdict, rows in by_verdict.items()],
        **{name: _runs(getattr(one, name)) for name in ROWS},
        "blocks": one.blocks,
        "norms": [*map(_finite, one.norms.tolist())],
        "tied": [*one.tied],
    }


def tensor_from(told: Mapping[str, Any]) -> MeasuredTensor:
    """Return a measured tensor from such values.

    Raises:
        ValueError, LookupError, TypeError: values that no tensor has.

    """
    norms = np.array([_number(value) for value in told["norms"]])
    neurons, shape = len(norms), tuple(_whole(length, 1) for length in told["shape"])
    if neurons not in (*shape, 1) or prod(shape) % neurons:
        raise ValueError(f"{neurons} norms of rows, and a shape of {shape}")
    verdicts = {change: _verdict(told["verdicts"][change]) for change in CHANGES}
    rows: dict[int, Verdict] = {}
    for sign, moved, runs in told["rows"]:
        rows |= dict.fromkeys(_rows(runs, neurons), _verdict_of(sign, moved))
    return MeasuredTensor(
        name=_words(told["name"]),
        shape=shape,
        neurons=neurons,
        is_vector=_truth(told["is_vector"]),
        influence=_number(told["influence"]),
        verdicts=verdicts,
        rows=dict(sorted(rows.items())),
        **{name: _rows(told[name], neurons) for name in ROWS},
        blocks=_whole(told["blocks"], 0, neurons),
        norms=norms,
        tied=tuple(map(_words, told["tied"])),
    )


def describe_trade(trade: Trade) -> dict[str, Any]:
    """Return a trade as plain values."""
    return {
        "parts": [[part.name, part.along, part.power] for part in trade.parts],
        "verdict": _of_verdict(trade.verdict),
        "count": trade.count,
        "shift": trade.shift,
    }


def trade_from(told: Mapping[str, Any], names: Iterable[str]) -> Trade:
    """Return a trade of tensors of these names from such values, as `tensor_from` does."""
    known = {*names}
    parts = []
    for name, along, power in told["parts"]:
        if name not in known or along not in PARTS:
            raise ValueError(f"a trade of {name!r} by {along!r}")
        parts.append(Part(name, along, _whole(power, -99, 99)))
    verdict = _verdict_of(*told["verdict"])
    return Trade(tuple(parts), verdict, _whole(told["count"], 1), _truth(told["shift"]))


def by_line(told: Mapping[str, object], **lists: Iterable[object]) -> str:
    """Return plain values as JSON in ASCII: a line for each, and for each entry of some lists.

    >>> print(by_line({"a": 1}, b=[2, 3]), end="")
    {"a": 1,
    "b": [
    2,
    3]}

    """

    def written(value: object) -> str:
        return json.dumps(value, allow_nan=False)

    lines = [f"{written(key)}: {written(value)}" for key, value in told.items()]
    for key, entries in lists.items():
        lines.append(f"{written(key)}: [\n" + ",\n".join(map(written, entries)) + "]")
    return "{" + ",\n".join(lines) + "}\n"


def role_from(told: object) -> str:
    """Return the role of a tensor, a key of ROLES."""
    if told not in ROLES:
        raise ValueError(f"the role {told!r}")
    return str(told)


def _of_verdict(verdict: Verdict) -> list[Any]:
    return [verdict.sign, _finite(verdict.moved)]


def _verdict(told: Any) -> Verdict | None:
    return None if told is None else _verdict_of(*told)


def _verdict_of(sign: object, moved: object) -> Verdict:
    if sign not in WORDS:
        raise ValueError(f"the sign {sign!r}")
    return Verdict(str(sign), _number(moved))


def _runs(rows: Iterable[int]) -> list[list[int]]:
    """Rows as pairs of a first and a last one.

    >>> _runs([0, 1, 2, 5])
    [[0, 2], [5, 5]]

    """
    runs: list[list[int]] = []
    for row in rows:
        if runs and runs[-1][1] + 1 == row:
            runs[-1][1] = row
        else:
            runs.append([row, row])
    return runs


def _rows(runs: Any, neurons: int) -> tuple[int, ...]:
    ends = [(_whole(first, 0), _whole(last, 0, neurons - 1)) for first, last in runs]
    rows = tuple(row for first, last in ends for row in range(first, last + 1))
    if len({*rows}) < len(rows):
        raise ValueError("a row is told of twice")
    return rows


def _finite(value: float) -> float | None:
    """A share of the outputs; JSON has no number beyond floats."""
    return float(value) if isfinite(value) else None


def _number(value: object) -> float:
    if value is None:
        return inf
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ValueError(f"{value!r} where a length is")
    return float(value)


def _whole(value: object, least: int, most: int = 2**53) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{value!r} where a whole number is")
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} where yes or no is")
    return value


def _words(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} where a name is")
    return value
