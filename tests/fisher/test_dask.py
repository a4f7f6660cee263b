"""Rows of a Dask array: the same numbers as in memory, computed where the chunks are."""

import os
import signal
import sys

import dask
import dask.array as da
import distributed
import numpy as np
import pytest

from normgeo import NormalizedGLM, Normalizer, Rows, fisher, gain_metric, kl, null_space, spectrum
from normgeo.base.progress import Stop
from tests.fisher.test_operator import VARIANTS, WITH_NAMES
from tests.fisher.test_rows import UNEQUAL, D, H, N, assert_same, case
from tests.refused import says

# A worker that is killed leaves sockets to the interpreter, which closes them.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


def chunked(X, rows=(1, 8, 14)):
    return da.from_array(X, chunks=(rows, *X.shape[1:]))


def assert_all_is_as_in_memory(model, X, Y):
    """Every function over rows Y of Dask, which hold the numbers of X."""
    other = model.unpack(model.pack() * 1.01)
    y = model.family.sample(np.zeros((N, H)), np.random.default_rng(0), model.phi)
    assert_same(kl(model, other, Y), kl(model, other, X))
    assert_same(model.gradient(Y, y), model.gradient(X, y))
    labels = chunked(y, (10, 13))
    assert_same(model.log_likelihood(Y, labels), model.log_likelihood(X, y))
    gains, expected = (gain_metric(model, cases, [0.5]) for cases in (Y, X))
    assert_same(gains.exact, expected.exact)
    if expected.printed is not None:
        assert_same(gains.printed, expected.printed)
    F, G = fisher(model, Y), fisher(model, X)
    V = np.random.default_rng(1).standard_normal((F.layout.size, 3))
    assert (F.N, F.which, F.notes) == (G.N, G.which, G.notes)
    assert_same(F @ V, G @ V)
    assert_same(F.restrict(V), G.restrict(V))
    assert_same(F.factor_times(V), G.factor_times(V))
    assert_same(F.to_dense(), G.to_dense())
    assert_same(F.diagonal(), G.diagonal())
    assert_same(F.block(1, 2), G.block(1, 2))
    assert_same(fisher(model, Y, "blocks", "paper") @ V, fisher(model, X, "blocks", "paper") @ V)
    assert_same(spectrum(F, 3).values, spectrum(G, 3).values)
    null, known = null_space(F), null_space(G)
    assert null.counts == known.counts
    assert_same(null.singular_values, known.singular_values)


@pytest.mark.pairwise("normalizer", [*WITH_NAMES, *VARIANTS], ids=lambda it: it.title)
def test_all_is_as_in_memory_in_threads(normalizer):
    model, X, _ = case(normalizer, "categorical", UNEQUAL)
    assert_all_is_as_in_memory(model, X, chunked(X))


def test_arrays_and_files_need_no_dask(monkeypatch):
    model, X, rows = case(Normalizer("batch", "batch"), "gaussian", UNEQUAL)
    monkeypatch.setitem(sys.modules, "dask", None)
    assert_same(fisher(model, rows).trace(), fisher(model, X).trace())


def test_progress_tells_each_pass_and_a_stop_stops():
    model, X, _ = case(Normalizer("batch", "batch"), "gaussian", UNEQUAL)
    heard = []
    F = fisher(model, Rows.of(chunked(X), progress=lambda done, of: heard.append((done, of))))
    F @ np.ones(F.layout.size)
    assert heard == [(N, N), (N, N)]

    def stop(done, of):
        raise Stop

    with pytest.raises(Stop):
        fisher(model, Rows.of(chunked(X), progress=stop))


def test_rows_are_computed_once_a_pass():
    model, X, _ = case(Normalizer("batch", "batch"), "gaussian", UNEQUAL)
    seen = []

    def look(block):
        seen.append(len(block))
        return block

    F = fisher(model, chunked(X).map_blocks(look, meta=X[:0]))
    assert sorted(seen) == [1, 8, 14]
    seen.clear()
    F @ np.ones((F.layout.size, 3))
    assert sorted(seen) == [1, 8, 14]


def test_float32_on_request():
    model, X, _ = case(Normalizer("batch", "batch"), "bernoulli", np.ones(D))
    F, G = fisher(model, Rows.of(chunked(X), dtype="float32")).to_dense(), fisher(model, X)
    off = np.abs(F - G.to_dense()).max() / np.abs(G.to_dense()).max()
    assert 1e-9 < off < 1e-5


# Bad input.


