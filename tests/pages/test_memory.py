"""The memory of a server over the largest states that are legal, one session after the other."""

import re
import subprocess
import sys
from pathlib import Path

from benchmarks.states import LARGEST

ROOT = Path(__file__).parents[2]
STATES = 10  # of LARGEST; `python -m benchmarks.memory` opens two thousand


def test_a_server_stays_under_a_gigabyte_at_the_largest_states():
    """A process of its own: a witness among 20 groups alone once took 7 GB."""
    assert len(LARGEST) >= STATES
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", str(STATES)],
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
