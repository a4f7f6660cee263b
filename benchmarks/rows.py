"""A product with F over rows in blocks of a file, against one read of the file and two products."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.timing import Pair, Row, interleaved
from normgeo import NORMALIZERS, Fisher, NormalizedGLM, Rows, fisher

TITLE = "Rows in blocks of a file of float32, batch norm, Bernoulli family"
D, H, BLOCK = 64, 10, 4096
SIZES = {10**4: 20, 10**5: 7, 10**6: 2, 10**7: 1}  # N, repetitions


def rows() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    model = NormalizedGLM.random(NORMALIZERS["batch"], "bernoulli", H, D, rng)
    with TemporaryDirectory() as folder:
        for N, repetitions in SIZES.items():
            path = written(Path(folder) / "x.npy", N)
            for kind in ("float64", "float32"):
                yield from over(model, path, N, kind, repetitions)


def written(path: Path, N: int) -> Path:
    """Write N random rows, a million at a time."""
    rng = np.random.default_rng(1)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (N, D))
    for start in range(0, N, 10**6):
        X[start : start + 10**6] = rng.standard_normal((min(N - start, 10**6), D), np.float32)
    X.flush()
    return path


def over(model: NormalizedGLM, path: Path, N: int, kind: str, repetitions: int) -> Iterator[Row]:
    """Time F v and the first pass against the floor, and F v of a million rows against memory."""
    X = Rows.of(path, dtype=kind)
    F, v = fisher(model, X), np.random.default_rng(2).standard_normal(model.layout.size)
    floor = Floor(model.W.astype(kind), path)
    of, against = f"N = {N:,}, {kind}", "read, X dWᵀ and UᵀX"
    error = ""
    if N <= 10**6:
        first = interleaved(lambda: fisher(model, X), floor, repetitions)
        yield row(f"statistics of the batch, {of}", first, against)
        inside = fisher(model, np.load(path).astype(np.float64))
        error = f"; error {off(F, inside, v):.1g}"
    yield row(f"F v, {of}{error}", interleaved(lambda: F @ v, floor, repetitions), against)
    if N == 10**6 and kind == "float64":
        yield row(f"F v, {of}", interleaved(lambda: F @ v, lambda: inside @ v, 2), "in memory")


def off(F: Fisher, inside: Fisher, v: np.ndarray) -> float:
    """Return the error of F v against that in memory, relative to its largest entry."""
    expected = inside @ v
    return float(np.abs(F @ v - expected).max() / np.abs(expected).max())


class Floor:
    """One read of the file, and the two products that F v needs."""

    def __init__(self, dW: np.ndarray, path: Path) -> None:
        self.dW, self.path = dW, path
        self.U = np.ones((BLOCK, len(dW)), dW.dtype)

    def __call__(self) -> None:
        with self.path.open("rb") as file:
            file.seek(128)
            while read := file.read(BLOCK * 4 * D):
                X = np.frombuffer(read, np.float32).reshape(-1, D).astype(self.dW.dtype, copy=False)
                X @ self.dW.T
                self.U[: len(X)].T @ X


def row(what: str, pair: Pair, against: str) -> Row:
    return Row(what, pair.seconds, against, pair.against_seconds, f"{pair.ratio:.2f} ×")
