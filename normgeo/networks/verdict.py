"""A verdict on whether a function ignores a change of its weights, and the evidence for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.invariance import exact

DRAWS = 2
"""Independent draws of exact numbers."""

MOVES = 1e-6
"""Fraction of the largest output: a change that moves outputs by more counts as a change."""

ROUNDING = 1e-9
"""Fraction of the largest output that rounding may move it by."""

CHECKED, WITNESSES = 4, 256
"""Functions of floats compared with a ✓; functions tried until one moves."""

REDRAWS = 3
"""Redraws before floats that contradict a ✓ are called a defect."""


@final
class ContradictionError(ArithmeticError):
    """Floats move although exact numbers do not: one of the two computations is wrong."""


@final
@dataclass(frozen=True)
class Link:
    """One link of the chain, and the relation of the sum after it to the original sum.

    Attributes:
        title: of the link. relation: one of RELATIONS in words; "" if none holds.

    """

    title: str
    relation: str


@final
@dataclass(frozen=True, eq=False)
class Ignored:
    """Whether a function is unchanged by a change of its weights.

    Attributes:
        key, title: of the change. certified: whether it is ignored at the ε in use.
        only_without_eps: whether it is ignored at ε = 0 only.
        moved: largest change of an output over the largest output, for functions of floats drawn
            with the same seed.
        links: of the chain that certifies it, up to where no relation holds.
        region: where a ✓ or ≈ holds, in words; "" otherwise.
        degree: a bound on the degree of the compared polynomials. draws: their number.
        error_bound: a bound on the share of draws that give ✓ or ≈ to a change that is not ignored
            somewhere in the region; 0 if nothing is certified.

    """

    key: str
    title: str
    certified: bool
    only_without_eps: bool
    moved: float
    links: tuple[Link, ...] = ()
    region: str = ""
    degree: int = 0
    draws: int = 0
    error_bound: float = 0.0

    @property
    def symbol(self) -> str:
        """✓ ignored, ✗ not, ≈ only at ε = 0; ? if nothing is certified and nothing moves."""
        if self.certified:
            return "✓"
        if self.only_without_eps:
            return "≈"
        return "✗" if self.moved > MOVES else "?"


class Check(NamedTuple):
    """A chain of exact comparisons: whether it holds, and its bounds, as in `Ignored`."""

    holds: bool
    links: tuple[Link, ...] = ()
    degree: int = 0
    error_bound: float = 0.0


def judged(
    key: str,
    title: str,
    region: str,
    check: Check,
    ideal: Callable[[], Check] | None,
    move: Callable[[int], float],
) -> Ignored:
    """Return the verdict on one change.

    Args:
        key, title: of the change. region: where a successful check holds.
        check: at the ε in use. ideal: at ε = 0, None if it is the same check.
        move: the size of the change of the i-th function of floats.

    """
    without = ideal() if ideal and not check.holds else None
    found = without if without and without.holds else check
    largest = 0.0
    for index in range(CHECKED if check.holds else WITNESSES):
        largest = max(largest, move(index))
        if not check.holds and largest > MOVES:
            break
    return Ignored(
        key,
        title,
        check.holds,
        found is without,
        largest,
        check.links,
        region if found.holds else "",
        found.degree,
        DRAWS if found.holds else 0,
        found.error_bound,
    )


def uncontradicted(find: Callable[[int], dict[str, Ignored]]) -> dict[str, Ignored]:
    """Return the verdicts of the first draw in which floats contradict no ✓.

    Raises:
        ContradictionError: there is none: a defect, not an answer.

    """
    for attempt in range(REDRAWS):
        found = find(attempt)
        wrong = [one for one in found.values() if one.certified and one.moved > ROUNDING]
        if not wrong:
            return found
    one = wrong[0]
    raise ContradictionError(
        text(
            "The change “{title}” is certified as ignored, but moves outputs by {share:.1e} of the "
            "largest in each of {count} draws. This is a defect of the program: please report it.",
            title=one.title,
            share=one.moved,
            count=REDRAWS,
        )
    )


def false_pass(identities: int, squares: int, degree: int) -> float:
    """Return a bound on the probability that a draw passes a false comparison: n degree/2⁶¹.

    Args:
        identities: number of comparisons that may pass wrongly. squares: number of v, any two of
            which may be confused, or one with δ² times another. degree: of all comparisons.

    Source: Schwartz 1980, Zippel 1979.

    """
    pairs = squares * (squares - 1) // 2
    return min(1.0, (identities + 3 * pairs) * degree / float(2**exact.FIELD_BITS))


def moved(before: Array, after: Array) -> float:
    """Return max|after − before| / max|before|, 0 if both are 0."""
    return float(np.abs(after - before).max() / (np.abs(before).max() or 1.0))
