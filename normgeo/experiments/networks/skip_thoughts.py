"""Section 6.3: skip-thoughts, vectors of sentences from which their neighbors are predicted.

A GRU reads a sentence, its last state s is the vector. Two more write the sentence before and the
one after, word by word, each from s and the words so far:

    h(t) = GRU(h(t − 1), [x(t − 1), s]),    P(w(t) | w(1) … w(t − 1), s) = softmax(V h(t))

What the vectors are good for is asked of sentences of other files: a linear classifier, fitted by
ridge regression to vectors of some sentences that were learned from, tells the topic; and the true
next sentence is looked for among 100, by the cosine of the vectors.

Source: Kiros et al., Skip-thought vectors, 2015; [x, s] as inputs are its Eqs. 5–7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from normgeo.base.text import text
from normgeo.experiments.book_files import of_folder
from normgeo.experiments.networks.cells import Tree, gru, init_gru, init_linear, linear
from normgeo.experiments.networks.compiled import Experiment
from normgeo.experiments.sentences import (
    END,
    FIRST_WORD,
    LONGEST,
    UNKNOWN,
    WORDS,
    encoded,
    of_manuals,
    written,
)
from normgeo.experiments.spelling import spelled

NEURONS, WORD = 40, 20  # H, of all three GRUs, and entries of the vector of a word
PREDICTED = 200  # held-out sentences whose neighbors are predicted, the first ones
CANDIDATES = 100  # among which the true next sentence is looked for
RIDGE = 0.01  # of the classifier, as a share of the variance of a feature, which is 1
WRITTEN, SHOWN = 40, 1  # held-out sentences after which networks write, and those on the page
NEIGHBORS = "before", "after"
NEVER = -1e9  # the log odds of what is not written


def init(key: jax.Array, method: str, words: int = FIRST_WORD + WORDS) -> Tree:
    """Return first parameters; the decoders are a leading axis of theirs."""
    of_words, of_encoder, of_output, *of_decoders = jax.random.split(key, 5)
    decoders = [init_gru(one, NEURONS, WORD + NEURONS, method) for one in of_decoders]
    return {
        "words": jax.random.normal(of_words, (words, WORD)),
        "encoder": init_gru(of_encoder, NEURONS, WORD, method),
        "decoders": jax.tree.map(lambda *each: jnp.stack(each), *decoders),
        "output": init_linear(of_output, words, NEURONS),
    }


def fitting(learned: Tree) -> Callable[[jax.Array, str], Tree]:
    """Return an `init` for as many words as the sentences to learn from have."""
    return partial(init, words=int(learned["sentence"].max()) + 1)


def encode(params: Tree, sentences: jax.Array) -> jax.Array:
    """Return vectors (S, H) of sentences (S, T); what is after the end changes nothing."""

    def step(h: jax.Array, words: jax.Array) -> tuple[jax.Array, None]:
        after = gru(params["encoder"], h, params["words"][words])
        return jnp.where((words != END)[:, None], after, h), None

    return jax.lax.scan(step, jnp.zeros((len(sentences), NEURONS)), sentences.T)[0]


def log_likelihoods(params: Tree, vectors: jax.Array, neighbors: jax.Array) -> jax.Array:
    """Return log P of each word of sentences before and after, (2, S, T): (2, S, T)."""

    def of(decoder: Tree, sentences: jax.Array) -> jax.Array:
        def step(h: jax.Array, words: jax.Array) -> tuple[jax.Array, jax.Array]:
            h = gru(decoder, h, jnp.concatenate([params["words"][words], vectors], axis=-1))
            return h, h

        so_far = jnp.pad(sentences[:, :-1], ((0, 0), (1, 0)), constant_values=END)
        states = jax.lax.scan(step, jnp.zeros_like(vectors), so_far.T)[1]
        log_p = jax.nn.log_softmax(linear(params["output"], states))
        return jnp.take_along_axis(log_p, sentences.T[..., None], axis=-1)[..., 0].T

    found: jax.Array = jax.vmap(of)(params["decoders"], neighbors)
    return found


def loss(params: Tree, cases: Tree, key: jax.Array) -> jax.Array:
    """Return −log P of both neighbors of sentences, in nats a word; an end counts as a word."""
    neighbors = jnp.stack([cases[of] for of in NEIGHBORS])
    log_p = log_likelihoods(params, encode(params, cases["sentence"]), neighbors)
    counts = jnp.pad(neighbors[..., :-1] != END, ((0, 0), (0, 0), (1, 0)), constant_values=True)
    return -(counts * log_p).sum() / counts.sum()


def standardized(vectors: jax.Array, seen: jax.Array) -> jax.Array:
    """Return vectors with mean 0 and variance 1 in each entry over those that are seen."""
    return (vectors - seen.mean(0)) / jnp.maximum(seen.std(0), 1e-6)


def told(vectors: jax.Array, seen: jax.Array, topics: jax.Array, count: int) -> jax.Array:
    """Return the topic of each vector (N, H), by ridge regression on those seen, (M, H).

    Vectors are standardized, and each topic has as many of those seen.
    """
    answers = jax.nn.one_hot(topics, count) - 1 / count
    gram = seen.T @ seen + RIDGE * len(seen) * jnp.eye(seen.shape[1])
    return (vectors @ jnp.linalg.solve(gram, seen.T @ answers)).argmax(-1)


def cosines(one: jax.Array, other: jax.Array) -> jax.Array:
    """Return the cosines of all pairs of vectors (…, N, H) and (…, M, H): (…, N, M)."""
    a, b = (each / (jnp.linalg.norm(each, axis=-1, keepdims=True) + 1e-9) for each in (one, other))
    return a @ b.swapaxes(-1, -2)


def ranks(vectors: jax.Array, after: jax.Array) -> jax.Array:
    """Return the rank of the next sentence of each (N, H) among those of CANDIDATES, from 1."""
    count = min(CANDIDATES, len(vectors))
    whole = len(vectors) // count * count
    blocks = [each[:whole].reshape(-1, count, each.shape[-1]) for each in (vectors, after)]
    similar = cosines(*blocks)
    right = similar.diagonal(axis1=1, axis2=2)[..., None]
    return (similar > right).sum(-1) + 1


def write(params: Tree, vectors: jax.Array) -> jax.Array:
    """Return the next sentence (S, T), each word the likeliest one that is known."""
    decoder = jax.tree.map(lambda leaf: leaf[NEIGHBORS.index("after")], params["decoders"])

    def step(now: tuple[jax.Array, jax.Array], _: None) -> tuple[Any, jax.Array]:
        h, words = now
        h = gru(decoder, h, jnp.concatenate([params["words"][words], vectors], axis=-1))
        odds = linear(params["output"], h).at[:, UNKNOWN].set(NEVER)
        words = odds.argmax(-1)
        return (h, words), words

    first = jnp.zeros_like(vectors), jnp.full(len(vectors), END)
    found: jax.Array = jax.lax.scan(step, first, length=LONGEST)[1].T
    return found


def figures(params: Tree, cases: Tree, key: jax.Array) -> tuple[jax.Array, ...]:
    """Return the loss of the first cases, wrong topics in %, the mean rank; and what is watched.

    This is, for each held-out sentence, the nearest of those that are seen, (N,), and what is
    written after the first ones, (WRITTEN · LONGEST,).
    """
    first = {of: cases[of][:PREDICTED] for of in ("sentence", *NEIGHBORS)}
    lost = loss(params, first, key)
    N, M = len(cases["sentence"]), len(cases["seen"])
    together = jnp.concatenate([cases[of] for of in ("sentence", "after", "seen")])
    vectors = encode(params, together)
    at, after, seen = jnp.split(standardized(vectors, vectors[-M:]), [N, 2 * N])
    topics = told(at, seen, cases["seen_topic"], len(cases["topics"]))
    wrong = 100 * (topics != cases["topic"]).astype(lost.dtype).mean()
    nearest = cosines(at, seen).argmax(-1)
    watched = (nearest, write(params, vectors[: min(N, WRITTEN)]).ravel())
    rank = ranks(at, after).astype(lost.dtype).mean()
    return lost, wrong, rank, *(each.astype(lost.dtype) for each in watched)


def data(where: str | None = None) -> tuple[Tree, Tree, Tree]:
    """Return sentences of documentation, or those of a file or folder of one's own."""
    learned, validation, test = encoded(of_manuals() if where is None else of_folder(where))
    return learned, validation, test


