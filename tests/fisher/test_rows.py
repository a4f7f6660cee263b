"""Rows in blocks: the same numbers as in memory, in few passes, in little memory."""

import tracemalloc

import numpy as np
import pytest
from scipy import special

from normgeo import FAMILIES, NormalizedGLM, Normalizer, Rows, gain_metric, kl, null_space, spectrum
from normgeo.base.progress import Stop
from normgeo.fisher.neuron_blocks import NeuronBlocks
from normgeo.fisher.operator import fisher
from tests.fisher.test_operator import VARIANTS, WITH_NAMES
from tests.refused import says

N, D, H = 23, 5, 6
EXACTLY = 1e-10  # of the largest number beside it
UNEQUAL = 5.0 ** np.arange(-2, D - 2)


def case(normalizer, family, sizes):
    """A model, cases with a mean of 3 in features of these sizes, and rows of them in blocks."""
    rng = np.random.default_rng(5)
    X = (3 + rng.standard_normal((N, D))) * sizes
    W, W0 = rng.standard_normal((2, H, D)) / (8 * np.asarray(sizes))
    g = rng.uniform(0.4, 1.2, H) * (-1) ** np.arange(H)
    model = NormalizedGLM(
        normalizer,
        family,
        W,
        0.3 * rng.standard_normal(H),
        None if normalizer.is_standard else g,
        phi=0.7 if FAMILIES[family].has_dispersion else 1.0,
        reference=(W0, (1 + rng.standard_normal((12, D))) * sizes),
    )
    return model, X, Rows.of([X[:1], X[1:9], X[9:]], block=7)


