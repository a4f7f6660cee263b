"""Timing and tables: interleaved repetitions, medians, one table for each benchmark."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import scipy


@dataclass(frozen=True)
class Row:
    """One measurement: times in seconds, and the ratio in words with the aim, if there is one."""

    what: str
    seconds: float
    against: str
    against_seconds: float
    ratio: str
    aim: str = ""


@dataclass(frozen=True)
class Pair:
    """Median times of two functions, and the median of the ratios of neighboring runs."""

    seconds: float
    against_seconds: float
    ratio: float


def interleaved(function: Callable[[], Any], against: Callable[[], Any], repetitions: int) -> Pair:
    """Time two functions in turn, after one run of each that does not count.

    Other work of the machine affects neighboring runs alike, and so not their ratio.
    """
    function(), against()
    times = [(_seconds(function), _seconds(against)) for _ in range(repetitions)]
    ours, theirs = zip(*times, strict=True)
    return Pair(median(ours), median(theirs), median(a / b for a, b in times))


def _seconds(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def machine() -> str:
    """Return the machine and versions on which the times depend, without a date."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, "
        f"numpy {np.__version__} with {blas['name']} {blas['version']}, scipy {scipy.__version__}."
    )


def table(rows: Iterable[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| what | time | against | its time | ratio | aim |", "|---|---:|---|---:|---:|---:|"]
    for row in rows:
        ours, theirs = (_in_words(s) for s in (row.seconds, row.against_seconds))
        lines.append(
            f"| {row.what} | {ours} | {row.against} | {theirs} | {row.ratio} | {row.aim} |"
        )
    return "\n".join(lines)


def _in_words(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"
