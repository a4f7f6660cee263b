"""Cloze questions on the documentation of Python, NumPy and SciPy, which comes with them.

A question is a sentence of a text with a name left out, beside the words around the sentence, in
which the name occurs. All names are replaced by markers, @entity0, @entity1 …, so that only
reading helps. Names are words that the text marks as code or writes as code. A question is
asked where its document tells the answer: beside the name stands there a word that stands beside
the gap. Other versions have other texts.

Source: Hermann et al., Teaching machines to read and comprehend, 2015, section 2.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from keyword import iskeyword
from typing import NamedTuple
from zlib import crc32

import numpy as np

from normgeo.base.arrays import Array
from normgeo.experiments.manuals import sentences, texts

DOCUMENT, QUERY = 32, 8  # the most words that are kept of either
ENTITIES, FEWEST = 10, 3  # names in a question: at most, and in its document at least
PAD, BLANK, UNKNOWN = range(ENTITIES, ENTITIES + 3)
"""The numbers of words that are none, after those of the entities."""
FIRST_WORD = ENTITIES + 3
WORDS = 500  # the most frequent ones have a number
SALT = 7  # of the lot that puts texts into parts: by it these are large enough
SHORTEST = 4  # words of a sentence that is asked for
HELD_OUT = 500  # questions for validation, and for the test, at most about
PLACEHOLDER = "@placeholder"
SAID = 1200  # bytes of a question as it was written


class Question(NamedTuple):
    """A document, a query with a PLACEHOLDER, and the @entity that belongs there.

    Attributes:
        names: what @entity0, @entity1 … stand for.

    """

    document: tuple[str, ...]
    query: tuple[str, ...]
    answer: str
    names: tuple[str, ...]


def of_manuals() -> tuple[list[Question], list[Question], list[Question]]:
    """Return questions to learn from, for validation, for the test; each file is in one part.

    There are as many for validation as for the test, so that both compile once.
    """
    parts: tuple[dict[Question, None], ...] = ({}, {}, {})
    for source, text, names in texts():
        part = parts[max(crc32(source.encode(), SALT) % 10 - 7, 0)]
        part |= dict.fromkeys(filter(told, cloze(text, names)))
    learned, validation, test = map(list, parts)
    validation, test = _some(validation), _some(test)
    count = min(len(validation), len(test))
    return learned, validation[:count], test[:count]


def _some(questions: list[Question]) -> list[Question]:
    """About HELD_OUT of them, from all files."""
    return questions[:: max(1, len(questions) // HELD_OUT)]


def cloze(text: str, names: Iterable[str] = ()) -> Iterator[Question]:
    """Ask for each name of each sentence that occurs around the sentence.

    Names are `names`, and what the text marks as code or writes as code.
    """
    found = sentences(text)
    known = {word for sentence in found for word, is_name in sentence if is_name}
    known = {word for word in known | {*names} if len(word) > 1 and not iskeyword(word)}
    words = [(word, is_name or word in known) for each in found for word, is_name in each]
    ends = np.cumsum([0, *map(len, found)]).tolist()
    for start, end in pairwise(ends):
        kept = min(start, max(DOCUMENT // 2, DOCUMENT - len(words) + end))
        document = words[start - kept : start] + words[end : end + DOCUMENT - kept]
        there = {word for word, is_name in document if is_name}
        sentence = words[start:end]
        for name in dict.fromkeys(word for word, is_name in sentence if is_name):
            if name in there and len(there) >= FEWEST and len(sentence) >= SHORTEST:
                question = _ask(document, sentence, name)
                if len(question.names) <= ENTITIES:
                    yield question


def _ask(
    document: Sequence[tuple[str, bool]], sentence: Sequence[tuple[str, bool]], name: str
) -> Question:
    """Leave a name out of a sentence, everywhere, and hide all names."""
    places = [at for at, word in enumerate(sentence) if word == (name, True)]
    first = max(0, min(places[0] - QUERY // 2, len(sentence) - QUERY))
    query = sentence[first : first + QUERY]
    names = dict.fromkeys(word for word, is_name in (*document, *query) if is_name)
    hidden = {word: f"@entity{at}" for at, word in enumerate(names)}

    def shown(words: Iterable[tuple[str, bool]]) -> tuple[str, ...]:
        return tuple(hidden[word] if is_name else word.lower() for word, is_name in words)

    asked = tuple(PLACEHOLDER if word == hidden[name] else word for word in shown(query))
    return Question(shown(document), asked, hidden[name], tuple(names))


def told(question: Question) -> bool:
    """Whether a word beside the gap stands beside the answer in the document, on the same side."""
    asked, there = (
        {pair for at, each in enumerate(words) if each == of for pair in _beside(words, at)}
        for words, of in ((question.query, PLACEHOLDER), (question.document, question.answer))
    )
    return not asked.isdisjoint(there)


def _beside(words: Sequence[str], at: int) -> Iterator[tuple[int, str]]:
    """The words on the left and on the right of one."""
    for side in (-1, 1):
        if 0 <= at + side < len(words):
            yield side, words[at + side]


def vocabulary(questions: Iterable[Question]) -> dict[str, int]:
    """Number the most frequent words; of two as frequent, first the one met first."""
    words = Counter(word for one in questions for word in (*one.document, *one.query))
    plain = (word for word, _ in words.most_common() if not word.startswith("@"))
    return {word: FIRST_WORD + at for at, word in zip(range(WORDS), plain, strict=False)}


def encoded(questions: Sequence[Question], words: dict[str, int]) -> dict[str, Array]:
    """Return numbers of words, and the answers; what is shorter begins with PAD.

    "document" is (N, DOCUMENT), "query" (N, QUERY), "answer" (N,), from 0 to ENTITIES − 1; "said"
    holds each question as it was written, for the page, as bytes (N, SAID).
    """
    known = {**words, PLACEHOLDER: BLANK, **{f"@entity{at}": at for at in range(ENTITIES)}}
    count = len(questions)
    document = np.full((count, DOCUMENT), PAD, np.int32)
    query = np.full((count, QUERY), PAD, np.int32)
    said = np.zeros((count, SAID), np.uint8)
    for n, one in enumerate(questions):
        for row, given in ((document[n], one.document), (query[n], one.query)):
            row[len(row) - len(given) :] = [known.get(word, UNKNOWN) for word in given]
        written = json.dumps(one, ensure_ascii=False).encode()
        if len(written) <= SAID:
            said[n, : len(written)] = [*written]
    answer = np.array([known[one.answer] for one in questions], np.int32)
    return {"document": document, "query": query, "answer": answer, "said": said}


def as_written(said: Array) -> Question | None:
    """Return a question from its bytes, (SAID,); None if it was too long to be kept."""
    found = bytes(said.tolist()).rstrip(b"\0")
    if not found:
        return None
    document, query, answer, names = json.loads(found)
    return Question(tuple(document), tuple(query), answer, tuple(names))
