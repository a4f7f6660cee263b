"""The models and data that claims are computed on: small, seeded, real where it matters."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from normgeo.base.arrays import Array
from normgeo.claims.claim import Numbers, Value, numbers, shared
from normgeo.datasets.datasets import DATASETS
from normgeo.invariance import certificate
from normgeo.models.families import FAMILIES
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.named import NORMALIZERS

SEED = 0
ROUNDING = 1e-9

PAPER = ("batch", "weight", "layer")
"""The methods that the paper compares, keys of `NORMALIZERS`."""

DISPERSION = 0.5  # φ of the families that have one: not 1, which would hide where it is forgotten


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
    W = NormalizedGLM.random(normalizer, family, neurons, features, rng).W
    b = 0.3 * rng.standard_normal(neurons)
    g = None if normalizer.is_standard else rng.uniform(0.5, 1.5, neurons)
    phi = DISPERSION if FAMILIES[family].has_dispersion else 1.0
    return NormalizedGLM(normalizer, family, W, b, g, phi=phi)


def digits_model(method: str) -> NormalizedGLM:
    """Return a model of the ten digits with random parameters, to go with `images`."""
    return small_model(method, "categorical", neurons=10, features=images()[0].shape[1])


def with_weights(model: NormalizedGLM, W: Array) -> NormalizedGLM:
    """Return the model with other weights (H, D), its biases and gains as they are."""
    return model.unpack(model.layout.pack(W, model.b, model.g))


def moved(before: Array, after: Array) -> float:
    """Return max|after − before| / max|before|."""
    return float(np.abs(after - before).max() / np.abs(before).max())


certify = shared(certificate.certify)


def by_method(quantity: str, values: Mapping[str, Value], unit: str = "") -> Numbers:
    """Return a quantity as measured of several methods, keys of `NORMALIZERS`."""
    titled = {NORMALIZERS[method].title: value for method, value in values.items()}
    return numbers(quantity, titled, unit)
