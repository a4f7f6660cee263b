"""What all tests share."""

import os

import numpy as np
import pytest
from hypothesis import settings

from tools import kernels

# The shared machine of a continuous integration run is no clock, and its failures must come back.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_report_header() -> str:
    """The kernel that decides how products of matrices round."""
    return f"OpenBLAS kernel: {kernels.own() or 'none'}"


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator that gives the same numbers in every run."""
    return np.random.default_rng(20160721)
