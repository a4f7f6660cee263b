"""Handwriting that is made here: Hershey's script letters, drawn by a hand that is never steady.

The letters are those of A. V. Hershey, Calligraphy for computers, U.S. Naval Weapons Laboratory,
1967, which are in the public domain: the small ones of "script simplex". One that begins near
where the pen rests is joined to what stands before it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal

HEIGHT, JOINT = 9, 5  # of an x, and where letters meet, in Hershey's units
DRAWN = """
a 9,6 8,8 6,9 4,9 2,8 1,7 0,5 0,3 1,1 3,0 5,0 7,1 8,3 10,9 9,4 9,1 10,0 11,0 13,1 14,2 16,5
b 0,5 2,8 5,13 6,15 7,18 7,20 6,21 4,20 3,18 2,14 1,7 1,1 2,0 3,0 5,1 7,3 8,6 8,9 9,5 10,4 12,4
  14,5
c 7,7 7,8 6,9 4,9 2,8 1,7 0,5 0,3 1,1 3,0 6,0 9,2 11,5
d 9,6 8,8 6,9 4,9 2,8 1,7 0,5 0,3 1,1 3,0 5,0 7,1 8,3 14,21 | 10,9 9,4 9,1 10,0 11,0 13,1 14,2 16,5
e 1,2 3,3 4,4 5,6 5,8 4,9 3,9 1,8 0,6 0,3 1,1 3,0 5,0 7,1 8,2 10,5
f 0,5 4,10 6,13 7,15 8,18 8,20 7,21 5,20 4,18 2,10 -1,1 -4,-6 -5,-9 -5,-11 -4,-12 -2,-11 -1,-8 0,1
  1,0 3,0 5,1 6,2 8,5
g 9,6 8,8 6,9 4,9 2,8 1,7 0,5 0,3 1,1 3,0 5,0 7,1 8,2 | 10,9 8,2 4,-9 3,-11 1,-12 0,-11 0,-9 1,-6
  4,-3 7,-1 9,0 12,2 15,5
h 0,5 2,8 5,13 6,15 7,18 7,20 6,21 4,20 3,18 2,14 1,8 0,0 | 0,0 1,3 2,5 4,8 6,9 8,9 9,8 9,6 8,3 8,1
  9,0 10,0 12,1 13,2 15,5
i 0,5 2,9 0,3 0,1 1,0 2,0 4,1 5,2 7,5 | 3,14 3,13 4,13 4,14 3,14
j 0,5 2,9 -4,-9 -5,-11 -7,-12 -8,-11 -8,-9 -7,-6 -4,-3 -1,-1 1,0 4,2 7,5 | 3,14 3,13 4,13 4,14 3,14
k 0,5 2,8 5,13 6,15 7,18 7,20 6,21 4,20 3,18 2,14 1,8 0,0 | 0,0 1,3 2,5 4,8 6,9 8,9 9,8 9,6 7,5 4,5
  | 4,5 6,4 7,1 8,0 9,0 11,1 12,2 14,5
l 0,5 2,8 5,13 6,15 7,18 7,20 6,21 4,20 3,18 2,14 1,7 1,1 2,0 3,0 5,1 6,2 8,5
m 0,5 2,8 4,9 5,8 5,7 4,3 3,0 | 4,3 5,5 7,8 9,9 11,9 12,8 12,7 11,3 10,0 | 11,3 12,5 14,8 16,9 18,9
  19,8 19,6 18,3 18,1 19,0 20,0 22,1 23,2 25,5
n 0,5 2,8 4,9 5,8 5,7 4,3 3,0 | 4,3 5,5 7,8 9,9 11,9 12,8 12,6 11,3 11,1 12,0 13,0 15,1 16,2 18,5
o 6,9 4,9 2,8 1,7 0,5 0,3 1,1 3,0 5,0 7,1 8,2 9,4 9,6 8,8 6,9 5,8 5,6 6,4 8,3 11,3 13,4 14,5
p 0,5 2,8 3,10 2,6 -4,-12 | 2,6 3,8 5,9 7,9 9,8 10,6 10,4 9,2 8,1 6,0 | 2,1 4,0 7,0 10,1 12,2 15,5
q 9,6 8,8 6,9 4,9 2,8 1,7 0,5 0,3 1,1 3,0 5,0 7,1 | 10,9 9,6 7,1 4,-6 3,-9 3,-11 4,-12 6,-11 7,-8
  7,-1 9,0 12,2 15,5
r 0,5 2,8 3,10 3,8 6,8 7,7 7,5 6,2 6,1 7,0 8,0 10,1 11,2 13,5
s 0,5 2,8 3,10 3,8 5,5 6,3 6,1 4,0 | 0,1 2,0 6,0 8,1 9,2 11,5
t 0,5 2,8 4,12 | 7,21 1,3 1,1 2,0 4,0 6,1 7,2 9,5 | 1,13 8,13
u 0,5 2,9 0,3 0,1 1,0 3,0 5,1 7,3 9,6 | 10,9 8,3 8,1 9,0 10,0 12,1 13,2 15,5
v 0,5 2,9 1,4 1,1 2,0 3,0 6,1 8,3 9,6 9,9 | 9,9 10,5 11,4 13,4 15,5
w 3,9 1,7 0,4 0,2 1,0 3,0 5,1 7,3 | 9,9 7,3 7,1 8,0 10,0 12,1 14,3 15,6 15,9 | 15,9 16,5 17,4 19,4
  21,5
