"""The models and data on which statements are tried: small, seeded, real where it matters."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from normgeo.base.arrays import Array
from normgeo.claims.claim import Numbers, Value, numbers
from normgeo.datasets.datasets import DATASETS
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.normalizer import NORMALIZERS

SEED = 0
ROUNDING = 1e-9

PAPER = ("batch", "weight", "layer")
"""The methods that the paper compares, keys of `NORMALIZERS`."""

OUTPUTS = {"gaussian": 0.5, "bernoulli": 1.0, "poisson": 1.0, "categorical": 1.0}
"""Every family with a dispersion φ; one that is not 1 shows where φ is forgotten."""


@lru_cache(maxsize=1)
def images() -> tuple[Array, Array]:
    """Return the first 200 digits, standardized (N, D), and their labels."""
    digits = DATASETS["digits"].load(standardize=True)
    return digits.X[:200], digits.y[:200]


def gaussian_data(cases: int = 40, features: int = 5) -> Array:
    """Return normal cases with a mean and features of different sizes, (N, D)."""
    rng = np.random.default_rng(SEED)
    return rng.standard_normal((cases, features)) * (1 + np.arange(features)) + 1


def small_model(method: str, family: str, neurons: int = 6, features: int = 5) -> NormalizedGLM:
    """Return a model with random weights, biases and gains, and the family's φ of `OUTPUTS`."""
    rng = np.random.default_rng(SEED + 1)
    normalizer = NORMALIZERS[method]
    W = NormalizedGLM.random(normalizer, family, neurons, features, rng).W
    b = 0.3 * rng.standard_normal(neurons)
    g = None if normalizer.is_standard else rng.uniform(0.5, 1.5, neurons)
    return NormalizedGLM(normalizer, family, W, b, g, phi=OUTPUTS[family])


def digits_model(method: str) -> NormalizedGLM:
    """Return a model of the ten digits with random parameters, to go with `images`."""
    return small_model(method, "categorical", neurons=10, features=images()[0].shape[1])


def with_weights(model: NormalizedGLM, W: Array) -> NormalizedGLM:
    """Return the model with other weights (H, D), its biases and gains as they are."""
    return model.unpack(model.layout.pack(W, model.b, model.g))


def moved(before: Array, after: Array) -> float:
    """Return max|after − before| / max|before|."""
    return float(np.abs(after - before).max() / np.abs(before).max())


def by_method(quantity: str, values: Mapping[str, Value], unit: str = "") -> Numbers:
    """Return a quantity as measured of several methods, keys of `NORMALIZERS`."""
    titled = {NORMALIZERS[method].title: value for method, value in values.items()}
    return numbers(quantity, titled, unit)
