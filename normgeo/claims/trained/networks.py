"""Statements on networks of fully connected layers: sections 3 and 6.6, on digits.

A run is 30 steps of Adam from random weights; its result is the training loss, the mean over the
last half. A method is represented by its best run of five learning rates, which extend beyond the
best one on both sides.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.claims.claim import HOLDS, HOLDS_IF, Claim, Finding, by_method, numbers, plain, shared
from normgeo.claims.examples import ROUNDING, Example, moved, with_eps
from normgeo.datasets.datasets import DATASETS
from normgeo.datasets.hold_out import Split, hold_out
from normgeo.dynamics.training import History, train
from normgeo.models.activations import ACTIVATIONS
from normgeo.models.network import Network
from normgeo.normalizers.named import NORMALIZERS

STEPS, WIDTH, EPS = 30, 32, 1e-5
RATES = (0.003, 0.01, 0.03, 0.1, 0.3)
LARGE, SMALL = 40, 4  # cases of a batch
MUCH = 0.2  # cost in nats of small batches above which a method is not robust
STARTS = 4  # of networks whose changes are compared


@shared
def _digits(seed: int, m: int) -> Split:
    """Return enough digits for 30 batches of m."""
    split = hold_out(DATASETS["digits"].load(), seed=seed)
    first = slice(STEPS * m)
    return replace(split, X_train=split.X_train[first], y_train=split.y_train[first])


@shared
def _run(seed: int, method: str, m: int, rate: float) -> History:
    """Train one hidden layer of ReLU units, normalized by a method, in batches of m."""
    split, normalizer = _digits(seed, m), with_eps(NORMALIZERS[method], EPS)
    features, rng = split.X_train.shape[1], Example(seed).rng()
    start = Network.random(normalizer, "categorical", [WIDTH], features, 10, rng)
    return train(start, split, batch_size=m, epochs=1, optimizer="adam", rate=rate, seed=seed)


@shared
def _loss(seed: int, method: str, m: int) -> float:
    """Return the smallest loss over the runs of all learning rates."""
    runs = (_run(seed, method, m, rate) for rate in RATES)
    return min(float(run.train_loss[STEPS // 2 :].mean()) for run in runs if not run.ended)


def _faster(example: Example) -> Finding:
    """Compare the losses of layer norm and batch norm in large and in small batches."""
    losses = {
        (method, m): _loss(example.seed, method, m)
        for m in (LARGE, SMALL)
        for method in ("layer", "batch")
    }
    return plain(
        all(losses["layer", m] < losses["batch", m] for m in (LARGE, SMALL)),
        tuple(
            each
            for m in (LARGE, SMALL)
            for each in by_method(
                text("loss after 30 steps, m = {m}", m=m),
                {method: loss for (method, of), loss in losses.items() if of == m},
                text("nats"),
            )
        ),
    )


def _robust(example: Example) -> Finding:
    """Measure the cost of small batches, beyond that of their noisier gradients without a norm."""
    cost = {
        method: _loss(example.seed, method, SMALL) - _loss(example.seed, method, LARGE)
        for method in ("standard", "layer", "batch")
    }
    layer, batch = (cost[method] - cost["standard"] for method in ("layer", "batch"))
    return plain(
        max(layer, MUCH / 2) < batch / 2,
        by_method(text("loss that batches of 4 cost against 40"), cost, text("nats")),
    )


def _training_and_test(example: Example) -> Finding:
    """Compare trained networks on a batch, and at test time on its cases one by one."""
    X, apart = _digits(example.seed, LARGE).X_train[:LARGE], {}
    for method in ("layer", "batch"):
        run = _run(example.seed, method, LARGE, 0.03)
        alone = np.vstack([run.natural_parameter(x[None]) for x in X])
        apart[method] = moved(run.network.natural_parameter(X), alone)
    return plain(
        apart["layer"] < ROUNDING < apart["batch"],
        by_method(text("change of the output at test"), apart),
    )


def _correlated_changes(example: Example) -> Finding:
    """Take a gradient step in the first of two layers, and correlate the next summed inputs."""
    found = {
        name: float(np.mean([_correlation(_changes(example, name, n)) for n in range(STARTS)]))
        for name in ACTIVATIONS
    }
    rng = example.rng()
    shuffled = [
        _correlation(rng.permuted(_changes(example, "relu", n), axis=0)) for n in range(STARTS)
    ]
    correlated = min(found.values()) > 2 * float(np.mean(shuffled))
    titled = {ACTIVATIONS[name].title: value for name, value in found.items()}
    return Finding(
        correlated and max(found, key=lambda name: found[name]) == "relu",
        correlated,
        numbers(
            text("mean |correlation| of the changes of two neurons"),
            titled | {text("of neurons that have nothing in common"): float(np.mean(shuffled))},
        ),
    )


def _changes(example: Example, activation: str, start: int) -> Array:
    """Return the changes of the next summed inputs by a small gradient step in a layer, (N, H)."""
    (X, y), width, rng = example.images, 2 * example.units, example.rng(start)
    network = Network.random(
        NORMALIZERS["standard"],
        "categorical",
        [width, width],
        X.shape[1],
        10,
        rng,
        activation=activation,
    )
    _, gradient = network.loss_and_gradient(X, y)
    first, second = network.hidden
    layout = first.units.layout
    W, dW = first.units.W, gradient[: layout.size][layout.weights].reshape(first.units.W.shape)
    step = 0.1 * np.linalg.norm(W) / np.linalg.norm(dW) * dW
    before, after = (first.activation.value(X @ V.T) for V in (W, W - step))
    changes: Array = (after - before) @ second.units.W.T
    return changes


def _correlation(changes: Array) -> float:
    """Return the mean of |correlation| over all pairs of columns."""
    matrix = np.corrcoef(changes.T)
    return float(np.abs(matrix[~np.eye(len(matrix), dtype=bool)]).mean())


CLAIMS = (
    Claim(
        "training_and_test",
        text("Layer norm computes the same at training and at test; batch norm does not."),
        text("abstract and section 3"),
        _training_and_test,
        HOLDS,
        "invariance?statistics=frozen",
        remark=text(
            "Two trained networks on a batch of 40, and at test time on its cases one by one."
        ),
    ),
    Claim(
        "correlated_changes",
        text(
            "A change of one layer's outputs changes the summed inputs of the next in a highly "
            "correlated way, most with ReLU."
        ),
        text("section 3"),
        _correlated_changes,
        HOLDS_IF,
        condition=text("“most with ReLU” is left out"),
        remark=text(
            "A small gradient step in the first of two layers at random weights, on digits. The "
            "correlation between two neurons is 0.3 to 0.5 on average, about four times that of "
            "neurons with nothing in common or more, and largest without an activation."
        ),
    ),
    Claim(
        "faster_than_batch_norm",
        text("A network of fully connected layers learns faster with layer norm than batch norm."),
        text("section 6.6"),
        _faster,
        HOLDS,
        "batch?tab=network",
        remark=text(
            "One hidden layer of 32 ReLU units on digits, 30 steps of Adam in batches of 40 and of "
            "4, each method at the best of five learning rates. The paper has two of 1000, and "
            "batch norm on the last layer as well."
        ),
    ),
    Claim(
        "robust_to_batch_size",
        text("Layer norm is robust to the size of the batches; batch norm is not."),
        text("section 6.6"),
        _robust,
        HOLDS,
        "batch?tab=network",
        remark=text(
            "The same networks. Small batches have noisier gradients, which costs a network "
            "without a norm as well; layer norm adds less than half of what batch norm adds."
        ),
    ),
)
