"""Digits to learn from: those that ship, and MNIST as OpenML hands it out."""

from types import SimpleNamespace

import numpy as np
import pytest

from normgeo.base.refusal import Failure, Refusal
from normgeo.datasets import handwritten
from normgeo.datasets.datasets import load

FETCH = "sklearn.datasets.fetch_openml"


def test_digits_that_ship_are_parted_without_a_loss():
    parts = handwritten.parts()
    assert [len(labels) for _, labels in parts] == [1197, 300, 300]
    ink = np.concatenate([pictures for pictures, _ in parts])
    raw = load("digits", standardize=False).raw
    assert ink.dtype == np.float32
    assert sorted(16 * ink.sum(axis=1)) == sorted(raw.sum(axis=1))
    assert (ink.min(), ink.max()) == (0, 1)


def test_mnist_keeps_its_order_with_its_test_set_last(monkeypatch):
    asked = {}

    def fetch(name, **options):
        asked.update(options, name=name)
        pictures = np.repeat(np.arange(9)[:, None], 784, axis=1)
        return SimpleNamespace(data=pictures, target=np.array([*"012345678"], dtype=object))

    monkeypatch.setattr(handwritten, "HELD_OUT", {784: (2, 3)})
    monkeypatch.setattr(FETCH, fetch)
    parts = handwritten.parts("openml")
    assert [labels.tolist() for _, labels in parts] == [[0, 1, 2, 3], [4, 5], [6, 7, 8]]
    np.testing.assert_allclose(parts[2][0][0], 6 / 255)
    assert asked == {"name": "mnist_784", "version": 1, "as_frame": False}


@pytest.mark.parametrize(
    ("shape", "labels"), [((30_000, 783), 30_000), ((20_000, 784), 20_000), ((30_000, 784), 7)]
)
def test_other_pictures_are_refused(shape, labels, monkeypatch):
    found = SimpleNamespace(data=np.zeros(shape, np.uint8), target=np.zeros(labels))
    monkeypatch.setattr(FETCH, lambda *args, **options: found)
    with pytest.raises(Refusal, match=r"more than 20000 pictures of 784 pixels.*Remove what"):
        handwritten.parts("openml")


def test_without_a_connection_one_sentence_says_what_it_takes(monkeypatch):
    def fetch(*args, **options):
        raise OSError("Name or service not known")

    monkeypatch.setattr(FETCH, fetch)
    with pytest.raises(Failure, match=r"\(Name or service not known\).*leave `--data` out"):
        handwritten.parts("openml")


def test_other_words_are_refused():
    with pytest.raises(Refusal, match=r"are openml, or none; got 'mnist'\."):
        handwritten.parts("mnist")
