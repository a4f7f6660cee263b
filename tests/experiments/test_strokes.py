"""The hand writes what it is asked, never twice alike, and says which letter each point is of."""

from string import ascii_lowercase

import numpy as np
import pytest

from normgeo.base.refusal import Refusal
from normgeo.experiments.strokes import (
    ALPHABET,
    HEIGHT,
    JOINT,
    LETTERS,
    SPACING,
    WIDTHS,
    WORDS,
    phrase,
    write,
)


def test_words_are_spelled_in_the_alphabet():
    assert "".join(LETTERS) == ascii_lowercase
    assert {*"".join(WORDS)} == {*LETTERS}
    assert {*ALPHABET} == {*LETTERS, " "}


@pytest.mark.parametrize("letter", LETTERS)
def test_letters_stand_on_the_baseline_and_meet_the_next_one(letter):
    """A reader's check of the numbers: none is out of its place."""
    points = np.concatenate(LETTERS[letter])
    bottom, top = points[:, 1].min(), points[:, 1].max()
    assert bottom == pytest.approx(-12 / 9 if letter in "fgjpqyz" else 0)
    assert top == pytest.approx(
        {
            **dict.fromkeys("bdfhklt", 21 / 9),
            "i": 14 / 9,
            "j": 14 / 9,
            "r": 10 / 9,
            "s": 10 / 9,
        }.get(letter, 1),
        abs=0.12,
    )
    assert 0.7 < WIDTHS[letter] == max(x for x, y in points if y == JOINT / HEIGHT) < 3
    neighbors = np.hypot(*np.concatenate([np.diff(one, axis=0) for one in LETTERS[letter]]).T)
    assert neighbors.max() < 2.2


def test_same_seed_writes_the_same_line_and_another_one_does_not():
    one, again, other = (write("the moon", np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert np.array_equal(one.points, again.points)
    assert one.points.shape != other.points.shape or not np.allclose(one.points, other.points)


def test_every_letter_is_drawn_in_turn(rng):
    words = "instruments can charm an old lion by five o quick waxy jigs"
    line = write(words, rng)
    assert [*dict.fromkeys(line.characters)] == [n for n, one in enumerate(words) if one != " "]
    assert (np.diff(line.characters) >= 0).all()
    assert len(line.points) == len(line.characters)


def test_pen_lifts_at_the_end_of_words_and_before_what_begins_elsewhere(rng):
    """n joins m; a bowl, a dot, a bar and the second stroke of an s begin elsewhere."""
    for words, strokes in [("mm", 1), ("nun", 1), ("nun nun", 2), ("i", 2), ("moon", 3), ("ts", 5)]:
        assert write(words, rng).points[:, 2].sum() == strokes, words
        assert write(words, rng).points[-1, 2] == 1


def test_line_goes_to_the_right_and_stays_on_its_height(rng):
    lines = [write("under the moon", rng).points[:, :2].cumsum(axis=0) for _ in range(20)]
    assert all(at[-1, 0] > 8 for at in lines)
    assert all(at[:, 1].min() > -0.6 and at[:, 1].max() < 3.6 for at in lines)


def test_ink_is_sampled_finely_enough_to_be_seen_as_a_curve(rng):
    points = write("moon", rng).points
    inked = np.hypot(*points[1:, :2].T)[points[:-1, 2] == 0]
    assert np.median(inked) == pytest.approx(SPACING, rel=0.4)
    assert inked.max() < 5 * SPACING


def test_phrase_is_long_enough(rng):
    words = phrase(rng, 40)
    assert len(words) >= 40
    assert {*words.split()} <= {*WORDS}


def test_letters_that_the_hand_does_not_have_are_refused(rng):
    with pytest.raises(Refusal, match=r"abcdefghijklmnopqrstuvwxyz and the space; got '3X'"):
        write("X3e", rng)