def beside(found: Mapping[str, Mapping[str, Any]], validation: Tree) -> dict[str, list[Any]]:
    """Return what each way of learning wrote after some sentences, and which one it found nearest.

    Of the whole ones they are those with the fewest unknown words, and of these the longest.
    """
    numbers, words = (np.asarray(validation[of]) for of in ("sentence", "words"))
    first = numbers[:WRITTEN]
    blanks = (first == END).sum(axis=1)
    worse = LONGEST * ((first == UNKNOWN).sum(axis=1) + LONGEST * (blanks == 0)) + blanks
    chosen = np.argsort(worse, kind="stable")[:SHOWN].tolist()
    count = len(numbers)
    places: dict[int, int] = {}
    said = []
    for n in chosen:
        methods = {}
        for one in found.values():
            near = one["watched"][:, n].astype(int).tolist()
            wrote = one["watched"][:, count:].astype(int).reshape(-1, WRITTEN, LONGEST)[:, n]
            methods[one["method"]] = {
                "nearest": [places.setdefault(at, len(places)) for at in near],
                "written": [_read(row, words) for row in wrote],
            }
        said.append(
            {
                "said": spelled(validation["said"][n]),
                "next": spelled(validation["next_said"][n]),
                "topic": spelled(validation["topics"][validation["topic"][n]]),
                "methods": methods,
            }
        )
    near_ones = [
        {
            "said": spelled(validation["seen_said"][at]),
            "topic": spelled(validation["topics"][validation["seen_topic"][at]]),
        }
        for at in places
    ]
    topics = [spelled(topic) for topic in validation["topics"]]
    return {"sentences": said, "near": near_ones, "topics": topics}


def _read(numbers: np.ndarray[Any, Any], words: np.ndarray[Any, Any]) -> str:
    """A sentence from the numbers of its words, up to its end."""
    there = [spelled(words[at]) for at in numbers[: (*numbers, END).index(END)]]
    return written(there)


EXPERIMENT = Experiment(
    name="skip_thoughts",
    data=text(
        "Sentences of the documentation of Python, NumPy and SciPy, as installed, with the one "
        "before and the one after: 20,000 to learn from, 400 for validation, 400 for the test, of "
        "other files."
    ),
    unit=text("nats per word"),
    measure=text("−log-likelihood of the sentences before and after a held-out one"),
    init=init,
    sized=fitting,
    loss=loss,
    cases=data,
    moving=lambda best, test: {},
    beside=beside,
    batch=16,
    steps=1000,
    rates=(0.001, 0.003, 0.01, 0.03, 0.1),
    figures=figures,
    others=(text("wrong topics, %"), text("mean rank of the next sentence among 100")),
    own=text("text with a sentence a line: a folder of *.txt, or one file"),
)
