"""The 20 largest eigenvalues of F by Lanczos, against forming F and its eigendecomposition."""

from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh

from benchmarks.timing import Row, interleaved
from normgeo import NORMALIZERS, NormalizedGLM, fisher, spectrum
from normgeo.datasets.datasets import load

TITLE = "Largest 20 eigenvalues of F, categorical family"
WIDE = (2000, 784, 64)
METHODS = ("layer", "batch")
LARGE = (20000, 784, 10)
K = 20


def rows() -> Iterator[Row]:
    digits = load("digits").X
    for method in METHODS:
        yield top(method, digits, repetitions=9)
    N, D, _ = LARGE
    yield top("layer", np.random.default_rng(0).standard_normal((N, D)), repetitions=1)
    yield top("layer", decaying(N, D), repetitions=1)
    for method in METHODS:
        yield beside_eigsh(method)


def beside_eigsh(method: str) -> Row:
    """Time `spectrum` and scipy's own Lanczos with products of the same F, both to rounding."""
    N, D, H = WIDE
    rng = np.random.default_rng(0)
    model = NormalizedGLM.random(NORMALIZERS[method], "categorical", H, D, rng)
    X, products = rng.standard_normal((N, D)), set[int]()

    def ours() -> None:
        products.add(spectrum(fisher(model, X), K).products)

    start = np.random.default_rng(0).standard_normal(model.layout.size)
    pair = interleaved(ours, lambda: eigsh(fisher(model, X), K, which="LA", v0=start, tol=0), 3)
    return Row(
        f"{model.normalizer.title}, {WIDE}, white cases: with trace and residuals, "
        f"{products.pop()} products",
        pair.seconds,
        f"`scipy.sparse.linalg.eigsh(F, {K}, tol=0)`",
        pair.against_seconds,
        f"{pair.ratio:.2f} ×",
        "≤ 1.2 ×",
    )


def decaying(N: int, D: int) -> np.ndarray:
    """Cases whose covariance decays as 1/rank, as for images; white cases have no gaps."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((N, D)) / np.sqrt(np.arange(1, D + 1))


def top(method: str, X: np.ndarray, repetitions: int) -> Row:
    """Time both methods in turn; a large size once, since the dense one takes over a minute."""
    (N, D), H = X.shape, LARGE[2]
    model = NormalizedGLM.random(NORMALIZERS[method], "categorical", H, D, np.random.default_rng(0))

    def by_products() -> Any:
        return spectrum(fisher(model, X), K)

    def by_matrix() -> Any:
        return spectrum(fisher(model, X, "dense"), K)

    if repetitions > 1:
        by_products(), by_matrix()
    pairs = [(timed(by_products), timed(by_matrix)) for _ in range(repetitions)]
    (ours, found), (theirs, expected) = pairs[-1]
    if not np.allclose(found.values, expected.values, rtol=1e-8):
        raise RuntimeError("The two routes must find the same eigenvalues; they do not.")
    ours, theirs = (median(pair[i][0] for pair in pairs) for i in (0, 1))
    ratio = median(pair[0][0] / pair[1][0] for pair in pairs)
    cases = "digits" if repetitions > 1 else describe(X)
    return Row(
        f"{model.normalizer.title}, {(N, D, H)}, {cases}: Lanczos, {found.products} products",
        ours,
        f"dense F, {len(found.vectors)}², and `eigh` of the top {K}",
        theirs,
        f"{ratio:.2f} ×",
    )


def describe(X: np.ndarray) -> str:
    return "white cases" if X[:, -1].std() > 0.5 else "covariance ∝ 1/rank"


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = perf_counter()
    found = function()
    return perf_counter() - start, found
