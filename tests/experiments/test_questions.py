"""Cloze questions: names are hidden, the answer is elsewhere, files of CNN's stories are read."""

import gc
import re

import numpy as np
import pytest

from normgeo.base.refusal import Refusal
from normgeo.experiments import cnn_files, manuals
from normgeo.experiments.questions import (
    BLANK,
    ENTITIES,
    FIRST_WORD,
    PAD,
    UNKNOWN,
    Question,
    as_written,
    cloze,
    encoded,
    told,
    vocabulary,
)

HELP = """Read a line from `stream`. The argument limit is a number.

If limit is None, `stream` is read to its end by read_all()."""


def test_file_that_is_no_python_leaves_the_collector_on(tmp_path):
    file = tmp_path / "x.py"
    file.write_text('"""Of it."""\n\ndef f(a, *, b):\n    """Add."""\n', "utf-8")
    assert manuals._said(file) == [("Of it.", {"f"}), ("Add.", {"a", "b"})]
    file.write_text("def", "utf-8")
    with pytest.raises(SyntaxError):
        manuals._said(file)
    assert gc.isenabled()


def test_question_leaves_a_name_out_that_the_rest_of_the_text_has():
    questions = [*cloze(HELP, {"limit"})]
    asked = [one.names[int(one.answer[7:])] for one in questions]
    assert asked == ["stream", "limit"]  # around the last sentence there are two names
    first = questions[0]
    assert first.query == ("read", "a", "line", "from", "@placeholder", ".")
    assert first.names == ("limit", "stream", "read_all")
    assert " ".join(first.document) == (
        "the argument @entity0 is a number . if @entity0 is none , @entity1 is read to its end "
        "by @entity2 ( ) ."
    )
    for one in questions:
        assert one.answer in one.document
        assert one.answer not in one.query


@pytest.mark.parametrize(("before", "after"), [(60, 60), (60, 10), (0, 60), (5, 60), (5, 5)])
def test_document_is_what_stands_around_the_sentence(before, after):
    names = ["p", "f_x", "f_y", "f_z"]
    left, right = (
        [f"{side}{n}" for n in range(count)] for side, count in (("l", before), ("r", after))
    )
    words = [" ".join([*left, *names[1:]]), "so f_x it is", " ".join([*names[1:], *right])]
    found = next(one for one in cloze(".\n\n".join(words)) if one.query[0] == "so")
    first = [*left, "@entity0", "@entity1", "@entity2", "."]
    last = ["@entity0", "@entity1", "@entity2", *right]
    kept = min(len(first), max(16, 32 - len(last)))
    assert [*found.document] == first[len(first) - kept :] + last[: 32 - kept]


@pytest.mark.parametrize(
    ("query", "document", "expected"),
    [
        ("read from @placeholder .", "it comes from @entity0 or @entity1", True),
        ("@placeholder is read", "so @entity1 and @entity0 is", True),
        ("is @placeholder read", "@entity0 is read", False),  # on the other side
        ("read from @placeholder .", "from @entity1 . @entity0", False),  # beside another name
        ("of @placeholder or @placeholder then", "@entity1 , @entity0 then", True),
        ("@placeholder", "@entity0", False),
    ],
)
def test_document_tells_the_answer_where_it_has_a_neighbor_of_the_gap(query, document, expected):
    one = Question((*document.split(),), (*query.split(),), "@entity0", ("a", "b"))
    assert told(one) == expected


def test_text_without_names_or_of_code_alone_asks_nothing():
    assert not [*cloze("Read a line. Then read the next line.")]
    assert not [*cloze(">>> f(a.b)[0] == {1: (2)}\n\n>>> f(a.b)[1] == {2: ((3))}")]


def test_numbers_are_of_words_from_the_end_and_bytes_tell_the_question_again():
    one = Question(("the", "@entity1", "is"), ("@placeholder", "word"), "@entity1", ("a", "ß"))
    words = vocabulary([Question(("the", "the", "is"), ("is",), "", ())])
    assert words == {"the": FIRST_WORD, "is": FIRST_WORD + 1}
    found = encoded([one], words)
    assert found["document"][0, -4:].tolist() == [PAD, FIRST_WORD, 1, FIRST_WORD + 1]
    assert found["query"][0, -3:].tolist() == [PAD, BLANK, UNKNOWN]
    assert found["answer"].tolist() == [1]
    assert as_written(found["said"][0]) == one
    assert as_written(0 * found["said"][0]) is None


STORY = """http://a.b/c

@entity3 went to @entity0 . it rained in @entity0

they say it rains in @placeholder , says @entity9

@entity0

@entity0:Rome
@entity3:Ann: the first
@entity9:Bo"""


def written(folder, story=STORY):
    for part in cnn_files.FOLDERS:
        (folder / "questions" / part).mkdir(parents=True)
        (folder / "questions" / part / "0.question").write_text(story, "utf-8")
    return folder


@pytest.mark.parametrize("inner", ["", "questions"])
def test_stories_of_cnn_are_read_with_their_names_numbered_anew(tmp_path, inner):
    for (one,) in cnn_files.of_folder(str(written(tmp_path) / inner)):
        assert one.document == (
            *("@entity0", "went", "to", "@entity1", "."),
            *("it", "rained", "in", "@entity1"),
        )
        assert one.query[-4:] == ("@placeholder", ",", "says", "@entity2")
        assert (one.answer, one.names) == ("@entity1", ("Ann: the first", "Rome", "Bo"))


@pytest.mark.parametrize(
    ("story", "sentence"),
    [
        (STORY.replace("\n\n@entity0\n", ""), "0.question has 3 parts"),
        (STORY.replace("@placeholder", "Rome"), "a @placeholder in the third"),
        (STORY.replace("\n\n@entity0\n", "\n\n@entity9\n"), "with 1 such files, and none"),
    ],
)
def test_damaged_or_useless_files_are_refused(tmp_path, story, sentence):
    with pytest.raises(Refusal, match=re.escape(sentence)):
        cnn_files.of_folder(str(written(tmp_path, story)))


def test_folder_without_questions_is_refused(tmp_path):
    with pytest.raises(Refusal, match=r"with 0 such files .*|training/\*\.question"):
        cnn_files.of_folder(str(tmp_path))


def test_numbers_of_words_are_apart_from_those_of_names():
    assert len({*range(ENTITIES), PAD, BLANK, UNKNOWN, FIRST_WORD}) == ENTITIES + 4
    assert np.array([PAD, BLANK, UNKNOWN]).min() >= ENTITIES
