"""A few steps of each experiment, compilation included, against the start of what they need."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec

from benchmarks.timing import Row, interleaved
from normgeo.experiments.results import STATEMENTS

TITLE = "Experiments, 20 steps of all methods, rates and seeds"
NEEDED = "import jax, optax; jax.jit(lambda x: x + 1)(1)"


def rows() -> Iterator[Row]:
    if find_spec("jax") is None:
        raise RuntimeError("Experiments need JAX, which is not here. Install normgeo[experiments].")
    for name in STATEMENTS:
        pair = interleaved(
            running("-m", "normgeo", "experiment", name, "--steps", "20"), running("-c", NEEDED), 1
        )
        yield Row(
            f"`normgeo experiment {name} --steps 20`",
            pair.seconds,
            f"`{NEEDED}`",
            pair.against_seconds,
            f"{pair.ratio:.1f} ×",
            "≤ 30 s",
        )


def running(*arguments: str) -> Callable[[], object]:
    command = [sys.executable, *arguments]
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
