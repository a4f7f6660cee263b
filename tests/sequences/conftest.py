"""Layers for the tests of sequences."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from normgeo.sequences.layer import CellLayer

S, T, F, H = 4, 5, 3, 6

LayerOf = Callable[..., CellLayer]


@pytest.fixture
def layer_of(rng: np.random.Generator) -> LayerOf:
    """Make a layer whose gains, biases and weights are all generic."""

    def make(cell, normalizer, eps=1e-3, gate_by_gate=True) -> CellLayer:  # type: ignore[no-untyped-def]
        if normalizer.scaling.takes_eps:
            normalizer = replace(normalizer, eps=eps)
        layer = CellLayer.random(cell, normalizer, H, F, rng, gate_by_gate=gate_by_gate)
        theta = layer.pack()
        return layer.unpack(theta + 0.3 * rng.standard_normal(theta.shape))

    return make


@pytest.fixture
def sequences(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(0.3, 1, (S, T, F))


@pytest.fixture
def start(rng: np.random.Generator) -> Callable[[CellLayer], tuple[np.ndarray, ...]]:
    return lambda layer: tuple(rng.standard_normal((layer.cell.states, S, H)))
