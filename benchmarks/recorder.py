"""A recorder's check of weights that have changed, against one copy of them."""

from collections.abc import Iterator
from itertools import cycle

import numpy as np

from benchmarks.timing import Row, interleaved
from normgeo import NORMALIZERS
from normgeo.recordings.tensors import Tensor
from normgeo.recordings.turning import Turning

TITLE = "Recorder, one step"
SHAPE = (2048, 2048)
CASES = (
    ("batch", np.float32, 0),
    ("batch", np.float64, 0),
    ("batch", np.float32, -1),
    ("layer", np.float32, 0),
)


def rows() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    for method, dtype, axis in CASES:
        W = rng.standard_normal(SHAPE).astype(dtype)
        steps = cycle([(W + 1e-3 * rng.standard_normal(SHAPE)).astype(dtype), W])
        copy, turning = np.empty_like(W), Turning(Tensor.of("W", W, axis, NORMALIZERS[method]))
        turning.look(W)
        pair = interleaved(lambda: turning.look(next(steps)), lambda: np.copyto(copy, W), 20)  # noqa: B023
        yield Row(
            f"{NORMALIZERS[method].title}, {SHAPE}, {np.dtype(dtype)}, neurons on axis {axis}",
            pair.seconds,
            "copy of W",
            pair.against_seconds,
            f"{pair.ratio:.2f} ×",
            "≤ 3 ×",
        )
