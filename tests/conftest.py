"""What all tests share."""

import logging
import os
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings

from tests.pairwise import pytest_generate_tests  # noqa: F401 - a hook
from tools import kernels

# The shared machine of a continuous integration run is no clock, and its failures must come back.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
# Servers of tests have a core to share; a test of its own shows what they compute ahead.
os.environ["NORMGEO_AHEAD"] = "0"
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_report_header() -> str:
    """The kernel that decides how products of matrices round."""
    return f"OpenBLAS kernel: {kernels.own() or 'none'}"


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator that gives the same numbers in every run."""
    return np.random.default_rng(20160721)


@pytest.fixture(autouse=True)
def defects() -> Iterator[list[logging.LogRecord]]:
    """What pages logged as mistakes of the program; a test that expects one takes it away."""
    logged: list[logging.LogRecord] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = logged.append  # type: ignore[method-assign]
    logging.getLogger("normgeo").addHandler(handler)
    yield logged
    logging.getLogger("normgeo").removeHandler(handler)
    assert [logging.Formatter().format(record) for record in logged] == []
