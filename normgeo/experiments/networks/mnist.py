"""Section 6.6: a fully connected network names digits, whose pixels have no order that counts.

    h¹ = relu(N(W¹ x)),    h² = relu(N(W² h¹)),    log P(y | x) = log softmax(W³ h² + b)

N is batch norm or layer norm; the last layer has none. It learns at batches of 4, and beside that
at batches of 128.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import numpy as np

from normgeo.base.text import text
from normgeo.datasets.handwritten import OWN
from normgeo.experiments.networks.cells import Tree, init_linear, linear
from normgeo.experiments.networks.classify import (
    data,
    figures_of,
    init_unit,
    loss_of,
    normalized,
)
from normgeo.experiments.networks.compiled import Experiment
from normgeo.experiments.results import BATCH, LAYER

CLASSES = 10
HIDDEN = {64: 128, 784: 1000}  # neurons of a layer, by the number of pixels
WATCHED, SHOWN = 300, 48  # digits that are watched, and the most misread, which the page shows


def init(key: jax.Array, method: str, pixels: int = 64) -> Tree:
    """Return first parameters."""
    keys, neurons = jax.random.split(key, 3), HIDDEN[pixels]
    return {
        "first": init_unit(keys[0], neurons, pixels, method),
        "second": init_unit(keys[1], neurons, neurons, method),
        "output": init_linear(keys[2], CLASSES, neurons),
    }


def sized(learned: Tree) -> Callable[[jax.Array, str], Tree]:
    """Return `init` for the pictures at hand."""
    return partial(init, pixels=learned["pictures"].shape[1])


def network(params: Tree, pictures: jax.Array, population: int | None) -> jax.Array:
    """Return log P of each class, (N, 10)."""
    h = pictures
    for name in ("first", "second"):
        h = jax.nn.relu(normalized(params[name], h @ params[name]["W"].T, population))
    return jax.nn.log_softmax(linear(params["output"], h))


loss = loss_of(network)


def beside(found: Mapping[str, Mapping[str, Any]], validation: Tree) -> dict[str, list[Any]]:
    """Return how each way of learning went, and what it took the most misread digits for."""
    labels = np.asarray(validation["labels"])[:WATCHED]
    misread = sum((one["watched"] != labels).sum(axis=0) for one in found.values())
    shown = np.sort(np.argsort(-misread, kind="stable")[:SHOWN])
    pictures = np.asarray(validation["pictures"])[shown]
    ink = np.rint(16 * pictures).astype(int).tolist()
    digits = [{"digit": int(labels[at]), "ink": each} for at, each in zip(shown, ink, strict=True)]
    ways = [
        {**one, "watched": one["watched"][:, shown].astype(int).tolist()} for one in found.values()
    ]
    return {"digits": digits, "ways": ways}


EXPERIMENT = Experiment(
    name="mnist",
    data=text("1,797 handwritten digits of 8 × 8 pixels, of scikit-learn."),
    unit=text("nats per digit"),
    measure=text("−log-likelihood of held-out digits"),
    init=init,
    sized=sized,
    loss=loss,
    cases=data,
    moving=lambda best, test: {},
    beside=beside,
    batch=4,
    further_batches=(128,),
    steps=3000,
    rates=(0.0003, 0.001, 0.003, 0.01, 0.03),
    methods=(BATCH, LAYER),
    figures=figures_of(network, WATCHED),
    others=(text("errors, %"),),
    own=OWN,
)
