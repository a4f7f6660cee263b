"""The models and data that claims are computed on: small, seeded, real where it matters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.datasets.datasets import DATASETS
from normgeo.models.families import FAMILIES
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer

ROUNDING = 1e-9

PAPER = ("batch", "weight", "layer")
"""The methods that the paper compares, keys of `NORMALIZERS`."""

DISPERSION = 0.5  # φ of the families that have one: not 1, which would hide a missing φ

_DATA, _MODEL, _IMAGES, _OTHER = range(4)  # streams of random numbers


@final
@dataclass(frozen=True)
class Example:
    """The seed and the size of the data and models that claims are computed on.

    Attributes:
        seed: of all random draws.
        cases, features, neurons: N, D and H of small models; half of the neurons, a group, are at
            least three, as z of two neurons is a sign that jumps.
        digits: the number of images of digits. units: of recurrent models.
        certificate: (N, H, D) of exact draws, with at least H neurons in all groups together.

    """

    seed: int
    cases: int = 40
    features: int = 5
    neurons: int = 6
    digits: int = 200
    units: int = 20
    certificate: tuple[int, int, int] = (5, 4, 4)

    def rng(self, stream: int = 0) -> np.random.Generator:
        """Return a generator for a claim's own draws, a different stream for each number."""
        return self._rng(_OTHER + stream)

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, stream])

    @property
    def X(self) -> Array:
        """Normal cases with a nonzero mean and features of different sizes, (N, D)."""
        normal = self._rng(_DATA).standard_normal((self.cases, self.features))
        return normal * (1 + np.arange(self.features)) + 1

    def model(
        self, method: str, family: str, neurons: int | None = None, features: int | None = None
    ) -> NormalizedGLM:
        """Return a model with random weights, biases and gains."""
        rng, normalizer = self._rng(_MODEL), NORMALIZERS[method]
        H, D = neurons or self.neurons, features or self.features
        W = NormalizedGLM.random(normalizer, family, H, D, rng).W
        b = 0.3 * rng.standard_normal(H)
        g = None if normalizer.is_standard else rng.uniform(0.5, 1.5, H)
        phi = DISPERSION if FAMILIES[family].has_dispersion else 1.0
        return NormalizedGLM(normalizer, family, W, b, g, phi=phi)

    @property
    def images(self) -> tuple[Array, Array]:
        """Some digits, standardized together with all others (N, D), and their labels."""
        X, y = _digits()
        chosen = self._rng(_IMAGES).choice(len(X), self.digits, replace=False)
        return X[chosen], y[chosen]

    def digits_model(self, method: str) -> NormalizedGLM:
        """Return a model of the ten digits with random parameters, for `images`."""
        return self.model(method, "categorical", neurons=10, features=_digits()[0].shape[1])


EXAMPLES = (
    Example(0),
    *(Example(seed, 24, 4, 8, digits=80, units=12, certificate=(4, 3, 3)) for seed in range(3)),
)
"""The examples of every claim, three seeds and two sizes; the first one's results are shown."""


@lru_cache(maxsize=1)
def _digits() -> tuple[Array, Array]:
    digits = DATASETS["digits"].load(standardize=True)
    return digits.X, digits.y


def with_weights(model: NormalizedGLM, W: Array) -> NormalizedGLM:
    """Return the model with other weights (H, D), and unchanged biases and gains."""
    return model.unpack(model.layout.pack(W, model.b, model.g))


def with_eps(normalizer: Normalizer, eps: float) -> Normalizer:
    """Return the normalizer with another ε, or itself if its scale does not use ε."""
    return replace(normalizer, eps=eps) if normalizer.scaling.takes_eps else normalizer


def softened(model: NormalizedGLM, eps: float) -> NormalizedGLM:
    """Return the model with another ε and unchanged parameters."""
    normalizer = with_eps(model.normalizer, eps)
    return NormalizedGLM(normalizer, model.family, model.W, model.b, model.g, phi=model.phi)


def moved(before: Array, after: Array) -> float:
    """Return max|after − before| / max|before|."""
    return float(np.abs(after - before).max() / np.abs(before).max())
