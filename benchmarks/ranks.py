"""The spectrum and null space from blocks of rows in a file, against the products of blocks."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.rows import D, H, written
from benchmarks.timing import Row, interleaved
from normgeo import NORMALIZERS, NormalizedGLM, Rows, fisher, null_space, spectrum

TITLE = "20 eigenvalues and the null space of the weights, from a file of float32"
K, BLOCK = 20, 1024
CASES = (
    ("batch", "bernoulli", 100_000),
    ("batch", "gaussian", 100_000),
    ("layer", "bernoulli", 20_000),
    ("layer", "categorical", 20_000),
    ("batch", "categorical", 20_000),
)


def rows() -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        for method, family, N in CASES:
            path = written(Path(folder) / f"{N}.npy", N)
            yield of(NormalizedGLM.random(NORMALIZERS[method], family, H, D, rng()), path, N)


def of(model: NormalizedGLM, path: Path, N: int) -> Row:
    """Time all that `normgeo fisher -X` computes, against one product of each nonzero block."""
    found = set[str]()

    def ours() -> None:
        F = fisher(model, Rows.of(path))
        spectrum(F, K, weights_only=True)
        found.add(null_space(F).counts)

    apart = len(fisher(model, rng().standard_normal((9, D))).structure.clusters) == H
    pairs = H if apart else H * (H + 1) // 2
    pair = interleaved(ours, lambda: products(path, pairs), 3)
    return Row(
        f"{model.normalizer.title}, {model.family.title}, {(N, D, H)}: {found.pop()}",
        pair.seconds,
        f"read, {pairs} × Xᵀ diag(k) X",
        pair.against_seconds,
        f"{pair.ratio:.2f} ×",
        "≤ 3 ×",
    )


def products(path: Path, pairs: int) -> None:
    """Read the file once, and compute XᵀX for each of `pairs` weights of the cases."""
    grams, k = np.zeros((pairs, D, D)), np.ones((BLOCK, pairs))
    with path.open("rb") as file:
        file.seek(128)
        while read := file.read(BLOCK * 4 * D):
            X = np.frombuffer(read, np.float32).reshape(-1, D).astype(np.float64)
            for pair in range(pairs):
                grams[pair] += X.T @ (k[: len(X), pair, None] * X)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)