def assert_same(found, expected, bound=EXACTLY):
    """Arrays that agree to rounding, counted in the largest number of the expected one."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max(initial=0) <= bound * np.abs(expected).max(initial=0)


@pytest.mark.pairwise("family", FAMILIES)
@pytest.mark.pairwise("normalizer", [*WITH_NAMES, *VARIANTS], ids=lambda it: it.title)
def test_all_is_as_in_memory(normalizer, family):
    model, X, rows = case(normalizer, family, UNEQUAL)
    other = model.unpack(model.pack() * 1.01)
    y = model.family.sample(np.zeros((N, H)), np.random.default_rng(0), model.phi)
    assert_same(kl(model, other, rows), kl(model, other, X))
    assert_same(model.gradient(rows, y), model.gradient(X, y))
    assert_same(model.log_likelihood(rows, Rows.of(y, block=4)), model.log_likelihood(X, y))
    gains, expected = (gain_metric(model, cases, [0.5, 2.0]) for cases in (rows, X))
    assert_same(gains.exact, expected.exact)
    if expected.printed is not None:
        assert_same(gains.printed, expected.printed)
    for coupling in ("exact", "paper"):
        F, G = fisher(model, rows, coupling=coupling), fisher(model, X, coupling=coupling)
        V = np.random.default_rng(1).standard_normal((F.layout.size, 3))
        assert (F.N, F.which, F.notes) == (G.N, G.which, G.notes)
        assert_same(F @ V, G @ V)
        assert_same(F.restrict(V), G.restrict(V))
        assert_same(F.factor_times(V), G.factor_times(V))
        assert_same(F.to_dense(), G.to_dense())
        assert_same(F.diagonal(), G.diagonal())
        assert_same(F.block(1, 2), G.block(1, 2))
        blocks = (fisher(model, cases, "blocks", coupling).to_dense() for cases in (rows, X))
        assert_same(*blocks)
        for weights_only in (True, False):
            null, known = null_space(F, weights_only), null_space(G, weights_only)
            assert null.counts == known.counts
            assert_same(null.singular_values, known.singular_values)
            directions, expected = null.coordinates, known.coordinates
            # Rounding turns null directions toward others by its size over their effect (Wedin).
            gap = known.singular_values[known.seen - 1] if known.seen else 1.0
            assert_same(directions @ directions.T, expected @ expected.T, EXACTLY / gap)


def test_a_block_may_be_one_case():
    model, X, _ = case(Normalizer("batch", "batch"), "bernoulli", np.ones(D))
    for block in (1, N - 1):
        assert_same(fisher(model, Rows.of(X, block=block)).to_dense(), fisher(model, X).to_dense())


def test_labels_do_beside_rows_as_one_hot_rows_do(tmp_path):
    """The mean logarithm of softmax at the labels, in memory and from a file, and of one class."""
    y = np.arange(N) % H
    np.save(tmp_path / "y.npy", y)
    for name in ("batch", "layer"):
        model, X, _ = case(Normalizer(name, name), "categorical", np.ones(D))
        expected = np.mean(special.log_softmax(model.natural_parameter(X), axis=1)[range(N), y])
        gradient = model.gradient(X, np.eye(H)[y])
        for cases in (X, *(Rows.of(X, block=block) for block in (1, 7, N))):
            for labels in (y, y[:, None], Rows.of(tmp_path / "y.npy"), Rows.of(y, block=4)):
                assert_same(model.log_likelihood(cases, labels), expected)
                assert_same(model.gradient(cases, labels), gradient)
    one = NormalizedGLM(Normalizer("batch", "batch"), "categorical", model.W[:1])
    for labels in (np.zeros(N), np.ones((N, 1))):
        assert_same(one.gradient(Rows.of(X, block=7), labels), np.zeros(2 + D))
    with says(
        "Class labels must be integers from 0 to 5, one for each of the 6 outputs; got 6. "
        "Renumber the classes or add outputs."
    ):
        model.gradient(Rows.of(X, block=7), np.full(N, 6))


@pytest.mark.parametrize("word", ["batch", "layer"])
def test_a_residual_stream_is_added_in_blocks_too(word):
    rng = np.random.default_rng(4)
    X, W = rng.standard_normal((N, D + H)), rng.standard_normal((H, D))
    model = NormalizedGLM(Normalizer(word, word), "bernoulli", W, takes_stream=True)
    F, G = fisher(model, Rows.of(X, block=7)), fisher(model, X)
    V = rng.standard_normal((F.layout.size, 3))
    assert_same(F @ V, G @ V)
    assert_same(F.to_dense(), G.to_dense())
    assert null_space(F).counts == null_space(G).counts
    assert_same(null_space(F).singular_values, null_space(G).singular_values)


@pytest.mark.parametrize("words", [("batch", "batch"), ("none", "batch"), ("layer", "batch")])
def test_a_reference_may_come_in_blocks_too(words):
    frozen = Normalizer(*words, statistics="frozen")
    model, X, rows = case(frozen, "bernoulli", UNEQUAL)
    W0, X0 = model.reference
    pieces = W0, Rows.of(X0, block=5)
    in_blocks = NormalizedGLM(frozen, "bernoulli", model.W, model.b, model.g, reference=pieces)
    assert_same(fisher(in_blocks, rows).to_dense(), fisher(model, X).to_dense())
    assert null_space(fisher(in_blocks, rows)).counts == null_space(fisher(model, X)).counts
    wrong = NormalizedGLM(frozen, "bernoulli", model.W, reference=(W0[:2], pieces[1]))
    with says(
        "`reference` must be a batch (W, X) of the same layer, W of shape (6, 5) and X with 5 "
        "features; got shapes (2, 5) and (6, 5)."
    ):
        fisher(wrong, rows)


@pytest.mark.parametrize("word", ["batch", "layer", "weight"])
def test_blocks_of_neurons_are_seen_alike(word):
    X = np.random.default_rng(6).standard_normal((40, 1))
    W = np.ones((4, 1)) + np.arange(4)[:, None]
    model = NormalizedGLM(Normalizer("none", word), "bernoulli", W)
    seen, expected = (
        NeuronBlocks.of(fisher(model, cases), 0, 1) for cases in (Rows.of(X, block=9), X)
    )
    assert seen.silent == expected.silent
    assert_same(seen.norms, expected.norms)


@pytest.mark.parametrize("many", [True, False])
def test_spectrum_is_that_of_the_matrix_whether_it_is_formed_or_not(many):
    """Of many cases the blocks of the neurons are sooner there than a hundred products."""
    rng = np.random.default_rng(2)
    model = NormalizedGLM.random(Normalizer("batch", "batch"), "bernoulli", 6, 80, rng)
    X = rng.standard_normal((60 if many else 20, 80))
    F = fisher(model, Rows.of(X, block=11))
    found = spectrum(F, 3)
    assert (found.method, found.form) == ("dense" if many else "lanczos", "operator")
    dense = fisher(model, X).to_dense()
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(dense)[:-4:-1], rtol=1e-10)
    assert np.linalg.norm(dense @ found.vectors - found.vectors * found.values) < 1e-12
    assert found.trace == pytest.approx(np.trace(dense))
    assert found.notes == F.notes == ()


def test_spectrum_and_null_space_of_neurons_apart_take_five_passes():
    """Whatever the number of eigenvalues and of null directions."""
    rng, passes = np.random.default_rng(2), []
    X = rng.standard_normal((600, 80))

    def read():
        yield X[:300]
        yield X[300:]
        passes.append(1)  # not of a look at the first block

    model = NormalizedGLM.random(Normalizer("batch", "batch"), "bernoulli", 6, 80, rng)
    F = fisher(model, Rows.of(read, block=300))
    found, null = spectrum(F, 20, weights_only=True), null_space(F)
    assert (found.method, null.dimension) == ("dense", 6)
    assert len(passes) == 5


@pytest.mark.parametrize("word", ["batch", "layer"])
def test_each_answer_takes_one_pass(word):
    model, X, _ = case(Normalizer(word, word), "bernoulli", np.ones(D))
    passes = []

    def read():
        passes.append(1)
        yield from (X[start : start + 5] for start in range(0, N, 5))

    rows = Rows.of(read)
    F = fisher(model, rows)
    assert len(passes) == 1  # what the cases share, and how many they are
    V = np.eye(F.layout.size)[:, :4]
    asks = (lambda: F @ V[:, 0], lambda: F @ V, lambda: F.restrict(V), lambda: F.factor_times(V))
    for ask in asks:
        passes.clear()
        ask()
        assert len(passes) == 1
    for ask in (F.diagonal, F.to_dense):  # and a look at one block, for the words, the first time
        passes.clear()
        ask()
        assert len(passes) == 1 + (ask == F.diagonal)
    passes.clear()
    model.gradient(rows, np.ones((N, H)))
    assert len(passes) == 2


def test_memory_does_not_grow_with_the_number_of_rows():
    model, _, _ = case(Normalizer("batch", "batch"), "bernoulli", np.ones(D))

    def peak(blocks):
        def read():
            rng = np.random.default_rng(0)
            return (rng.standard_normal((500, D)) for _ in range(blocks))

        tracemalloc.start()
        F = fisher(model, Rows.of(read, block=500))
        F @ np.ones(F.layout.size)
        F.diagonal()
        null_space(F)
        y = Rows.of(lambda: (np.zeros((500, H)) for _ in range(blocks)))
        model.gradient(Rows.of(read, block=500), y)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1)
    assert peak(60) < 1.3 * peak(4)


def test_statistics_keep_their_digits_far_from_zero():
    # A mean of squares minus the square of a mean would have none left.
    rng = np.random.default_rng(3)
    near = rng.integers(-(2**10), 2**10, (60, 2)) / 2**10
    W = [[1.0, 0.0], [0.0, 1.0]]
    model = NormalizedGLM(Normalizer("batch", "batch"), "gaussian", W)
    parts = model.linearize(Rows.of(near + 2.0**30, block=7)).parts()
    z = np.concatenate([part.at.z for part in parts])
    np.testing.assert_allclose(z, (near - near.mean(axis=0)) / near.std(axis=0), rtol=1e-13)


def test_float32_on_request_is_near_and_says_how_near():
    model, X, _ = case(Normalizer("batch", "batch"), "bernoulli", np.ones(D))
    kinds = set()

    def read():
        yield X.astype(np.float32)

    rows = Rows.of(read, dtype="float32")
    for _, at in model.linearize(rows).parts():
        kinds |= {at.z.dtype, at.s.dtype, at.jvp(model.pack()).dtype, at.vjp(at.s).dtype}
    assert kinds == {np.dtype(np.float32)}
    F, G = fisher(model, rows).to_dense(), fisher(model, X).to_dense()
    off = np.abs(F - G).max() / np.abs(G).max()
    assert 1e-9 < off < 1e-5
    # Without the request, float32 rows are computed in the weights' float64.
    off = np.abs(fisher(model, Rows.of(read)).to_dense() - G).max() / np.abs(G).max()
    assert off < 1e-6


def test_an_array_is_read_by_slices_and_never_as_a_whole():
    model, X, _ = case(Normalizer("batch", "batch"), "bernoulli", np.ones(D))

    class OnDisk:
        shape, longest = X.shape, 0

        def __getitem__(self, rows):
            self.longest = max(self.longest, rows.stop - rows.start)
            return X[rows]

        def __array__(self, *_, **__):
            raise AssertionError("read as a whole")

    array = OnDisk()
    assert_same(fisher(model, Rows.of(array, block=6)).trace(), fisher(model, X).trace())
    assert array.longest == 6


def test_progress_tells_rows_and_a_stop_stops():
    model, X, _ = case(Normalizer("batch", "batch"), "gaussian", np.ones(D))
    heard = []
    rows = Rows.of(X, block=10, progress=lambda done, of: heard.append((done, of)))
    F = fisher(model, rows)
    assert heard == [(10, N), (20, N), (N, N)]
    F @ np.ones(F.layout.size)
    assert heard[3:] == heard[:3]

    def stop(done, of):
        if done > 10:
            raise Stop

    with pytest.raises(Stop):
        fisher(model, Rows.of(X, block=10, progress=stop))


# Bad input.


def test_bad_rows_are_refused_in_a_sentence():
    model, X, _ = case(Normalizer("batch", "batch"), "gaussian", np.ones(D))
    holed = X.copy()
    holed[17, 2] = np.nan
    with says(
        "`X` must hold finite numbers; got nan in row 17, column 2, counted from 0. Remove or "
        "impute it first."
    ):
        fisher(model, Rows.of(holed, block=5))
    with says("All rows must have equally many columns: the first have 5, later ones 4."):
        fisher(model, Rows.of([X, X[:, :4]]))
    with says("There must be a row or more; what gives the rows of `X` gives none."):
        fisher(model, Rows.of(lambda: iter(())))
    with says(
        "`W` (H, D) and `X` (N, D) must have the same number of features D; got W of shape (6, 5) "
        "and X of shape (23, 4)."
    ):
        fisher(model, Rows.of(X[:, :4]))
    once = iter([X[:9], X[9:]])
    with says(
        "Rows come from the path of a file, an array, a sequence of arrays, or a function that "
        f"returns an iterator of arrays; got {once!r}. An iterator itself can't begin again: "
        "give the function that makes it."
    ):
        Rows.of(once)
    F = fisher(model, Rows.of(lambda: once))
    with says(
        "Each pass must find the same rows: the first had 23, a later one 0. Give a function that "
        "begins again, or a file that nobody writes."
    ):
        F @ np.ones(F.layout.size)
    with says(
        "`X` and `y` must have a row for each of the same cases; got 23 rows in X and 22 in y."
    ):
        model.gradient(Rows.of(X, block=9), np.zeros((22, H)))
    with says(
        "`X` and `y` must have a row for each of the same cases; got 23 rows in X and more in y."
    ):
        model.gradient(Rows.of(X, block=9), np.zeros((24, H)))
    with says(
        "A batch mean is taken over the cases, so it needs at least 2 of them; got 1 case, whose z "
        "would be 0, 0/0 or only a sign. Use more cases, or frozen statistics."
    ):
        fisher(model, Rows.of(X[:1]))
    with says(
        "σ must not vanish, but neuron 0 has a = μ in every case, so there is nothing to divide "
        "by. Change that row, drop it, or use a larger eps with a batch or layer scale."
    ):
        fisher(model, Rows.of(np.repeat(X[:1], 30, axis=0), block=4)).trace()


def test_what_needs_all_rows_at_once_says_so():
    model, _, rows = case(Normalizer("batch", "batch"), "gaussian", np.ones(D))
    with says(
        "Rows in blocks are meant not to be in memory, which this needs; use `fisher`, `kl`, "
        "`gain_metric`, `null_space`, or the model's `gradient` and `log_likelihood`, or "
        "np.concatenate(list(rows.blocks()))."
    ):
        model.normalizer.normalize(model.W, rows)
    with pytest.raises(ValueError, match="Rows in blocks are meant not to be in memory"):
        model.natural_parameter(rows)
