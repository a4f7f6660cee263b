"""The Fisher information of layer norm and others, against the matrix products that it needs."""

from collections.abc import Iterator

import numpy as np

from benchmarks.timing import Row, interleaved
from normgeo import NORMALIZERS, NormalizedGLM, fisher

TITLE = "Fisher information, categorical family"
DIGITS, LARGE = (1797, 64, 10), (20000, 784, 10)
METHODS = ("layer", "batch", "weight", "standard")


def rows() -> Iterator[Row]:
    for method in METHODS:
        for size, repetitions in ((DIGITS, 300), (LARGE, 30)):
            yield matvec(method, size, repetitions)
    for size, repetitions in ((DIGITS, 20), (LARGE, 3)):
        yield dense(size, repetitions)


def model_and_cases(method: str, size: tuple[int, int, int]) -> tuple[NormalizedGLM, np.ndarray]:
    N, D, H = size
    rng = np.random.default_rng(0)
    model = NormalizedGLM.random(NORMALIZERS[method], "categorical", H, D, rng)
    return model, rng.standard_normal((N, D))


def matvec(method: str, size: tuple[int, int, int], repetitions: int) -> Row:
    """Time F v against X dWᵀ and UᵀX alone."""
    model, X = model_and_cases(method, size)
    F, rng = fisher(model, X), np.random.default_rng(1)
    v, dW, U = (
        rng.standard_normal(shape) for shape in (F.shape[0], model.W.shape, (size[0], size[2]))
    )

    def products() -> None:
        X @ dW.T
        U.T @ X

    pair = interleaved(lambda: F.matvec(v), products, repetitions)
    return Row(
        f"F v, {NORMALIZERS[method].title}, {size}",
        pair.seconds,
        "X dWᵀ and UᵀX",
        pair.against_seconds,
        f"{pair.ratio:.2f} ×",
        "≤ 1.3 ×" if size == LARGE else "",
    )


def dense(size: tuple[int, int, int], repetitions: int) -> Row:
    """Time the exact dense F of layer norm against H(H+1)/2 products (D, N)(N, D) by dgemm."""
    model, X = model_and_cases("layer", size)
    H = len(model.W)
    Y, count, sample = X.copy(), H * (H + 1) // 2, 5

    def products() -> None:
        for _ in range(sample):
            X.T @ Y

    pair = interleaved(lambda: fisher(model, X, "dense"), products, repetitions)
    return Row(
        f"dense F, {model.normalizer.title}, {size}",
        pair.seconds,
        f"{count} × dgemm XᵀY",
        pair.against_seconds * count / sample,
        f"{count / sample / pair.ratio:.0%} of its rate",
        "≥ 75 %" if size == LARGE else "",
    )
