"""Captions and images are read from published files, and made of digits that no two parts share."""

from pathlib import Path

import numpy as np
import pytest

import normgeo
from normgeo.base.refusal import Refusal
from normgeo.datasets.datasets import load
from normgeo.experiments import quadrants
from normgeo.experiments.captions import (
    EACH,
    NOTHING,
    SPLITS,
    UNKNOWN,
    numbered,
    read,
    vocabulary,
)

IMAGES, FEATURES = 3, 4


@pytest.fixture
def folder(tmp_path):
    """A data set as order-embedding reads it."""
    for n, split in enumerate(SPLITS):
        lines = [f"image {i} of {split} , line {k}" for i in range(IMAGES) for k in range(EACH)]
        (tmp_path / f"f8k_{split}_caps.txt").write_text("\n".join(lines) + "\n", "utf-8")
        np.save(tmp_path / f"f8k_{split}_ims.npy", n + np.arange(12.0).reshape(IMAGES, FEATURES))
    return tmp_path


def test_published_files_are_read(folder):
    learned, validation, test = read(str(folder))
    assert learned.images.shape == (IMAGES, FEATURES)
    assert len(learned.captions) == EACH * IMAGES
    assert validation.captions[EACH] == ["image", "1", "of", "dev", ",", "line", "0"]
    assert test.images[1].tolist() == [6, 7, 8, 9]


def test_features_that_stand_beside_each_caption_are_read_once(folder):
    path = folder / "f8k_dev_ims.npy"
    once = np.load(path)
    np.save(path, once.repeat(EACH, axis=0))
    assert np.array_equal(read(str(folder))[1].images, once)


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("f8k_train_caps.txt", None, r"one NAME_train_caps.txt, .* has 0"),
        ("coco_train_caps.txt", b"a dog\n", "has 2"),
        ("f8k_test_caps.txt", None, "f8k_test_caps.txt is missing"),
        ("f8k_dev_ims.npy", None, "f8k_dev_ims.npy is missing"),
        ("f8k_dev_caps.txt", b"a dog\n", "3 rows, and there are 1 captions"),
        ("f8k_dev_caps.txt", b"a dog\n\na cat\n", "line 2 has no word"),
        ("f8k_dev_caps.txt", b"", "line 1 has no word"),
        ("f8k_dev_caps.txt", b"a d\xff\n", "UTF-8"),
        ("f8k_dev_ims.npy", b"no array", "can't be read as one"),
        ("f8k_dev_ims.npy", b"", "can't be read as one"),
        ("f8k_dev_ims.npy", np.zeros(3), "holds float64 of shape"),
        ("f8k_dev_ims.npy", np.full((3, 4), "x"), "holds <U1"),
        ("f8k_dev_ims.npy", np.array([{}]), "can't be read as one"),
        ("f8k_dev_ims.npy", np.full((3, 4), np.nan), "not finite"),
        ("f8k_dev_ims.npy", np.zeros((3, 5)), "have 4 and 5"),
    ],
)
def test_files_that_are_missing_or_damaged_get_a_sentence(folder, file, content, sentence):
    path = folder / file
    if content is None:
        path.unlink()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content, allow_pickle=True)
    with pytest.raises(Refusal, match=sentence):
        read(str(folder))


def test_array_that_ends_early_and_a_folder_that_is_none_are_refused(folder):
    path = folder / "f8k_dev_ims.npy"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(Refusal, match="can't be read"):
        read(str(folder))
    with pytest.raises(Refusal, match="has 0"):
        read(str(path))


def test_words_are_numbered_and_strange_ones_are_unknown():
    captions = [["a", "two"], ["a"], ["two", "a", "a"], ["one"], ["a", "b"]]
    words = vocabulary(captions[:4])
    assert words == ["a", "one", "two"]
    found = numbered(captions, words, 2)
    assert found.shape == (1, EACH, 2)
    assert found[0].tolist() == [[2, 4], [2, NOTHING], [4, 2], [3, NOTHING], [2, UNKNOWN]]


def test_no_digit_occurs_in_two_parts():
    order = np.random.default_rng(0).permutation(load("digits").N)
    pools = np.split(order, np.cumsum(quadrants.DIGITS)[:-1])
    assert sum(quadrants.DIGITS) == load("digits").N
    inks = [
        {
            digit.tobytes()
            for digit in part.images.reshape(-1, 2, 8, 2, 8).swapaxes(2, 3).reshape(-1, 64)
        }
        for part in quadrants.parts()
    ]
    raw = load("digits", standardize=False).raw.astype(np.float32) / np.float32(quadrants.INK)
    for found, pool in zip(inks, pools, strict=True):
        assert found <= {digit.tobytes() for digit in raw[pool]}
    assert sum(map(len, inks)) == len(set.union(*inks))


def test_digits_stand_at_their_places():
    fours = np.repeat(np.arange(4.0), 64).reshape(1, 4, 64)
    picture = quadrants.together(fours).reshape(16, 16)
    assert [picture[0, 0], picture[0, 8], picture[8, 0], picture[8, 8]] == [0, 1, 2, 3]
    digit = np.arange(64.0)
    picture = quadrants.together(np.tile(digit, (1, 4, 1))).reshape(16, 16)
    assert np.array_equal(picture[8:, 8:].ravel(), digit)


def test_captions_tell_what_is_in_the_picture(rng):
    for _ in range(200):
        four = rng.integers(0, 10, 4)
        a, b, c, d = (quadrants.named(int(one)) for one in four)
        some, corner, column, row, whole = quadrants.captions_of(four, rng)
        left, right = some.split(" and ")
        assert left in {a, b, c, d}
        assert right in [
            *({a, b, c, d} - {left}),
            *(one for one in {left} if [a, b, c, d].count(one) > 1),
        ]
        what, where = corner.split(" in the ")
        assert (a, b, c, d)[quadrants.PLACES.index(where)] == what
        assert column in {f"{a} above {c}", f"{b} above {d}"}
        assert row in {f"{a} left of {b}", f"{c} left of {d}"}
        assert whole == f"{a} and {b} above {c} and {d}"
    assert quadrants.named(8) == "an eight"


def fits(caption, four):
    """Whether a caption is true of the digits at PLACES."""
    told = [quadrants.NAMES.index(word) for word in caption if word in quadrants.NAMES]
    if len(told) == 4:
        return told == [*four]
    if len(told) == 1:
        return four[quadrants.PLACES.index(" ".join(caption[-2:]))] == told[0]
    if "above" in caption:
        return told in ([four[0], four[2]], [four[1], four[3]])
    if "left" in caption:
        return told in ([four[0], four[1]], [four[2], four[3]])
    return all([*four].count(one) >= told.count(one) for one in told)


def test_reader_who_knows_every_digit_ranks_the_right_picture_as_the_docs_say():
    """Pictures that fit a caption share their ranks."""
    test = quadrants.parts()[2]
    pool = np.random.default_rng(0).permutation(load("digits").N)[-quadrants.DIGITS[2] :]
    labels = load("digits").y[quadrants.chosen(pool, len(test.images), 2)].astype(int)
    ranks = []
    for n, caption in enumerate(test.captions):
        fitting = [fits(caption, four) for four in labels]
        assert fitting[n // EACH]
        ranks.append((sum(fitting) + 1) / 2)
    words = (Path(normgeo.__file__).parents[1] / "docs/experiments.md").read_text("utf-8")
    assert f"has a mean rank of {np.mean(ranks):.1f}" in " ".join(words.split())
