"""The models and data on which statements are tried: small, seeded, real where it matters."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from normgeo._arrays import Array
from normgeo.datasets import DATASETS
from normgeo.model import NormalizedGLM
from normgeo.normalizers import NORMALIZERS

SEED = 0
ROUNDING = 1e-9


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
    """Return a model with random weights, biases and gains."""
    rng = np.random.default_rng(SEED + 1)
    normalizer = NORMALIZERS[method]
    model = NormalizedGLM.random(normalizer, family, neurons, features, rng)
    b = 0.3 * rng.standard_normal(neurons)
    g = None if model.g is None else rng.uniform(0.5, 1.5, neurons)
    return NormalizedGLM(normalizer, family, model.W, b, g)


def moved(before: Array, after: Array) -> float:
    """Return max|after − before| / max|before|."""
    return float(np.abs(after - before).max() / np.abs(before).max())
