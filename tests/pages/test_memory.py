"""The memory of a server over the largest states that are legal, one session after the other."""

import re
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.states import LARGEST, TABS, legal
from normgeo.base.rules import Matrix, Word
from normgeo.settings import RULES

ROOT = Path(__file__).parents[2]


@pytest.mark.exhaustive
def test_a_server_stays_under_a_gigabyte_at_the_largest_states():
    """A process of its own, since a witness among 20 groups alone once took 7 GB.

    `python -m benchmarks.memory` opens two thousand.
    """
    assert len(LARGEST) >= 10
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", "10"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    (size, unit) = re.search(r"most: ([\d.,]+) (MB|GB)", ran.stdout).groups()
    assert unit == "MB"
    assert float(size.replace(",", "")) < 600


@pytest.mark.exhaustive
def test_states_are_of_all_pages_tabs_and_settings():
    """A new page is among those that benchmarks open, without an edit there."""
    states = list(islice(legal(), 2000))
    assert {(page, tab) for page in TABS for tab in TABS[page]} <= {
        (page, query.get("tab")) for page, query in states
    }
    drawn = {name: {query.get(name) for _, query in states} for name in RULES}
    for name, rule in RULES.items():
        if not isinstance(rule, Word | Matrix):
            assert len(drawn[name]) > 2, name
        for value in drawn[name] - {None}:
            rule.parse(value)