x 0,5 2,8 4,9 6,9 7,8 7,1 8,0 11,0 14,2 16,5 | 13,8 12,9 10,9 9,8 5,1 4,0 2,0 1,1
y 0,5 2,9 0,3 0,1 1,0 3,0 5,1 7,3 9,6 | 10,9 4,-9 3,-11 1,-12 0,-11 0,-9 1,-6 4,-3 7,-1 9,0 12,2
  15,5
z 0,5 2,8 4,9 6,9 8,7 8,5 7,3 5,1 2,0 4,-1 5,-3 5,-6 4,-9 3,-11 1,-12 0,-11 0,-9 1,-6 4,-3 7,-1
  11,2 14,5
"""
"""Each letter, and its strokes: x to the right of where it begins, y above the baseline."""


def _read(lines: str) -> dict[str, tuple[Array, ...]]:
    letters = {}
    for letter in lines.strip().replace("\n  ", " ").split("\n"):
        strokes = letter[2:].split(" | ")
        letters[letter[0]] = tuple(
            np.array([point.split(",") for point in stroke.split()], float) / HEIGHT
            for stroke in strokes
        )
    return letters


LETTERS = _read(DRAWN)
WIDTHS = {
    letter: max(x for stroke in strokes for x, y in stroke if y == JOINT / HEIGHT)
    for letter, strokes in LETTERS.items()
}
SPACE = 1.2  # its width, in heights of an x
ALPHABET = " " + "".join(LETTERS)

VOCABULARY = """
a an and as at came can charm child cold dream each ear east hand has hat head her here his home
horn hour idea in is it land late learn letter line lion mad man mile mind mine moon more mouse
name near nine no note old on one or our out rain read road rose round run sand sea sent she shore
should sit so some sound south star stone sun tea tell ten that the then there these time to tree
turn under us use told touch train truth instrument moments big blue book box five fly ink joy jump
king lazy next page paper pen quick quiet view wave way why word zero
"""
WORDS = (*VOCABULARY.split(),)

SPACING = 0.3  # of the points along a line at an even speed
NEAR = 0.4  # what begins as near as this to the pen is joined
BEND, STEADY = 4, 4  # points of a stroke that shake together, and samples between two of them
POWERS = [(np.arange(STEADY)[:, None] / STEADY) ** power for power in (1, 2, 3)]
SLANT, SIZE, SHAKE, SPEED = 0.12, 0.08, 0.05, 0.25  # how unlike lines, letters and moments are


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
    slant, size = rng.normal(0, SLANT), np.exp(rng.normal(0, SIZE, 2))
    places, lifts, owners = [np.zeros((1, 2))], [np.ones(1)], [np.zeros(1, int)]
    at, rest = np.zeros(2), np.full(2, np.inf)  # of the letter, of the pen
    for index, character in enumerate(words):
        if character == " ":
            lifts[-1][-1] = 1
            at[0] += SPACE + rng.normal(0, SHAKE)
            rest[:] = np.inf
            continue
        at[1] = 0.8 * at[1] + rng.normal(0, SHAKE)
        for curve in LETTERS[character]:
            joined = np.hypot(*(curve[0] + at - rest)) < NEAR
            shaken = curve + at + _shake(len(curve), rng)
            inked = np.vstack([places[-1][-1:], shaken]) if joined else shaken
            sampled = _evenly(inked, rng)[int(joined) :]
            lifts[-1][-1] = not joined
            places.append(sampled)
            lifts.append(np.zeros(len(sampled)))
            owners.append(np.full(len(sampled), index))
            rest = curve[-1] + at
        at[0] += WIDTHS[character]
    lifts[-1][-1] = 1
    inked = np.concatenate(places)
    inked = np.column_stack([inked[:, 0] + slant * inked[:, 1], inked[:, 1]]) * size
    points = np.column_stack([np.diff(inked, axis=0), np.concatenate(lifts)[1:]])
    return Line(words, points, np.concatenate(owners)[1:])


def phrase(rng: np.random.Generator, letters: int) -> str:
    """Return random WORDS of at least so many characters."""
    words = ""
    while len(words) < letters:
        words += f"{WORDS[rng.integers(len(WORDS))]} "
    return words


def _shake(count: int, rng: np.random.Generator) -> Array:
    """Return (count, 2) errors of a stroke's points, of which neighbors are alike."""
    places, along = _knots(count)
    knots = rng.normal(0, SHAKE, (2, len(places)))
    return np.array([np.interp(along, places, one) for one in knots]).T


@cache
def _knots(count: int) -> tuple[Array, Array]:
    """Where the errors of so many points are drawn, and where between them the points are."""
    last = count // BEND + 1
    return np.arange(last + 1), np.linspace(0, last, count)


def _evenly(points: Array, rng: np.random.Generator) -> Array:
    """Return a smooth curve through points, sampled by a hand of varying speed."""
    ends = np.vstack([2 * points[0] - points[1], points, 2 * points[-1] - points[-2]])
    p, q, r, s = (ends[k : len(ends) - 3 + k, None] for k in range(4))
    t, t2, t3 = POWERS
    # Catmull and Rom's spline.
    bent = 2 * q + (r - p) * t + (2 * p - 5 * q + 4 * r - s) * t2 + (3 * q - p - 3 * r + s) * t3
    fine = np.concatenate([bent.reshape(-1, 2) / 2, points[-1:]])
    length = np.concatenate([[0], np.hypot(*(fine[1:] - fine[:-1]).T).cumsum()])
    count = max(2, round(length[-1] / SPACING))
    paces = np.exp(rng.normal(0, SPEED, count)).cumsum()
    stops = np.concatenate([[0], paces / paces[-1]]) * length[-1]
    return np.array([np.interp(stops, length, one) for one in fine.T]).T
