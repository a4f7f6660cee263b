"""Record the example run on the digits, and write it into the package.

    python -m tools.example_run

The file is the same on every machine, up to rounding: six neurons with batch norm below a softmax.
The steps are those of `train`, which does not keep the weights of each step.
"""

import sys

import numpy as np

from normgeo.datasets.datasets import load
from normgeo.datasets.hold_out import Split, hold_out
from normgeo.datasets.mini_batches import MiniBatches
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.models.network import Network
from normgeo.normalizers.normalizer import Normalizer
from normgeo.recordings.example import EXAMPLE
from normgeo.recordings.recorder import Recorder

NEURONS = 6
LONGER = 1000.0
NAME, NORM = "W", "batch"


def main() -> None:
    EXAMPLE.path.unlink(missing_ok=True)
    record(hold_out(load("digits")))
    print(f"{EXAMPLE.path}: {EXAMPLE.path.stat().st_size:,} bytes", file=sys.stderr)


def start(data: Split) -> Network:
    """A hidden layer with batch norm, whose last neuron starts with much longer weights."""
    D = data.X_train.shape[1]
    normalizer, rng = Normalizer(NORM, NORM, eps=1e-5), np.random.default_rng(0)
    network = Network.random(normalizer, "categorical", [NEURONS], D, 10, rng)
    theta = network.pack()
    last = (NEURONS - 1) * (D + 2)
    theta[last : last + D] *= LONGER
    return network.unpack(theta)


def record(data: Split) -> Network:
    """Train from the start, write the recording, and return the network at the end."""
    network = start(data)
    theta, layout = network.pack(), network.hidden[0].units.layout
    rule, decays = OPTIMIZERS[EXAMPLE.optimizer], EXAMPLE.decay * network.is_weight
    memory, rates = rule.init(theta), np.full(theta.shape, EXAMPLE.rate)
    plan = MiniBatches.of(len(data.X_train), EXAMPLE.batch_size)
    batches = plan.draw(0)
    with Recorder(EXAMPLE.path, {NAME: NORM}, optimizer=EXAMPLE.optimizer) as recorder:
        gradients = None
        for _ in range(EXAMPLE.epochs * len(plan.bounds)):
            weights = {NAME: network.hidden[0].units.W}
            recorder.step(weights, EXAMPLE.rate, decay=EXAMPLE.decay, gradients=gradients)
            cases = next(batches)
            _, gradient = network.loss_and_gradient(data.X_train[cases], data.y_train[cases])
            gradients = {NAME: layout.split(gradient[: layout.size])[0]}
            step, memory = rule.update(memory, theta, gradient, rates, decays)
            theta = theta + step
            network = network.unpack(theta)
        weights = {NAME: network.hidden[0].units.W}
        recorder.step(weights, EXAMPLE.rate, decay=EXAMPLE.decay, gradients=gradients)
    return network


if __name__ == "__main__":
    main()
