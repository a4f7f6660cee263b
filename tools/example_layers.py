"""Train the three example layers on the digits, and write them into the package.

    python -m tools.example_layers

The files are the same on every machine, up to rounding. Inputs and gradients are those of the layer
at the end of the run: 200 cases, and 8 mini-batches.
"""

import sys
from collections.abc import Iterator
from itertools import islice

import numpy as np
from safetensors.numpy import save_file

from normgeo.base.arrays import Array
from normgeo.checkpoints.examples import EXAMPLES, Example
from normgeo.datasets.datasets import load
from normgeo.datasets.hold_out import Split, hold_out
from normgeo.datasets.mini_batches import MiniBatches
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.dynamics.training import History, train
from normgeo.models.families import family_of
from normgeo.models.glm import NormalizedGLM
from normgeo.models.network import Network
from normgeo.normalizers.normalizer import Normalizer

CASES = 200
BATCHES = 8
NEURONS = 12
EPS = 1e-5
LONGER = 100.0
PALER = 1e-3


def main() -> None:
    data = hold_out(load("digits"))
    makers = {"batch": batch_norm, "layer": layer_norm, "pre_norm": pre_norm}
    for key, example in EXAMPLES.items():
        tensors = {
            name: np.ascontiguousarray(values, np.float32)
            for name, values in makers[key](data, example).items()
        }
        save_file(tensors, example.path)
        print(f"{example.path}: {example.path.stat().st_size:,} bytes", file=sys.stderr)


def batch_norm(data: Split, example: Example) -> dict[str, Array]:
    """A hidden layer of 12 neurons with batch norm; the last starts with much longer weights."""
    rng = np.random.default_rng(0)
    start = Network.random(
        Normalizer("batch", "batch", eps=EPS),
        "categorical",
        [NEURONS],
        data.X_train.shape[1],
        10,
        rng,
    )
    theta = start.pack()
    D = data.X_train.shape[1]
    last = (NEURONS - 1) * (D + 2)
    theta[last : last + D] *= LONGER
    run = _trained(start.unpack(theta), data, example, epochs=40)
    units, running = run.network.hidden[0].units, run.running[0]
    return {
        "hidden.weight": units.W,
        "hidden_norm.weight": _given(units.g),
        "hidden_norm.bias": units.b,
        "hidden_norm.running_mean": _given(running.mean)[0],
        "hidden_norm.running_var": _given(running.variance)[0],
        "X": data.X_train[:CASES],
        "gradient": _gradients(run.network, data, example),
    }


def layer_norm(data: Split, example: Example) -> dict[str, Array]:
    """A hidden layer of 12 neurons with layer norm, on images with low contrast."""
    rng = np.random.default_rng(1)
    pale = _scaled(data, PALER)
    start = Network.random(
        Normalizer("layer", "layer", eps=EPS),
        "categorical",
        [NEURONS],
        data.X_train.shape[1],
        10,
        rng,
    )
    run = _trained(start, pale, example, epochs=10)
    units = run.network.hidden[0].units
    return {
        "hidden.weight": units.W,
        "hidden_norm.weight": _given(units.g),
        "hidden_norm.bias": units.b,
        "X": pale.X_train[:CASES],
        "gradient": _gradients(run.network, pale, example),
    }


def pre_norm(data: Split, example: Example) -> dict[str, Array]:
    """The first weights of h = x + V relu(W (g LN(x) + β) + b), below a softmax."""
    block = Block.random(np.random.default_rng(2), data.X_train.shape[1])
    rule = OPTIMIZERS[example.optimizer]
    theta = block.pack()
    memory, decays = rule.init(theta), example.decay * block.is_weight
    rates = np.full(theta.shape, example.rate)
    targets = family_of("categorical").encode(data.y_train, 10)
    for cases in _batches(data, example, epochs=40):
        gradient = block.unpack(theta).gradient(data.X_train[cases], targets[cases])
        step, memory = rule.update(memory, theta, gradient, rates, decays)
        theta = theta + step
    block = block.unpack(theta)
    gradients = [
        block.unpack(block.gradient(data.X_train[cases], targets[cases])).W
        for cases in islice(_batches(data, example, 1), BATCHES)
    ]
    return {
        "block.mlp.0.weight": block.g,
        "block.mlp.0.bias": block.beta,
        "block.mlp.1.weight": block.W,
        "block.mlp.1.bias": block.b,
        "X": data.X_train[:CASES],
        "gradient": np.stack(gradients),
    }


