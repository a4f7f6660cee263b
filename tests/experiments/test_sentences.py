"""Sentences stand between their neighbors, topics are told on other files, books are read."""

import re
from itertools import pairwise

import numpy as np
import pytest

from normgeo.base.refusal import Refusal
from normgeo.experiments import book_files, manuals, sentences
from normgeo.experiments.book_files import of_folder, read
from normgeo.experiments.sentences import (
    END,
    FIRST_WORD,
    HELD_OUT,
    LONGEST,
    SEEN,
    UNKNOWN,
    Triple,
    encoded,
    triples,
    written,
)
from normgeo.experiments.spelling import spelled

TOPICS = ("moon", "sea", "wind")


def part(name, count, topics=TOPICS):
    """Triples with words that say where they are from."""
    return [
        Triple(("a", f"{name}{n}"), ("the", topic, name, str(n), "."), (topic,) * 13, topic)
        for topic in topics
        for n in range(count)
    ]


@pytest.fixture(scope="module")
def parts():
    return part("one", 130), part("two", 60), part("three", 60)


def test_each_sentence_stands_between_those_before_and_after_it_that_are_long_enough():
    found = [tuple("abcde"), tuple("abc"), tuple("fghij"), tuple("klmno"), tuple("pqrst")]
    assert [("".join(b), "".join(s), "".join(a), t) for b, s, a, t in triples(found, "x")] == [
        ("abcde", "fghij", "klmno", "x"),
        ("fghij", "klmno", "pqrst", "x"),
    ]
    assert not [*triples(found[:3], "x")]


def test_numbers_are_of_words_and_end_after_them(parts):
    learned, validation, test = encoded(parts)
    words = [spelled(word) for word in validation["words"]]
    assert (words[END], words[UNKNOWN]) == ("", "…")
    row = learned["sentence"][130]  # the first one of the second topic
    assert [words[n] for n in row[:5]] == ["the", "sea", "one", "0", "."]
    assert {*row[5:]} == {END}
    assert learned["after"].shape == (390, LONGEST)
    assert END not in learned["after"]
    assert {*learned["before"][:, 0]} == {UNKNOWN}, "only the words of the sentences count"
    assert max(learned["sentence"].max(), test["after"].max()) == len(words) - 1
    assert FIRST_WORD == 2
    assert words[FIRST_WORD] in {"the", ".", "one"}


def test_every_topic_is_asked_and_seen_as_often_and_spelled(parts):
    learned, *held_out = encoded(parts)
    for found, name in zip(held_out, ("two", "three"), strict=True):
        topics = [spelled(topic) for topic in found["topics"]]
        assert sorted(topics) == sorted(TOPICS)
        assert np.bincount(found["topic"]).tolist() == [HELD_OUT] * 3
        assert np.bincount(found["seen_topic"]).tolist() == [SEEN] * 3
        for said, topic in zip(found["said"], found["topic"], strict=True):
            assert re.fullmatch(rf"the {topics[topic]} {name} \d+\.", spelled(said))
        for said, row, topic in zip(
            found["seen_said"], found["seen"], found["seen_topic"], strict=True
        ):
            assert spelled(said).startswith(f"the {topics[topic]} one")
            assert row.tolist() in learned["sentence"].tolist()
        following = {spelled(said) for said in found["next_said"]}
        assert following == {" ".join([topic] * LONGEST) + " …" for topic in TOPICS}


def test_sentence_that_is_learned_from_is_not_held_out(parts):
    learned, validation, test = parts
    again = [one._replace(before=("x",)) for one in learned]
    found = encoded((learned, again + validation, again + test))
    for held_out in found[1:]:
        assert not {spelled(said) for said in held_out["said"]} & {
            written(one.sentence) for one in learned
        }


def test_too_little_text_is_refused(parts):
    learned, validation, _ = parts
    for few in (
        (learned, validation, part("three", HELD_OUT, TOPICS[:1])),
        (part("one", SEEN - 1), validation, validation),
        (learned, [], []),
    ):
        with pytest.raises(Refusal, match=r"two topics with 100 different .*; [01] have as many"):
            encoded(few)


