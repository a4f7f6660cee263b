"""Sequences that ship: digits read row by row or pixel by pixel, and a text, letter by letter."""

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
    """Sequences to train on, and others held out.

    Attributes:
        title: what they are. source: where they come from, with what would change them.
        X_train, X_test: (N, T, F). y_train, y_test: a class for each sequence (N,), or for each
            step (N, T).
        classes: how many there are.

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
        """Whether each step has a class, and not the sequence alone."""
        return self.y_train.ndim == 2


class Task(NamedTuple):
    """A kind of sequences: its names, the steps it is made with, and how, by steps and seed."""

    key: str
    title: str
    steps: int
    make: Callable[[int, int], Sequences]


def _digits(title: str, features: int, steps: int, seed: int) -> Sequences:
    """Digits as their ink from 0 to 1, so many pixels a step, each step as often as asked for."""
    digits = DATASETS["digits"].load()
    pixels = digits.raw.reshape(len(digits.raw), -1, features) / digits.raw.max()
    if steps % pixels.shape[1]:
        raise Refusal(
            text(
                "{title} are read in {whole} steps or a multiple, each as often; got {steps}.",
                title=title,
                whole=pixels.shape[1],
                steps=steps,
            )
        )
    X = np.repeat(pixels, steps // pixels.shape[1], axis=1)
    train, test = held_out_cases(digits, seed=seed)
    source = text("1797 handwritten digits of scikit-learn, a fifth held out by the seed")
    return Sequences(title, source, X[train], digits.y[train], X[test], digits.y[test], 10)


def _rows(steps: int, seed: int) -> Sequences:
    return _digits(TASKS["rows"].title, 8, steps, seed)


def _pixels(steps: int, seed: int) -> Sequences:
    return _digits(TASKS["pixels"].title, 1, steps, seed)


HELD_OUT_LETTERS = 171  # the end of the text, a fifth


def _letters(steps: int, seed: int) -> Sequences:
    """Every stretch of the text in small letters, and at each step the letter that follows."""
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
    """The Zen of Python in small letters; its module is read, as to import it would print it.

    Raises:
        ValueError: this Python comes without its module `this`.

    """
    spec = find_spec("this")
    source = getattr(spec and spec.loader, "get_source", lambda name: None)("this")
    for node in ast.walk(ast.parse(source or "")):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > 99:
            return codecs.decode(node.value, "rot13").lower()
    raise Refusal(text("This Python has no source of its module `this`; use the digits."))


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
        task: its key. steps: T; that of the task where None. Digits take a multiple of it, each
            step of which is read as often; the text any number.
        seed: of the digits that are held out.

    Raises:
        ValueError: an unknown task, or steps it does not take.

    """
    word_of("task", task, TASKS)
    count = TASKS[task].steps if steps is None else whole_number("steps", steps, 1)
    return TASKS[task].make(count, seed_number(seed))