class Block:
    """A residual pre-norm block with a softmax on top, and its gradient by hand."""

    def __init__(self, **arrays: Array) -> None:
        self.arrays = arrays

    def __getattr__(self, name: str) -> Array:
        return self.arrays[name]

    @classmethod
    def random(cls, rng: np.random.Generator, D: int, H: int = NEURONS) -> "Block":
        def normal(*shape: int) -> Array:
            values: Array = rng.standard_normal(shape) * (2 / shape[1]) ** 0.5
            return values

        return cls(
            g=np.ones(D),
            beta=np.zeros(D),
            W=normal(H, D),
            b=np.zeros(H),
            V=normal(D, H),
            U=normal(10, D),
            c=np.zeros(10),
        )

    def pack(self) -> Array:
        theta: Array = np.concatenate([values.ravel() for values in self.arrays.values()])
        return theta

    @property
    def is_weight(self) -> Array:
        weights = [np.full(v.size, v.ndim > 1) for v in self.arrays.values()]
        return np.asarray(np.concatenate(weights))

    def unpack(self, theta: Array) -> "Block":
        ends = np.cumsum([values.size for values in self.arrays.values()])[:-1]
        parts = zip(self.arrays.items(), np.split(theta, ends), strict=True)
        return Block(**{name: part.reshape(old.shape) for (name, old), part in parts})

    def gradient(self, X: Array, y: Array) -> Array:
        """∂L/∂θ of −mean log P(y|x), in the order of `pack`."""
        z = Normalizer("layer", "layer", eps=EPS).normalize(np.eye(X.shape[1]), X).z
        u = self.g * z + self.beta
        a = u @ self.W.T + self.b
        hidden = np.maximum(a, 0)
        h = X + hidden @ self.V.T
        model = NormalizedGLM(Normalizer("none", "none"), "categorical", self.U, self.c)
        slope = -model.residual(h @ self.U.T + self.c, y)
        dh = slope @ self.U
        da = (dh @ self.V) * (a > 0)
        du = da @ self.W
        parts = Block(
            g=(du * z).sum(0),
            beta=du.sum(0),
            W=da.T @ u,
            b=da.sum(0),
            V=dh.T @ hidden,
            U=slope.T @ h,
            c=slope.sum(0),
        )
        return parts.pack()


def _trained(start: Network, data: Split, example: Example, epochs: int) -> History:
    return train(
        start,
        data,
        optimizer=example.optimizer,
        rate=example.rate,
        decay=example.decay,
        batch_size=example.batch_size,
        epochs=epochs,
    )


def _batches(data: Split, example: Example, epochs: int) -> Iterator[Array]:
    plan = MiniBatches.of(len(data.X_train), example.batch_size)
    draws = plan.draw(0)
    for _ in range(epochs * len(plan.bounds)):
        yield next(draws)


def _gradients(network: Network, data: Split, example: Example) -> Array:
    """∂L/∂W of the hidden layer on mini-batches, (K, H, D)."""
    layout = network.hidden[0].units.layout
    found = []
    for cases in islice(_batches(data, example, 1), BATCHES):
        _, gradient = network.loss_and_gradient(data.X_train[cases], data.y_train[cases])
        dW, _, _ = layout.split(gradient[: layout.size])
        found.append(dW)
    return np.stack(found)


def _scaled(data: Split, factor: float) -> Split:
    return Split(data.X_train * factor, data.y_train, data.X_test * factor, data.y_test, data.kept)


def _given(values: Array | None) -> Array:
    if values is None:
        raise ValueError("the layer has none")
    return values


if __name__ == "__main__":
    main()
