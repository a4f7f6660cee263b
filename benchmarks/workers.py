"""A product with F over a Dask array on a cluster on this machine, against rows in one process."""

from collections.abc import Iterator
from functools import partial

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from threadpoolctl import threadpool_limits

from benchmarks.timing import Row, interleaved
from normgeo import NORMALIZERS, NormalizedGLM, Rows, fisher

TITLE = "Rows of a Dask array on a cluster of this machine, float32, batch norm, Bernoulli family"
D, H = 64, 10
WORKERS = (1, 2)
SIZES = ((10**6, 8, 3), (800, 8, 10), (6400, 64, 5))  # N, chunks, repetitions

# Dask makes workers return freed memory at once, which costs as much as the product.
KEEP = dict.fromkeys(("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"), 2**28)
ENVIRONMENT = {f"distributed.nanny.pre-spawn-environ.{name}": size for name, size in KEEP.items()}


def rows() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    model = NormalizedGLM.random(NORMALIZERS["batch"], "bernoulli", H, D, rng)
    v = rng.standard_normal(model.layout.size)
    for N, chunks, repetitions in SIZES:
        X = np.random.default_rng(1).standard_normal((N, D), np.float32)
        for workers in WORKERS:
            sizes = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
            with (
                threadpool_limits(1),
                dask.config.set(ENVIRONMENT),
                LocalCluster(**sizes, silence_logs=60) as cluster,
                Client(cluster) as client,
            ):
                here = fisher(model, Rows.of(X))
                there = fisher(model, spread(client, X, chunks))
                np.testing.assert_allclose(there @ v, here @ v, rtol=1e-10)
                pair = interleaved(partial(there.matvec, v), partial(here.matvec, v), repetitions)
            what = f"F v, N = {N:,} in {chunks} chunks, {workers} worker{'s' * (workers > 1)}"
            against = "Rows in one process"
            ratio = f"{pair.ratio:.2f} ×"
            yield Row(what, pair.seconds, against, pair.against_seconds, ratio)


def spread(client: Client, X: np.ndarray, chunks: int) -> da.Array:
    """Put the rows on the workers, in equal chunks."""
    pieces = client.scatter(np.split(X, chunks))
    shape = len(X) // chunks, X.shape[1]
    array = da.concatenate([da.from_delayed(piece, shape, X.dtype) for piece in pieces]).persist()
    wait(array)
    return array
