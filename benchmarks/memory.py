"""What a server's memory comes to over many different legal states, the largest among them.

`python -m benchmarks.memory COUNT` prints the memory after every tenth of them, and the most.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil
from streamlit.testing.v1 import AppTest

from normgeo.base.budget import memory
from normgeo.datasets.datasets import DATASETS
from normgeo.invariance.transforms import TRANSFORMS
from normgeo.layers.examples import EXAMPLES
from normgeo.models.activations import ACTIVATIONS
from normgeo.normalizers.named import NORMALIZERS
from normgeo.ui import results
from normgeo.ui.frame import PAGES

STATES = 2000
MOST = 1e9  # bytes
LONGEST = 300  # seconds for a page
APP = Path(__file__).parents[1] / "app.py"

WIDE = {"dataset": "digits", "neurons": "256"}
LARGEST = (
    ("invariance", {"groups": "20", "cell": "group.case_recentering"}),
    ("invariance", {"groups": "256", "cell": "group.weight_vector_offsets", "tab": "blackboard"}),
    ("invariance", {**WIDE, "groups": "64", "cell": "group.case_rescaling", "tab": "why"}),
    ("home", WIDE),
    ("fisher", {"dataset": "plane", "neurons": "256", "family": "categorical", "tab": "magnitude"}),
    ("fisher", {"dataset": "digits", "neurons": "32", "method": "layer", "tab": "spectra"}),
    ("learning_rate", {**WIDE, "steps": "10000", "method": "layer"}),
    ("learning_rate", {"dataset": "plane", "neurons": "256", "steps": "500", "tab": "descent"}),
    ("learning_rate", {**WIDE, "mini_batch": "16", "steps": "300", "tab": "twin"}),
    ("learning_rate", {**WIDE, "steps": "300", "tab": "spiral"}),
    ("symmetry", {"dataset": "plane", "neurons": "256", "method": "layer"}),
    ("batch", WIDE),
)
"""Pages and queries that took gigabytes or minutes, or come near to what pages allow."""

TABS = {page: ("auto", *getattr(import_module(f"normgeo.ui.{page}"), "TABS", ())) for page in PAGES}


class Watched(NamedTuple):
    """A state, and the memory of the server and of its workers after it, in bytes."""

    state: str
    server: int
    workers: int


def states() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the largest states, then others, no two alike."""
    yield from LARGEST
    rng = np.random.default_rng(0)
    while True:
        page = str(rng.choice(list(TABS)))
        yield (
            page,
            {
                "tab": str(rng.choice(TABS[page])),
                "dataset": str(rng.choice(list(DATASETS))),
                "neurons": str(rng.choice([0, 3, 8, 16, 32, 64, 256])),
                "method": str(rng.choice(list(NORMALIZERS))),
                "cell": f"{rng.choice(list(NORMALIZERS))}.{rng.choice(list(TRANSFORMS))}",
                "groups": str(rng.choice([1, 2, 4, 8, 64, 256])),
                "eps": str(rng.choice([0.0, float(rng.uniform(0, 1e-3))])),
                "seed": str(rng.integers(2**31)),
                "steps": str(rng.choice([20, 100])),
                "length": str(rng.choice([8, 64, 256])),
                "activation": str(rng.choice(list(ACTIVATIONS))),
                "layer": str(rng.choice(list(EXAMPLES))),
            },
        )


def watched(count: int) -> Iterator[Watched]:
    """Open so many states, each in a session of its own, and yield what the memory is then."""
    server = psutil.Process()
    for page, query in islice(states(), count):
        session = AppTest.from_file(str(APP), default_timeout=LONGEST)
        for name, value in query.items():
            session.query_params[name] = value
        session.switch_page(f"pages/{page}.py").run()
        if session.exception:
            raise RuntimeError(f"{page} {query}: {session.exception[0].message}")
        held = [child.memory_info().rss for child in server.children(recursive=True)]
        address = f"{page}?{'&'.join(f'{name}={value}' for name, value in query.items())}"
        yield Watched(address, server.memory_info().rss, sum(held))


def main(count: int) -> None:
    most, last = 0, ""
    for number, one in enumerate(watched(count), start=1):
        if one.server > most:
            most, last = one.server, one.state
        if number % max(1, count // 10) == 0 or number == count:
            kept = memory(results.KEPT.size)
            line = f"{number}: {memory(one.server)}, workers {memory(one.workers)}, kept {kept}"
            print(line, flush=True)
    print(f"most: {memory(most)} at {last}")
    sys.exit(most >= MOST)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STATES)
