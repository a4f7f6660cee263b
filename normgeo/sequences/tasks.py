"""Sequences that ship: digits row by row or pixel by pixel, and a text letter by letter."""

from __future__ import annotations

import ast
import codecs
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple, final

import numpy as np

from normgeo.base.arguments import seed_number, whole_number, word_of
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.datasets.hold_out import held_out_cases


@final
@dataclass(frozen=True, eq=False)
class Sequences:
    """Training and held-out sequences.

    Attributes:
        title: their name. source: where they come from, and which settings change them.
        X_train, X_test: (N, T, F). y_train, y_test: a class for each sequence (N,), or for each
            step (N, T).
        classes: the number of classes.

    """

    title: str
    source: str
    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array
    classes: int

    @property
    def steps(self) -> int:
        """T."""
        return int(self.X_train.shape[1])

    @property
    def features(self) -> int:
        """F."""
        return int(self.X_train.shape[2])

    @property
    def every_step(self) -> bool:
        """Whether each step has a class, instead of the whole sequence."""
        return self.y_train.ndim == 2


class Task(NamedTuple):
    """A kind of sequences: its names, its default steps, and a function of steps and seed."""

    key: str
    title: str
    steps: int
    make: Callable[[int, int], Sequences]


def _digits(title: str, features: int, steps: int, seed: int) -> Sequences:
    """Return digits as ink from 0 to 1, `features` pixels a step, each step repeated as needed."""
    digits = DATASETS["digits"].load()
    pixels = digits.raw.reshape(len(digits.raw), -1, features) / digits.raw.max()
    if steps % pixels.shape[1]:
        raise Refusal(
            "{title} are read in {whole} steps or a multiple, each as often; got {steps}.",
            title=title,
            whole=pixels.shape[1],
            steps=steps,
        )
    X = np.repeat(pixels, steps // pixels.shape[1], axis=1)
    train, test = held_out_cases(digits, seed=seed)
    source = text("1797 handwritten digits of scikit-learn, a fifth held out by the seed")
    return Sequences(title, source, X[train], digits.y[train], X[test], digits.y[test], 10)


def _rows(steps: int, seed: int) -> Sequences:
    return _digits(TASKS["rows"].title, 8, steps, seed)


def _pixels(steps: int, seed: int) -> Sequences:
    return _digits(TASKS["pixels"].title, 1, steps, seed)


HELD_OUT_LETTERS = 171  # the last fifth of the text


def _letters(steps: int, seed: int) -> Sequences:
    """Every stretch of the text in lower case, and the next letter at each step."""
    letters = zen()
    alphabet = sorted(set(letters))
    codes = np.array([alphabet.index(letter) for letter in letters])
    parts = []
    for part in (codes[:-HELD_OUT_LETTERS], codes[-HELD_OUT_LETTERS:]):
        whole_number("steps", steps, 1, len(part) - 1)
        stretches = np.lib.stride_tricks.sliding_window_view(part, steps + 1)
        parts += [np.eye(len(alphabet))[stretches[:, :-1]], stretches[:, 1:]]
    X_train, y_train, X_test, y_test = parts
    source = text(
        "The Zen of Python (Tim Peters, PEP 20), {count} letters as Python's module `this` has "
        "them in every version; the last {held} are held out",
        count=len(letters),
        held=HELD_OUT_LETTERS,
    )
    title = TASKS["letters"].title
    return Sequences(title, source, X_train, y_train, X_test, y_test, len(alphabet))


@cache
def zen() -> str:
    """Return the Zen of Python in lower case, read from its module: importing would print it.

    Raises:
        ValueError: this Python has no module `this`.

    """
    spec = find_spec("this")
    source = getattr(spec and spec.loader, "get_source", lambda name: None)("this")
    for node in ast.walk(ast.parse(source or "")):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > 99:
            return codecs.decode(node.value, "rot13").lower()
    raise Refusal("This Python has no source of its module `this`; use the digits.")


TASKS: dict[str, Task] = {
    task.key: task
    for task in (
        Task("rows", text("digits, row by row"), 8, _rows),
        Task("pixels", text("digits, pixel by pixel"), 64, _pixels),
        Task("letters", text("a text, letter by letter"), 16, _letters),
    )
}


def load_sequences(task: str, *, steps: int | None = None, seed: int = 0) -> Sequences:
    """Return the sequences of a task of TASKS.

    Args:
        task: its key. steps: T; None for the task's own. Digits take a multiple of that, and repeat
            each step; the text takes any number.
        seed: chooses the digits held out.

    Raises:
        ValueError: an unknown task, or a number of steps that it does not allow.

    """
    word_of("task", task, TASKS)
    count = TASKS[task].steps if steps is None else whole_number("steps", steps, 1)
    return TASKS[task].make(count, seed_number(seed))
