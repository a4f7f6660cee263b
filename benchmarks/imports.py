"""`import normgeo` against the imports of numpy and scipy that it needs."""

import subprocess
import sys
from collections.abc import Callable, Iterator

from benchmarks.timing import Row, interleaved

TITLE = "Import"
NEEDED = "import numpy, scipy.sparse.linalg, scipy.optimize"


def rows() -> Iterator[Row]:
    pair = interleaved(running("import normgeo"), running(NEEDED), 15)
    yield Row(
        "`import normgeo`", pair.seconds, f"`{NEEDED}`", pair.against_seconds, f"{pair.ratio:.2f} ×"
    )


def running(code: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)
