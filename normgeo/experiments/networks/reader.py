"""Section 6.2: the attentive reader, which finds in a document the name that a query asks for.

An LSTM reads the document from each end, and so does another pair the query. With y(t) what the
first pair knows at word t, and u what the second knows at its ends,

    m(t) = tanh(W_y y(t) + W_u u),   s(t) ∝ exp(w · m(t)),   P(name) = Σ s(t) where t is this name

Names are numbered anew whenever a question is drawn: nothing can be learned of a name itself.

Batch norm and layer norm are those of the LSTMs. Batch norm everywhere normalizes also the two
terms that enter the tanh,

    m(t) = tanh(BN(W_y y(t)) + BN(W_u u)),

and neither the embeddings of the words nor the scores w · m(t). Statistics are over the questions
that are read together, also of those held out, and apart for each word: of each LSTM in the order
in which it reads, of W_y y(t) in that of the document. So it is the BN-everywhere of Cooijmans et
al. Their BN-e* and BN-e** go further: inputs of the LSTMs have statistics that the words share, and
sequences are turned round without what pads them. Here PADs stand before the words, so that they
come last where an LSTM reads backward; no state moves there, but statistics count them. Running
averages for held-out questions, which that paper keeps, there are none.

Source: Hermann et al., Teaching machines to read and comprehend, 2015, section 3; Cooijmans et al.,
Recurrent batch normalization, 2017, section 5.4; for P, Kadlec et al., Text understanding with the
attention sum reader network, 2016.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from normgeo.base.text import text
from normgeo.experiments.cnn_files import of_folder
from normgeo.experiments.networks.cells import (
    Tree,
    gains,
    init_linear,
    init_lstm,
    linear,
    lstm,
    normalize,
    rest,
)
from normgeo.experiments.networks.compiled import Experiment, lightly
from normgeo.experiments.questions import (
    ENTITIES,
    FIRST_WORD,
    PAD,
    QUERY,
    WORDS,
    as_written,
    encoded,
    of_manuals,
    vocabulary,
)
from normgeo.experiments.results import EVERYWHERE, METHODS

EMBEDDING, NEURONS = 16, 16  # H, of each of the four LSTMs
FIRST_SIZE = 0.1  # of the weights that place the attention, which starts nearly even
NEVER, LEAST = -1e9, 1e-9  # the log odds of what is no word; the least chance of a name
NAMES_SHOWN = 4  # in the question of the page, at least


class Reading(NamedTuple):
    """Attention on each word of the documents, (S, T), and log P of each name, (S, ENTITIES)."""

    attention: jax.Array
    log_chance: jax.Array


def init(key: jax.Array, method: str) -> Tree:
    """Return first parameters; the LSTMs are a leading axis of theirs."""
    of_words, of_document, of_query, of_attention, *of_cells = jax.random.split(key, 8)
    cells = [init_lstm(one, NEURONS, EMBEDDING, method) for one in of_cells]
    normed = gains(method, 2 * NEURONS) if method == EVERYWHERE else {}
    return {
        "words": jax.random.normal(of_words, (FIRST_WORD + WORDS, EMBEDDING)),
        "cells": jax.tree.map(lambda *each: jnp.stack(each), *cells),
        "document": init_linear(of_document, 2 * NEURONS, 2 * NEURONS) | normed,
        "query": init_linear(of_query, 2 * NEURONS, 2 * NEURONS) | normed,
        "attention": init_linear(of_attention, 1, 2 * NEURONS, FIRST_SIZE),
    }


def states(params: Tree, document: jax.Array, query: jax.Array) -> jax.Array:
    """Read documents (S, T) and queries (S, U) forth and back: h of the LSTMs, (4, T, S, H).

    Queries begin with as many PADs as make them T long. A PAD leaves the state as it is: all cases
    may have it, and then batch norm would divide by √ε, step after step.
    """
    short = document.shape[1] - query.shape[1]
    both = (
        jnp.pad(each, ((0, 0), (short, 0)), constant_values=PAD) for each in (query, query[:, ::-1])
    )
    words = jnp.stack([document, document[:, ::-1], *both]).swapaxes(1, 2)

    def along(cell: Tree, words: jax.Array) -> jax.Array:
        def step(state: Any, word: jax.Array) -> Any:
            after = lstm(cell, state, params["words"][word])
            state = tuple(
                jnp.where(word[:, None] == PAD, old, new)
                for old, new in zip(state, after, strict=True)
            )
            return state, state[0]

        found: jax.Array = jax.lax.scan(step, rest(len(document), NEURONS), words)[1]
        return found

    found: jax.Array = jax.vmap(along)(params["cells"], words)
    return found


def read(params: Tree, document: jax.Array, query: jax.Array) -> Reading:
    """Read documents (S, T) and queries (S, U) of numbers of words."""
    forth, back, *asked = states(params, document, query)
    y = jnp.concatenate([forth, back[::-1]], axis=-1)
    u = jnp.concatenate([each[-1] for each in asked], axis=-1)
    of_document, of_query = (
        normalize(params[of], a @ params[of]["W"].T) for of, a in (("document", y), ("query", u))
    )
    m = jnp.tanh(of_document + of_query)
    odds = linear(params["attention"], m)[..., 0].T
    attention = jax.nn.softmax(jnp.where(document == PAD, NEVER, odds))
    places = jax.nn.one_hot(document, ENTITIES)  # no number of a word is one of these
    return Reading(attention, jnp.log(jnp.einsum("st,ste->se", attention, places) + LEAST))


def renamed(cases: Tree, key: jax.Array) -> Tree:
    """Number the names of each question anew."""
    turned = jax.random.uniform(key, (len(cases["answer"]), ENTITIES)).argsort(axis=1)

    def of(words: jax.Array) -> jax.Array:
        names = jnp.take_along_axis(turned, jnp.minimum(words, ENTITIES - 1), axis=1)
        return jnp.where(words < ENTITIES, names, words)

    answer = of(cases["answer"][:, None])[:, 0]
    return {"document": of(cases["document"]), "query": of(cases["query"]), "answer": answer}


def figures(params: Tree, cases: Tree, key: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the share of wrong answers, in %, and −log P of the right ones."""
    asked = renamed(cases, key)
    log_chance = read(params, asked["document"], asked["query"]).log_chance
    wrong = log_chance.argmax(-1) != asked["answer"]
    right = jnp.take_along_axis(log_chance, asked["answer"][:, None], axis=1)
    return 100 * wrong.astype(log_chance.dtype).mean(), -right.mean()


