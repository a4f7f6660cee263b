"""A step of descent on digits, with all cases or a mini-batch, against its two products."""

from collections.abc import Iterator
from statistics import median
from time import perf_counter

import numpy as np

from benchmarks.timing import Row
from normgeo import NORMALIZERS, NormalizedGLM, descend
from normgeo.datasets.datasets import load

TITLE = "Descent on digits"
METHODS = ("standard", "batch", "weight", "layer")
AIMS = {"gaussian": "≤ 2 ×", "categorical": "≤ 3 ×"}
STEPS = 1000


def rows() -> Iterator[Row]:
    for family in ("gaussian", "bernoulli", "categorical"):
        for method in METHODS:
            yield step(method, family, None)
    for size in (128, 512):
        for optimizer in ("gradient_descent", "adamw"):
            yield step("layer", "categorical", size, optimizer)


def step(method: str, family: str, batch: int | None, optimizer: str = "gradient_descent") -> Row:
    """Time one step with all its measurements, against X Wᵀ and UᵀX alone, in turn."""
    digits, rng = load("digits"), np.random.default_rng(0)
    one_hot = (digits.y[:, None] == np.arange(10)).astype(float)
    y = digits.y if family == "categorical" else one_hot
    model = NormalizedGLM.random(NORMALIZERS[method], family, 10, digits.D, rng)
    X = digits.X[: batch or digits.N]
    U, W = rng.standard_normal((len(X), 10)), model.W
    times: list[tuple[float, float]] = []
    resumed = 0.0

    def after_a_step(number: int, steps: int) -> None:
        nonlocal resumed
        stepped = perf_counter()
        X @ W.T
        U.T @ X
        done = perf_counter()
        if number:
            times.append((stepped - resumed, done - stepped))
        resumed = perf_counter()

    descend(
        model,
        digits.X,
        y,
        optimizer,
        steps=STEPS,
        rate=1e-3,
        batch_size=batch,
        progress=after_a_step,
    )
    ours, theirs = zip(*times, strict=True)
    what = "" if batch is None else f", {optimizer.replace('_', ' ')} in batches of {batch}"
    return Row(
        f"{family}, {model.normalizer.title}{what}",
        median(ours),
        f"X Wᵀ and UᵀX, {(*X.shape, 10)}",
        median(theirs),
        f"{median(a / b for a, b in times):.2f} ×",
        AIMS.get(family, "") if batch is None else "",
    )
