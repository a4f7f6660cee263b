"""Section 6.7: a small convolutional network names digits.

    h¹ = pool(relu(N(W¹ ∗ x))),    h² = pool(relu(N(W² ∗ h¹)))
    log P(y | x) = log softmax(W³ h² + b)

Kernels are 3 × 3 and pools 2 × 2. Layer norm takes its statistics over the units of a whole layer,
places and channels, batch norm over cases and places; each channel has a gain and a shift. With
layer norm the answer does not depend on the contrast of a picture; with the others it does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from normgeo.base.text import text
from normgeo.datasets.handwritten import OWN
from normgeo.experiments.networks.cells import Tree, init_linear, linear
from normgeo.experiments.networks.classify import (
    answers,
    data,
    figures_of,
    init_unit,
    loss_of,
    normalized,
)
from normgeo.experiments.networks.compiled import Experiment, lightly
from normgeo.experiments.results import METHODS

CLASSES, KERNEL = 10, 3
CHANNELS = 8, 16
CONTRASTS = tuple(2.0 ** (at / 2) for at in range(-8, 9))  # of the pictures that the page shows
SHOWN = 8


def init(key: jax.Array, method: str, side: int = 8) -> Tree:
    """Return first parameters, for pictures of side × side."""
    keys, (first, second) = jax.random.split(key, 3), CHANNELS
    return {
        "first": init_unit(keys[0], first, KERNEL**2, method),
        "second": init_unit(keys[1], second, KERNEL**2 * first, method),
        "output": init_linear(keys[2], CLASSES, second * (side // 4) ** 2),
    }


def sized(learned: Tree) -> Callable[[jax.Array, str], Tree]:
    """Return `init` for the pictures at hand."""
    return partial(init, side=_side(learned["pictures"]))


def convolve(W: jax.Array, x: jax.Array) -> jax.Array:
    """W ∗ x of x (N, y, x, D), zeros around it: a product with the pixels around each place."""
    side = x.shape[1]
    padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    around = [padded[:, i : i + side, j : j + side] for i in range(KERNEL) for j in range(KERNEL)]
    return jnp.concatenate(around, axis=-1) @ W.T


def pool(x: jax.Array) -> jax.Array:
    """The largest of each 2 × 2 places."""
    N, side, _, D = x.shape
    return x.reshape(N, side // 2, 2, side // 2, 2, D).max((2, 4))


def network(params: Tree, pictures: jax.Array, population: int | None) -> jax.Array:
    """Return log P of each class, (N, 10)."""
    side = _side(pictures)
    h = pictures.reshape(-1, side, side, 1)
    for name in ("first", "second"):
        unit = params[name]
        h = pool(jax.nn.relu(normalized(unit, convolve(unit["W"], h), population)))
    return jax.nn.log_softmax(linear(params["output"], h.reshape(len(h), -1)))


loss = loss_of(network)


def moving(best: dict[str, Tree], test: Tree) -> dict[str, list[Any]]:
    """Return what each network answers as the contrast of the pictures it is shown turns.

    The pictures learned from, of which batch norm has its statistics, keep theirs. Shown are the
    digits that the methods give the least chance at first.
    """
    labels = np.asarray(test["labels"])

    def seen(params: Tree, contrast: jax.Array) -> jax.Array:
        return answers(network, params, {**test, "pictures": contrast * test["pictures"]})

    answered = lightly(seen)
    log_p = {
        method: np.array([answered(params, contrast) for contrast in jnp.array(CONTRASTS)])
        for method, params in best.items()
    }
    own = sum(each[CONTRASTS.index(1.0), range(len(labels)), labels] for each in log_p.values())
    shown = np.sort(np.argsort(own, kind="stable")[:SHOWN])
    ink = np.rint(16 * np.asarray(test["pictures"])[shown]).astype(int).tolist()
    return {
        "contrasts": [*CONTRASTS],
        "digits": [
            {"digit": int(labels[at]), "ink": each} for at, each in zip(shown, ink, strict=True)
        ],
        "answers": [
            {
                "method": method,
                "errors": [
                    round(100 * float(wrong), 2)
                    for wrong in (each.argmax(-1) != labels).mean(axis=-1)
                ],
                "chances": np.rint(100 * np.exp(each[:, shown])).astype(int).tolist(),
            }
            for method, each in log_p.items()
        ],
    }


def _side(pictures: jax.Array) -> int:
    return math.isqrt(pictures.shape[-1])


EXPERIMENT = Experiment(
    name="convolution",
    data=text("1,797 handwritten digits of 8 × 8 pixels, of scikit-learn."),
    unit=text("nats per digit"),
    measure=text("−log-likelihood of held-out digits"),
    init=init,
    sized=sized,
    loss=loss,
    cases=data,
    moving=moving,
    batch=32,
    steps=900,
    rates=(0.003, 0.01, 0.03, 0.1),
    methods=METHODS,
    figures=figures_of(network),
    others=(text("errors, %"),),
    own=OWN,
)
