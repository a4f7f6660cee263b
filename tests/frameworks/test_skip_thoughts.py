"""Skip-thoughts: vectors and decoders are those of the cells; what is asked of them is exact."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from normgeo.__main__ import main
from normgeo.experiments.networks import cells, skip_thoughts
from normgeo.experiments.results import LAYER, NONE, result_of
from normgeo.experiments.sentences import END, LONGEST, UNKNOWN, Triple, encoded

BOTH = (NONE, LAYER)
TOPICS = ("moon", "sea", "wind")
NAMES = [f"w{n}" for n in range(20)]


@pytest.fixture(scope="module")
def cases():
    """Sentences of random words that end with the topic, as they are learned from and asked."""
    rng = np.random.default_rng(0)

    def said(topic):
        words = rng.choice(NAMES, rng.integers(4, LONGEST - 1))
        return (*words.tolist(), topic)

    parts = [
        [Triple(*(said(topic) for _ in range(3)), topic) for topic in TOPICS for _ in range(count)]
        for count in (130, 60, 60)
    ]
    return [jax.tree.map(jnp.asarray, each) for each in encoded(parts)]


def small(method, cases):
    return skip_thoughts.fitting(cases[0])(jax.random.key(0), method)


@pytest.mark.parametrize("method", BOTH)
def test_vector_of_a_sentence_is_the_last_state_of_the_gru(cases, method):
    """Word by word, up to its end."""
    params, sentences = small(method, cases), cases[1]["sentence"][:5]
    found = skip_thoughts.encode(params, sentences)
    for vector, sentence in zip(found, np.asarray(sentences), strict=True):
        h = jnp.zeros((1, skip_thoughts.NEURONS))
        for word in sentence[sentence != END]:
            h = cells.gru(params["encoder"], h, params["words"][word][None])
        np.testing.assert_allclose(vector, h[0], atol=1e-5)


@pytest.mark.parametrize("method", BOTH)
def test_loss_is_that_of_each_word_given_those_before_it_and_the_vector(cases, method):
    params = small(method, cases)
    few = {of: cases[1][of][:4] for of in ("sentence", "before", "after")}
    vectors = skip_thoughts.encode(params, few["sentence"])
    nats = words = 0.0
    for at, of in enumerate(("before", "after")):
        decoder = jax.tree.map(lambda leaf, at=at: leaf[at], params["decoders"])
        for vector, sentence in zip(vectors, np.asarray(few[of]), strict=True):
            h, last = jnp.zeros((1, skip_thoughts.NEURONS)), END
            for word in sentence:
                x = jnp.concatenate([params["words"][last], vector])[None]
                h = cells.gru(decoder, h, x)
                odds = np.asarray(cells.linear(params["output"], h))[0].astype(float)
                nats += np.log(np.exp(odds).sum()) - odds[word]
                words, last = words + 1, word
                if word == END:
                    break
    found = skip_thoughts.loss(params, few, jax.random.key(0))
    assert float(found) == pytest.approx(nats / words, rel=1e-5)


@pytest.mark.parametrize("method", BOTH)
def test_loss_of_skip_thoughts_descends_along_its_gradient(cases, method):
    batch = jax.tree.map(lambda each: each[:4], cases[0])

    def loss(params):
        return skip_thoughts.loss(params, batch, jax.random.key(1))

    params = small(method, cases)
    before, gradient = jax.jit(jax.value_and_grad(loss))(params)
    squared = sum((leaf**2).sum() for leaf in jax.tree.leaves(gradient))
    rate = 1e-2 / jnp.sqrt(squared)
    after = jax.jit(loss)(jax.tree.map(lambda p, g: p - rate * g, params, gradient))
    assert before - after == pytest.approx(float(rate * squared), rel=0.05)


def test_classifier_is_that_of_scikit_learn():
    from sklearn.linear_model import RidgeClassifier

    rng = np.random.default_rng(0)
    topics = np.arange(120) % 3
    raw = rng.normal(size=(120, 5)) + 0.8 * rng.normal(size=(3, 5))[topics]
    asked = rng.normal(size=(90, 5))
    seen = skip_thoughts.standardized(raw, jnp.asarray(raw))
    np.testing.assert_allclose(seen.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(seen.std(0), 1, atol=1e-5)
    others = skip_thoughts.standardized(asked, jnp.asarray(raw))
    found = skip_thoughts.told(others, seen, topics, 3)
    theirs = RidgeClassifier(alpha=120 * skip_thoughts.RIDGE, fit_intercept=False)
    expected = theirs.fit(seen, topics).predict(others)
    assert (np.asarray(found) == expected).mean() > 0.98


def test_rank_counts_the_sentences_that_are_nearer_than_the_next_one():
    rng = np.random.default_rng(0)
    vectors, after = rng.normal(size=(2, 230, 3))
    found = skip_thoughts.ranks(jnp.asarray(vectors), jnp.asarray(after))
    assert found.shape == (2, 100)
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (vectors, after)]
    for n in (0, 57, 199):
        block = slice(n // 100 * 100, n // 100 * 100 + 100)
        similar = unit[1][block] @ unit[0][n]
        assert found.ravel()[n] == 1 + (similar > unit[1][n] @ unit[0][n]).sum()
    assert (skip_thoughts.ranks(jnp.asarray(vectors), 2 * jnp.asarray(vectors)) == 1).all()


def test_written_words_are_the_likeliest_known_ones_in_turn(cases):
    params = small(LAYER, cases)
    vectors = skip_thoughts.encode(params, cases[1]["sentence"][:3])
    decoder = jax.tree.map(lambda leaf: leaf[1], params["decoders"])
    for vector, row in zip(vectors, skip_thoughts.write(params, vectors), strict=True):
        h, last = jnp.zeros((1, skip_thoughts.NEURONS)), END
        for word in row:
            h = cells.gru(decoder, h, jnp.concatenate([params["words"][last], vector])[None])
            odds = np.array(cells.linear(params["output"], h))[0]
            odds[UNKNOWN] = -np.inf
            assert int(word) == int(odds.argmax())
            last = word


@pytest.mark.parametrize("method", BOTH)
def test_topics_that_stand_in_the_sentences_are_told(cases, method):
    """A network that has learned nothing knows the last word as well; figures are in order."""
    params = small(method, cases)
    lost, wrong, rank, nearest, wrote = skip_thoughts.figures(params, cases[1], jax.random.key(0))
    expected = skip_thoughts.loss(
        params,
        {of: cases[1][of][: skip_thoughts.PREDICTED] for of in ("sentence", "before", "after")},
        jax.random.key(0),
    )
    assert float(lost) == pytest.approx(float(expected), rel=1e-5)
    assert 0 <= wrong < 20  # a guess: 67
    assert 1 <= rank <= skip_thoughts.CANDIDATES
    assert nearest.shape == cases[1]["topic"].shape
    assert wrote.shape == (skip_thoughts.WRITTEN * LONGEST,)


def test_own_books_are_learned_from_and_what_moves_tells_of_them(tmp_path):
    """A folder of text, a sentence a line; words are told again as they stood there."""
    rng = np.random.default_rng(1)
    for topic in TOPICS:
        lines = [
            " ".join([topic, *rng.choice(NAMES, 6).tolist(), str(n), "."]) for n in range(1200)
        ]
        (tmp_path / f"{topic}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    file = tmp_path / "x.json"
    asked = ["experiment", "skip_thoughts", "--data", str(tmp_path), "--steps", "2"]
    asked += ["--seeds", "0", "--rates", "0.01", "--norm", LAYER]
    assert main([*asked, "-o", str(file)]) == 0
    result = result_of(json.loads(file.read_text("utf-8")))
    assert result.data == str(tmp_path)
    moving = result.moving
    assert sorted(moving["topics"]) == sorted(TOPICS)
    (one,) = moving["sentences"]
    for words in (one["said"], one["next"]):
        assert words.split()[0] == one["topic"]
    found = one["methods"][LAYER]
    assert len(found["written"]) == len(found["nearest"]) == len(result.steps)
    assert {*found["nearest"]} == {*range(len(moving["near"]))}
    for near in moving["near"]:
        assert near["said"].split()[0] == near["topic"]