def loss(params: Tree, cases: Tree, key: jax.Array) -> jax.Array:
    """Return −log P of the answers, in nats."""
    return figures(params, cases, key)[1]


def data(where: str | None = None) -> tuple[Tree, Tree, Tree]:
    """Return questions on documentation, or those of a folder of CNN's stories."""
    parts = of_manuals() if where is None else of_folder(where)
    words = vocabulary(parts[0])
    learned, validation, test = (encoded(part, words) for part in parts)
    return learned, validation, test


def begun(query: jax.Array, count: jax.Array) -> jax.Array:
    """The first words of queries (S, U), which end them now."""
    left_out = jnp.maximum((query != PAD).sum(1, keepdims=True) - count, 0)
    place = jnp.arange(query.shape[1]) - left_out
    moved = jnp.take_along_axis(query, jnp.maximum(place, 0), axis=1)
    return jnp.where(place < 0, PAD, moved)


def moving(best: dict[str, Tree], test: Tree) -> dict[str, list[Any]]:
    """Let each network read a query word by word, with all others of the test set.

    It is the first question with a long query and some names that most networks answer.
    """
    document, query, answer = (test[of] for of in ("document", "query", "answer"))

    def ended(params: Tree, count: jax.Array) -> Reading:
        return read(params, document, begun(query, count))

    after = lightly(ended)
    readings = {
        method: [after(params, count) for count in range(1, QUERY + 1)]
        for method, params in best.items()
    }
    right = sum(
        np.asarray(each[-1].log_chance.argmax(-1) == answer).astype(int)
        for each in readings.values()
    )
    names = np.array([len({*row[row < ENTITIES]}) for row in np.asarray(document)])
    whole = np.asarray((query != PAD).all(1) & (document != PAD).all(1))
    kept = np.asarray(test["said"]).any(1)
    chosen = int(np.argmax(np.where(whole & kept & (names >= NAMES_SHOWN), right, -1)))
    one = as_written(np.asarray(test["said"][chosen]))
    return {
        "questions": []
        if one is None
        else [
            {
                **one._asdict(),
                "methods": {
                    method: {
                        "attention": [_shares(at.attention[chosen]) for at in each],
                        "chance": [
                            _shares(jnp.exp(at.log_chance[chosen, : len(one.names)])) for at in each
                        ],
                    }
                    for method, each in readings.items()
                },
            }
        ]
    }


def _shares(values: jax.Array) -> list[float]:
    return [round(float(value), 3) for value in values]


EXPERIMENT = Experiment(
    name="reader",
    data=text(
        "Cloze questions on the documentation of Python, NumPy and SciPy, as installed, with the "
        "names in them hidden."
    ),
    unit=text("% of questions"),
    measure=text("wrong answers to held-out questions"),
    init=init,
    loss=loss,
    cases=data,
    moving=moving,
    batch=32,
    methods=METHODS,
    steps=900,
    rates=(0.003, 0.01, 0.03, 0.1),
    figures=figures,
    others=(text("−log P of the answer, in nats"),),
    own=text("a folder with CNN's stories, `questions/training/*.question` and so on"),
)