def test_bad_rows_are_refused_in_a_sentence():
    model, X, _ = case(Normalizer("batch", "batch"), "gaussian", UNEQUAL)
    y = np.zeros((N, H))
    with says(
        "A chunk of a Dask array must hold whole rows; got chunks of (3, 2) columns. Use "
        "X.rechunk({1: -1})."
    ):
        fisher(model, da.from_array(X, chunks=(N, (3, 2))))
    with says(
        "A Dask array of rows must have one or two axes, a row for each case; got shape (23, 5, 1)."
    ):
        Rows.of(da.from_array(X[:, :, None]))
    with says(
        "The rows of a Dask array must be counted; got one of unknown shape. Call its "
        "`compute_chunk_sizes()` first."
    ):
        fisher(model, chunked(X)[chunked(X)[:, 0] > -1e9])
    holed = X.copy()
    holed[17, 2] = np.nan
    with says(
        "`X` must hold finite numbers; got nan in row 17, column 2, counted from 0. Remove or "
        "impute it first."
    ):
        fisher(model, chunked(holed))
    with says(
        "`X` and `y` must have a row for each of the same cases; got 23 rows in X and 22 in y."
    ):
        model.gradient(chunked(X), chunked(y[:22], (22,)))
    with says(
        "Beside a Dask array `y` must be one too, or an array in memory; got Rows that are read "
        "here. Use dask.array.from_array or from_npy_stack."
    ):
        model.gradient(chunked(X), Rows.of(y))
    with says("There must be a row or more; what gives the rows of `X` gives none."):
        fisher(model, da.zeros((0, D)))


def test_empty_chunks_count_for_nothing():
    model, X, _ = case(Normalizer("batch", "batch"), "gaussian", UNEQUAL)
    assert_same(fisher(model, chunked(X, (0, 9, 0, 14))).to_dense(), fisher(model, X).to_dense())


def test_the_scheduler_of_dask_is_the_users():
    model, X, _ = case(Normalizer("batch", "batch"), "gaussian", UNEQUAL)
    with dask.config.set(scheduler="synchronous"):
        assert_same(fisher(model, chunked(X)).trace(), fisher(model, X).trace())


# On a cluster. These come last: while there is one, it computes for everybody.


@pytest.fixture(scope="module")
def client():
    sizes = {"n_workers": 2, "threads_per_worker": 1}
    # On a machine that does other work, tasks are moved to where there is less of it: then chunks
    # are copied, and a copy that is thrown away is copied again.
    still = dict.fromkeys(("work-stealing", "active-memory-manager.start"), False)
    with (
        dask.config.set({f"distributed.scheduler.{name}": still[name] for name in still}),
        distributed.LocalCluster(**sizes, dashboard_address=":0", silence_logs=60) as cluster,
        distributed.Client(cluster) as it,
    ):
        yield it


@pytest.mark.exhaustive
@pytest.mark.parametrize(("word", "family"), [("batch", "gaussian"), ("layer", "categorical")])
def test_all_is_as_in_memory_on_a_cluster(client, word, family):
    model, X, _ = case(Normalizer(word, word), family, UNEQUAL)
    assert_all_is_as_in_memory(model, X, Rows.of(chunked(X).persist(), block=5))


def test_a_reference_may_be_on_the_cluster_too(client):
    frozen = Normalizer("batch", "batch", statistics="frozen")
    model, X, _ = case(frozen, "bernoulli", UNEQUAL)
    W0, X0 = model.reference
    there = W0, Rows.of(chunked(X0, (5, 7)))
    far = NormalizedGLM(frozen, "bernoulli", model.W, model.b, model.g, reference=there)
    assert_same(fisher(far, chunked(X)).to_dense(), fisher(model, X).to_dense())


def wide(rng, rows, family="bernoulli"):
    """A model of more than 400 parameters, and as many cases as chunks have."""
    model = NormalizedGLM.random(Normalizer("batch", "batch"), family, 6, 80, rng)
    X = rng.standard_normal((rows, 80)) * np.geomspace(1, 30, 80)
    return model, X


@pytest.mark.exhaustive
def test_a_worker_that_dies_amid_lanczos_changes_nothing(client, rng):
    model, X = wide(rng, 400, "categorical")  # too few cases to form F of neurons that meet
    expected = spectrum(fisher(model, X), 3)
    F = fisher(model, chunked(X, (100,) * 4).persist())
    before = client.run(os.getpid)

    def kill(products, most):
        if products == 10:
            os.kill(next(iter(before.values())), signal.SIGKILL)

    found = spectrum(F, 3, progress=kill)
    assert (found.method, found.products) == ("lanczos", expected.products)
    assert_same(found.values, expected.values)
    assert_same(np.abs(found.vectors.T @ expected.vectors), np.eye(3), 1e-8)
    client.wait_for_workers(2)
    assert set(client.run(os.getpid).values()) != set(before.values())


@pytest.mark.exhaustive
def test_a_product_moves_vectors_and_no_rows(client, rng):
    model, X = wide(rng, 1600)
    F = fisher(model, chunked(X, (400,) * 4).persist())
    vector = 8 * F.layout.size
    F @ np.ones(F.layout.size)  # the model has come to both workers

    def moved():
        logs = client.run(lambda dask_worker: list(dask_worker.transfer_incoming_log)).values()
        return sum(each["total"] for log in logs for each in log)

    before, products = moved(), 20
    for _ in range(products):
        F @ np.ones(F.layout.size)
    # A vector to the other worker, and at most the answers of all chunks back. The scheduler may
    # once give a chunk to the other worker too, which it then has.
    assert moved() - before < products * ((1 + 4) * vector + 10_000) + X.nbytes


def test_an_error_of_a_worker_arrives_as_its_sentence(client):
    model, X, _ = case(Normalizer("batch", "batch"), "gaussian", UNEQUAL)
    with pytest.raises(ValueError, match="σ must not vanish"):
        fisher(model, chunked(np.repeat(X[:1], N, axis=0))).trace()
