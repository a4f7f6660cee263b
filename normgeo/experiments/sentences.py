"""Sentences with the one before and the one after, and the topic that they are from.

What ships are sentences of the documentation of Python, NumPy and SciPy; a topic is a part of
these, as scipy.stats. Each file is either learned from, or for validation, or for the test, so
nobody can tell a topic by other sentences of its file, and no sentence that is learned from is held
out as well. Source of the task: Kiros et al., Skip-thought vectors, 2015.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.experiments.manuals import part_of, sentences, texts
from normgeo.experiments.spelling import points

LONGEST, SHORTEST = 12, 5  # words: that are kept of a sentence, and that it has at least
END, UNKNOWN = 0, 1  # numbers that are no words: of the end of a sentence, and of a rare word
FIRST_WORD = 2
WORDS = 500  # the most frequent ones have a number
TOPICS = 8  # that are told apart: the largest ones
LEARNED = 20_000  # triples to learn from, at most
SEEN, HELD_OUT = 100, 50  # sentences of a topic that a classifier is fitted to, and is asked
LETTERS, OF_SENTENCE = 30, 200  # that are kept of a word, and of a sentence as it was written
SALT = 37  # of the hash that divides files into parts; with it every topic has enough in each

_UNDERLINE = re.compile(r"^\s*[-=~^+]{3,}\s*$", re.MULTILINE)
_BEFORE = re.compile(r" (?=[.,:;?!)\]}])|(?<=[(\[{]) ")


class Triple(NamedTuple):
    """The words of a sentence and of its neighbors, and its topic."""

    before: tuple[str, ...]
    sentence: tuple[str, ...]
    after: tuple[str, ...]
    topic: str


Parts = tuple[list[Triple], list[Triple], list[Triple]]
"""To learn from, for validation, for the test."""


def of_manuals() -> Parts:
    """Return the triples of what ships."""
    parts: Parts = ([], [], [])
    for source, said, _ in texts(lambda source: bool(part_of(source))):
        found = [
            tuple(word.lower() for word, _ in one) for one in sentences(_UNDERLINE.sub("\n", said))
        ]
        part = max(crc32(source.encode(), SALT) % 10 - 7, 0)
        parts[part].extend(triples(found, part_of(source)))
    return parts


def triples(found: Iterable[tuple[str, ...]], topic: str) -> Iterator[Triple]:
    """Each sentence with both neighbors, of those that are long enough."""
    long = [one for one in found if len(one) >= SHORTEST]
    for before, sentence, after in zip(long, long[1:], long[2:], strict=False):
        yield Triple(before, sentence, after, topic)


def encoded(parts: Parts) -> tuple[dict[str, Array], dict[str, Array], dict[str, Array]]:
    """Return the parts as arrays, in numbers of words; END stands after the end of a sentence.

    Each has "before", "sentence" and "after" (N, LONGEST). What is held out has as many sentences
    of each topic, in turn, with "topic" (N,), and, of what is learned from, sentences that a
    classifier may see, as "seen" (M, LONGEST) and "seen_topic"; "said", "next_said", "seen_said",
    "topics" and "words" spell sentences, topics and words.

    Raises:
        ValueError: fewer than two topics with enough sentences.

    """
    learned, *held_out = map(_different, parts)
    known = {one.sentence[:LONGEST] for one in learned}
    held_out = [[one for one in part if one.sentence[:LONGEST] not in known] for part in held_out]
    learned = _some(learned, LEARNED)
    topics = _topics(learned, held_out)
    words = _vocabulary(learned)
    seen = _in_turn(learned, topics, SEEN)
    common = {
        "seen": _numbered((one.sentence for one in seen), words),
        "seen_topic": _places(seen, topics),
        "seen_said": _said(one.sentence for one in seen),
        "topics": points(topics, LETTERS),
        "words": points(["", "…", *words], LETTERS),
    }
    asked = [_in_turn(part, topics, HELD_OUT) for part in held_out]
    validation, test = (
        {
            **_neighbors(part, words),
            "topic": _places(part, topics),
            "said": _said(one.sentence for one in part),
            "next_said": _said(one.after for one in part),
            **common,
        }
        for part in asked
    )
    return _neighbors(learned, words), validation, test


def written(words: Sequence[str]) -> str:
    """Return the words that a network reads of a sentence, as they are written.

    >>> written(["see", "f", "(", "x", ")", "."])
    'see f (x).'

    """
    return _BEFORE.sub("", " ".join(words[:LONGEST])) + " …" * (len(words) > LONGEST)


def _different(part: list[Triple]) -> list[Triple]:
    """Each sentence once, as it is first met."""
    found: dict[tuple[str, ...], Triple] = {}
    for one in part:
        found.setdefault(one.sentence[:LONGEST], one)
    return [*found.values()]


def _topics(learned: list[Triple], held_out: list[list[Triple]]) -> list[str]:
    """The largest topics that have enough sentences in each part."""
    counts, *others = (Counter(one.topic for one in part) for part in (learned, *held_out))
    enough = [
        topic
        for topic, count in counts.most_common()
        if count >= SEEN and min(other[topic] for other in others) >= HELD_OUT
    ]
    if len(enough) < 2:
        raise Refusal(
            "It takes two topics with {seen} different sentences to learn from and with "
            "{held_out} more for validation and for the test each, of {words} words or more; "
            "{n} have as many. Give more text.",
            seen=SEEN,
            held_out=HELD_OUT,
            words=SHORTEST,
            n=len(enough),
        )
    return enough[:TOPICS]


def _vocabulary(learned: list[Triple]) -> list[str]:
    """The most frequent words; of two as frequent, first the one met first."""
    counts = Counter(chain.from_iterable(one.sentence[:LONGEST] for one in learned))
    return [word for word, _ in counts.most_common(WORDS)]


def _in_turn(part: list[Triple], topics: list[str], count: int) -> list[Triple]:
    """So many sentences of each topic, from all of its files: one of each in turn."""
    each = [_some([one for one in part if one.topic == topic], count) for topic in topics]
    return [*chain.from_iterable(zip(*each, strict=True))]


def _some(part: list[Triple], most: int) -> list[Triple]:
    """At most so many, from everywhere."""
    count = min(most, len(part))
    return [part[at * len(part) // count] for at in range(count)]


def _neighbors(part: list[Triple], words: list[str]) -> dict[str, Array]:
    return {
        of: _numbered((getattr(one, of) for one in part), words)
        for of in ("before", "sentence", "after")
    }


def _numbered(found: Iterable[tuple[str, ...]], words: list[str]) -> NDArray[np.int32]:
    places = {word: at for at, word in enumerate(words, start=FIRST_WORD)}
    rows = [
        [places.get(word, UNKNOWN) for word in one[:LONGEST]] + [END] * (LONGEST - len(one))
        for one in found
    ]
    return np.array(rows, np.int32)


def _said(found: Iterable[tuple[str, ...]]) -> NDArray[np.int32]:
    return points([*map(written, found)], OF_SENTENCE)


def _places(part: list[Triple], topics: list[str]) -> NDArray[np.int32]:
    return np.array([topics.index(one.topic) for one in part], np.int32)
