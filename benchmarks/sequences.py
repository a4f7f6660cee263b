"""A training step of recurrent cells, against its matrix products alone."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.timing import Row, interleaved
from normgeo import CELLS, NORMALIZERS, CellLayer, run_cell
from normgeo.dynamics.adam import Adam

TITLE = "A training step of a recurrent cell"
S, T, F, H = 128, 64, 64, 64
REPETITIONS = 15
AIM = "≤ 4 ×"


def rows() -> Iterator[Row]:
    for cell in CELLS:
        for method in ("standard", "layer"):
            aim = AIM if (cell, method) == ("lstm", "layer") else ""
            yield step(cell, method, threads=1, aim=aim)
    yield step("lstm", "layer", threads=None)


def step(cell: str, method: str, threads: int | None, aim: str = "") -> Row:
    """Time run, back-propagation and update, against W X of all steps and its two products back.

    Inputs have no gradient, so a product that reads only inputs has one product back.
    """
    rng, normalizer = np.random.default_rng(0), NORMALIZERS[method]
    if normalizer.scaling.takes_eps:
        normalizer = replace(normalizer, eps=1e-5)
    layer = CellLayer.random(cell, normalizer, H, F, rng)
    X, U = rng.standard_normal((S, T, F)), rng.standard_normal((T, S, H)) / (S * T)
    theta, run = layer.pack(), None
    rule, rates, decays = Adam(), np.full_like(theta, 1e-3), np.zeros_like(theta)
    memory = rule.init(theta)
    states, sums, inputs = (rng.standard_normal((T, S, size)) for size in (H, 4 * H, F))

    def trained() -> None:
        nonlocal theta, layer, run, memory
        run = run_cell(layer, X)  # the last run stays until here, so no memory is freed
        step, memory = rule.update(memory, theta, run.vjp(U), rates, decays)
        theta = theta + step
        layer = layer.unpack(theta)

    def products() -> None:
        for state, x, changes in zip(states, inputs, sums, strict=True):
            for product, units in zip(layer.cell.products, layer.units, strict=True):
                reads = x if not product.state else state
                if product.state and product.inputs:
                    reads = np.hstack([state, x])
                R = changes[:, : len(units.W)]
                reads @ units.W.T
                R.T @ reads
                if product.state:
                    R @ units.W

    with threadpool_limits(threads, "blas"):
        pair = interleaved(trained, products, REPETITIONS)
    words = "one thread of BLAS, as pages have it" if threads == 1 else "all threads of BLAS"
    return Row(
        f"{layer.cell.title}, {layer.normalizer.title}, {(S, T, H)}, {words}",
        pair.seconds,
        "its products",
        pair.against_seconds,
        f"{pair.ratio:.2f} ×",
        aim,
    )
