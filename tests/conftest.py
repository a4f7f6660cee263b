"""Settings and fixtures that all tests share."""

import gc
import logging
import os
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings

from tests.pairwise import pytest_generate_tests  # noqa: F401 - a hook
from tools import kernels

# Times are unreliable on the shared machine of continuous integration, and its failures must be
# reproducible.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
# Test servers share a core; a separate test covers what they compute ahead.
os.environ["NORMGEO_AHEAD"] = "0"
settings.load_profile("ci" if os.environ.get("CI") else "local")


gc.disable()  # while tests are collected, nothing is garbage


def pytest_collection_finish() -> None:
    """What is collected lives as long as the run: do not look through it again and again."""
    gc.freeze()
    gc.enable()


def pytest_report_header() -> str:
    """The kernel, which determines how products of matrices round."""
    return f"OpenBLAS kernel: {kernels.own() or 'none'}"


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator that gives the same numbers in every run."""
    return np.random.default_rng(20160721)


@pytest.fixture(autouse=True)
def defects() -> Iterator[list[logging.LogRecord]]:
    """Log records of program errors on pages; a test that expects one removes it."""
    logged: list[logging.LogRecord] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = logged.append  # type: ignore[method-assign]
    logging.getLogger("normgeo").addHandler(handler)
    yield logged
    logging.getLogger("normgeo").removeHandler(handler)
    assert [logging.Formatter().format(record) for record in logged] == []