def test_each_file_of_the_manuals_is_in_one_part(monkeypatch):
    """And what they are headed by is no sentence."""
    said = "What it is for.\n\nParameters\n----------\n" + " ".join(
        f"The word number {n} is not here." for n in range(9)
    )
    files = [f"scipy/stats/_{n}.py" for n in range(60)]
    asked = []

    def texts(wanted):
        asked.extend(map(wanted, ["scipy/stats/_a.py", "stats/_deep/a.py"]))
        return ((source, said.replace("here", source[12:-3]), set()) for source in files)

    monkeypatch.setattr(sentences, "texts", texts)
    found = sentences.of_manuals()
    assert asked == [True, False]
    names = [{word for one in part for word in one.sentence if "_" in word} for part in found]
    assert all(names)
    assert not names[0] & names[1] | names[0] & names[2] | names[1] & names[2]
    assert len(set.union(*names)) == len(files)
    for one in found[0]:
        assert one.topic == "scipy.stats"
        assert "-" not in (*one.before, *one.sentence, *one.after)


def test_part_of_the_library_is_named_by_its_package():
    standard = "/".join(manuals.standard().parts[-2:])
    for source, name in {
        "EXPRESSIONS": "the language",
        f"{standard}/os.py": "Python's library",
        "scipy/stats/_a.py": "scipy.stats",
        "numpy/_core/a.py": "numpy._core",
        "stats/_deep/a.py": "",
        "site-packages/numpy/a.py": "",
    }.items():
        assert manuals.part_of(source) == name


def lines(topic, count=1200):
    return "".join(f"It is {topic} {n} , and so on .\n" for n in range(count))


@pytest.fixture
def folder(tmp_path):
    """Books as those of BookCorpus: a sentence a line, words and signs between blanks."""
    for topic in TOPICS:
        (tmp_path / f"{topic}.txt").write_text(lines(topic), "utf-8")
    (tmp_path / "README.md").write_text("no book\n")
    return tmp_path


def test_files_of_a_folder_are_topics_whose_ends_are_held_out(folder):
    found = of_folder(str(folder))
    assert [len(part) for part in found] == [3 * 958, 3 * 118, 3 * 118]
    for part, first, last in zip(found, (0, 960, 1080), (960, 1080, 1200), strict=True):
        for one in part:
            before, number, after = (int(words[3]) for words in one[:3])
            assert (before, after) == (number - 1, number + 1)
            assert first <= before < after < last
            assert one.sentence[:3] == ("it", "is", one.topic)
    assert len(encoded(found)[2]["topic"]) == 3 * HELD_OUT


def test_one_file_is_cut_into_stretches_which_are_topics(folder):
    file = folder / "sea.txt"
    file.write_text(lines("sea", 8000), "utf-8")
    learned, validation, test = of_folder(str(file))
    topics = [*dict.fromkeys(one.topic for one in learned)]
    assert topics == [f"from line {n}" for n in range(1, 8000, 1000)]
    assert [*dict.fromkeys(one.topic for one in test)] == topics
    numbers = [int(one.sentence[3]) for one in learned]
    assert all(one < other for one, other in pairwise(numbers))
    assert len(validation) == len(test) == 8 * 98


def test_first_lines_of_the_largest_files_are_read(folder, monkeypatch):
    monkeypatch.setattr(book_files, "TOPICS", 2)
    monkeypatch.setattr(book_files, "LINES", 1000)
    (folder / "sea.txt").write_text(lines("sea", 300), "utf-8")
    learned, _, test = of_folder(str(folder))
    assert {one.topic for one in learned} == {"moon", "wind"}
    assert max(int(one.after[3]) for one in test) == 999


def test_empty_lines_are_none(folder):
    file = folder / "sea.txt"
    file.write_text("\n a  b\tc\r\n\n \nD\n", "utf-8")
    assert read(file, 9) == [("a", "b", "c"), ("d",)]


@pytest.mark.parametrize("content", [b"", b"\n \n", b"a b\xff c\n", b"a b\0 c\n"])
def test_damaged_file_is_named(folder, content):
    (folder / "sea.txt").write_bytes(content)
    (folder / "moon.txt").write_bytes(b"")
    with pytest.raises(Refusal, match=r"(sea|moon)\.txt must be text in UTF-8"):
        of_folder(str(folder))
    with pytest.raises(Refusal, match=r"sea\.txt must be text in UTF-8"):
        of_folder(str(folder / "sea.txt"))


def test_without_files_there_is_a_sentence(folder):
    for file in folder.glob("*.txt"):
        file.unlink()
    for where in (folder, folder / "nowhere"):
        with pytest.raises(Refusal, match=r"a folder with files \*\.txt; .* is none, or has none"):
            of_folder(str(where))
