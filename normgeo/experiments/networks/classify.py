"""What networks that name digits share: normalized units, and how well they do.

    LN(a) = g (a − μ)/√(σ² + ε) + b    over the units of a layer, for each case
    BN(a) = γ (a − μ)/√(σ² + ε) + β    over the cases, for each unit, or channel

A batch's own statistics serve to learn. What is held out is normalized by those of pictures that
the network has learned from, so that no answer depends on the other pictures beside it.
Source of BN: Ioffe and Szegedy, Batch normalization, 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from normgeo.datasets.handwritten import Pictures, parts
from normgeo.experiments.networks.cells import EPS, Tree, normalize
from normgeo.experiments.results import BATCH, LAYER

POPULATION = 1200  # at most, of the pictures learned from that give batch norm its statistics

Network = Callable[[Tree, jax.Array, int | None], jax.Array]
"""(parameters, pictures, population) → log P of each class, (N, 10)."""


def init_unit(key: jax.Array, outputs: int, inputs: int, method: str) -> Tree:
    """Return W (K, D) of variance 2/D, for ReLU, and the gain and shift of a method."""
    unit: Tree = {"W": jax.random.normal(key, (outputs, inputs)) * (2 / inputs) ** 0.5}
    shift, gain = jnp.zeros(outputs), jnp.ones(outputs)
    if method == BATCH:
        return {**unit, "gamma": gain, "beta": shift}
    return {**unit, "b": shift, **({"g": gain} if method == LAYER else {})}


def normalized(unit: Tree, a: jax.Array, population: int | None) -> jax.Array:
    """Normalize summed inputs a (N, H), or (N, y, x, channels), by the method of the unit.

    Batch norm takes the statistics of the first `population` cases, or of all.
    """
    if "gamma" in unit:
        axes = tuple(range(a.ndim - 1))
        mean, variance = a[:population].mean(axes), a[:population].var(axes)
        return unit["gamma"] * (a - mean) * jax.lax.rsqrt(variance + EPS) + unit["beta"]
    places = int(np.prod(a.shape[1:-1]))
    whole: Tree = {name: jnp.tile(unit[name], places) for name in ("g", "b") if name in unit}
    return normalize(whole, a.reshape(len(a), -1)).reshape(a.shape)


def loss_of(network: Network) -> Callable[[Tree, Tree, jax.Array], jax.Array]:
    """Return −log P of the digits, which nothing random is in."""

    def loss(params: Tree, cases: Tree, key: jax.Array) -> jax.Array:
        return _missed(network(params, cases["pictures"], None), cases["labels"])

    return loss


def answers(network: Network, params: Tree, cases: Tree) -> jax.Array:
    """Return log P (N, 10) of cases that are held out."""
    by_batch = any("gamma" in unit for unit in params.values())
    seen = cases["seen"] if by_batch else cases["seen"][:0]
    return network(params, jnp.concatenate([seen, cases["pictures"]]), len(seen))[len(seen) :]


def figures_of(
    network: Network, watched: int = 0
) -> Callable[[Tree, Tree, jax.Array], Sequence[jax.Array]]:
    """Return −log P, errors in percent, and what the first `watched` digits are taken for."""

    def figures(params: Tree, cases: Tree, key: jax.Array) -> Sequence[jax.Array]:
        log_p = answers(network, params, cases)
        taken = log_p.argmax(-1)
        wrong = 100 * (taken != cases["labels"]).mean()
        return _missed(log_p, cases["labels"]), wrong, taken[:watched].astype(log_p.dtype)

    return figures


def data(where: str | None = None) -> tuple[Tree, Tree, Tree]:
    """Return digits to learn from, for validation and for the test, with what has been seen."""
    learned, validation, test = parts(where)
    seen = learned[0][:POPULATION]
    return _tree(learned), {**_tree(validation), "seen": seen}, {**_tree(test), "seen": seen}


def _tree(found: Pictures) -> Tree:
    return dict(zip(("pictures", "labels"), found, strict=True))


def _missed(log_p: jax.Array, labels: jax.Array) -> jax.Array:
    return -jnp.take_along_axis(log_p, labels[:, None], axis=-1).mean()
