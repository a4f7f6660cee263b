"""Handwriting that is made here: a small script alphabet, drawn by a hand that is never steady.

Letters are smooth curves through a few points, in units of the height of an x, that begin and end
near the baseline, so that words are one line of ink. They are this project's own: neither a font
nor anybody's hand. A dot and a bar are strokes after the letter that they belong to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal

Curve = tuple[tuple[float, float], ...]

_BOWL: Curve = ((0.4, 0.75), (0.68, 0.95), (0.4, 1), (0.16, 0.5), (0.33, 0.04), (0.62, 0.3))
_HUMP: Curve = ((0.4, 0.6), (0.62, 1), (0.76, 0.75), (0.74, 0.3), (0.88, 0), (1.1, 0.12))
_TALL: Curve = ((0.35, 0.8), (0.48, 1.7), (0.3, 2), (0.22, 1.4))

LETTERS: dict[str, tuple[Curve, ...]] = {
    "a": ((*_BOWL, (0.78, 0.95), (0.75, 0.35), (0.9, 0), (1.12, 0.12)),),
    "c": (((0.4, 0.8), (0.62, 0.88), (0.4, 1), (0.15, 0.5), (0.32, 0.04), (0.62, 0), (0.9, 0.12)),),
    "d": ((*_BOWL, (0.85, 1.3), (0.95, 2), (0.82, 1), (0.78, 0.3), (0.92, 0), (1.15, 0.12)),),
    "e": (
        ((0.42, 0.35), (0.58, 0.78), (0.36, 1), (0.14, 0.5), (0.3, 0.04), (0.6, 0), (0.9, 0.12)),
    ),
    "h": ((*_TALL, (0.2, 0.5), (0.22, 0), *_HUMP),),
    "i": (
        ((0.25, 0.6), (0.32, 1), (0.3, 0.4), (0.45, 0), (0.7, 0.12)),
        ((0.36, 1.42), (0.42, 1.46)),
    ),
    "l": ((*_TALL, (0.2, 0.4), (0.42, 0), (0.75, 0.12)),),
    "m": (
        (
            *((0.2, 0.7), (0.28, 0.95), (0.28, 0.5), (0.28, 0), (0.36, 0.6), (0.54, 1)),
            *((0.64, 0.75), (0.64, 0), (0.72, 0.6), (0.92, 1)),
            *((1.04, 0.75), (1.02, 0.3), (1.16, 0), (1.4, 0.12)),
        ),
    ),
    "n": (((0.2, 0.7), (0.3, 0.95), (0.31, 0.5), (0.3, 0), *_HUMP),),
    "o": (
        (
            *((0.3, 0.7), (0.5, 1), (0.2, 0.7), (0.26, 0.1), (0.58, 0.06)),
            *((0.74, 0.6), (0.5, 1), (0.72, 0.72), (1.05, 0.12)),
        ),
    ),
    "r": (
        ((0.2, 0.75), (0.3, 1.1), (0.42, 0.9), (0.62, 0.9), (0.55, 0.35), (0.68, 0), (0.95, 0.12)),
    ),
    "s": (
        ((0.32, 0.7), (0.42, 1.05), (0.5, 0.6), (0.46, 0.1), (0.22, 0.04), (0.5, 0), (0.82, 0.12)),
    ),
    "t": (
        ((0.3, 0.8), (0.42, 1.6), (0.36, 0.8), (0.36, 0.2), (0.5, 0), (0.78, 0.12)),
        ((0.12, 1.15), (0.65, 1.2)),
    ),
    "u": (
        (
            *((0.25, 0.6), (0.3, 1), (0.28, 0.4), (0.46, 0), (0.7, 0.3)),
            *((0.82, 1), (0.78, 0.4), (0.94, 0), (1.2, 0.12)),
        ),
    ),
}
SPACE = 0.7  # its width
ALPHABET = " " + "".join(LETTERS)

WORDS = (
    *(
        "a",
        "an",
        "and",
        "as",
        "at",
        "came",
        "can",
        "charm",
        "child",
        "cold",
        "dream",
        "each",
        "ear",
    ),
    *("east", "hand", "has", "hat", "head", "her", "here", "his", "home", "horn", "hour", "idea"),
    *("in", "is", "it", "land", "late", "learn", "letter", "line", "lion", "mad", "man", "mile"),
    *("mind", "mine", "moon", "more", "mouse", "name", "near", "nine", "no", "note", "old", "on"),
    *("one", "or", "our", "out", "rain", "read", "road", "rose", "round", "run", "sand"),
    *(
        "sea",
        "sent",
        "she",
        "shore",
        "should",
        "sit",
        "so",
        "some",
        "sound",
        "south",
        "star",
        "stone",
    ),
    *("sun", "tea", "tell", "ten", "that", "the", "then", "there", "these", "time", "to", "tree"),
    *("turn", "under", "us", "use", "told", "touch", "train", "truth", "instrument", "moments"),
)

SPACING = 0.2  # of the points along a line at an even speed
STEADY = 12  # samples of a curve between two of its points
SLANT, SIZE, SHAKE, SPEED = 0.12, 0.08, 0.035, 0.25  # how unlike lines, letters and moments are


class Line(NamedTuple):
    """A written line.

    Attributes:
        text: what is written. points: (P, 3), the pen's offset dx, dy in heights of an x, and 1
            where it leaves the paper after this point. characters: (P,), which one each belongs to.

    """

    text: str
    points: Array
    characters: Array


def write(words: str, rng: np.random.Generator) -> Line:
    """Write words by a hand of its own slant and size, that shakes and hurries.

    Raises:
        ValueError: a character that is not in ALPHABET.

    """
    if strange := sorted(set(words) - set(ALPHABET)):
        raise Refusal(
            "This hand writes the letters {letters!s} and the space; got {strange!r}.",
            letters="".join(LETTERS),
            strange="".join(strange),
        )
    slant, size = rng.normal(0.2, SLANT), np.exp(rng.normal(0, SIZE, 2))
    places, lifts, owners = [np.zeros((1, 2))], [np.zeros(1)], [np.zeros(1, int)]
    x, drift = 0.0, 0.0
    for index, character in enumerate(words):
        if character == " ":
            lifts[-1][-1] = 1
            x += SPACE + rng.normal(0, SHAKE)
            continue
        drift = 0.8 * drift + rng.normal(0, SHAKE)
        for stroke, curve in enumerate(LETTERS[character]):
            shaken = np.add(curve, (x, drift)) + rng.normal(0, SHAKE, (len(curve), 2))
            joined = not stroke and not lifts[-1][-1]
            inked = np.vstack([places[-1][-1:], shaken]) if joined else shaken
            sampled = _evenly(inked, rng)[joined:]
            places.append(sampled)
            lifts[-1][-1] = max(lifts[-1][-1], stroke > 0)
            lifts.append(np.zeros(len(sampled)))
            owners.append(np.full(len(sampled), index))
        if len(LETTERS[character]) > 1:
            lifts[-1][-1] = 1
        x += LETTERS[character][0][-1][0]
    lifts[-1][-1] = 1
    at = np.concatenate(places)
    at = np.column_stack([at[:, 0] + slant * at[:, 1], at[:, 1]]) * size
    points = np.column_stack([np.diff(at, axis=0), np.concatenate(lifts)[1:]])
    return Line(words, points, np.concatenate(owners)[1:])


def phrase(rng: np.random.Generator, letters: int) -> str:
    """Return random WORDS of at least so many characters."""
    words = ""
    while len(words) < letters:
        words += f"{rng.choice(WORDS)} "
    return words


def _evenly(points: Array, rng: np.random.Generator) -> Array:
    """Return a smooth curve through points, sampled by a hand of varying speed."""
    ends = np.vstack([2 * points[0] - points[1], points, 2 * points[-1] - points[-2]])
    p, q, r, s = (ends[k : len(ends) - 3 + k, None] for k in range(4))
    t = np.linspace(0, 1, STEADY, endpoint=False)[:, None]
    # Catmull and Rom's spline.
    bent = 2 * q + (r - p) * t + (2 * p - 5 * q + 4 * r - s) * t**2 + (3 * q - p - 3 * r + s) * t**3
    fine = np.vstack([bent.reshape(-1, 2) / 2, points[-1:]])
    length = np.concatenate([[0], np.hypot(*np.diff(fine, axis=0).T).cumsum()])
    count = max(2, round(length[-1] / SPACING))
    paces = np.exp(rng.normal(0, SPEED, count)).cumsum()
    stops = np.concatenate([[0], paces / paces[-1]]) * length[-1]
    return np.column_stack([np.interp(stops, length, fine[:, k]) for k in (0, 1)])
