"""Cases for several tests of dynamics."""

import numpy as np
import pytest

from normgeo.datasets.dataset import Dataset
from normgeo.datasets.datasets import load


@pytest.fixture
def cases(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A small random sample of inputs (N, D) with a nonzero mean, and labels of four classes."""
    return rng.normal(0.5, 1, (12, 5)), rng.integers(0, 4, 12)


@pytest.fixture(scope="session")
def digits() -> Dataset:
    return load("digits")
