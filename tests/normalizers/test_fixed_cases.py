"""A normalizer over fixed cases equals the normalizer, with the same refusals."""

from dataclasses import replace

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS, Normalizer
from normgeo.normalizers.scales import AveragingScale
from tests.refused import says

every_method = pytest.mark.pairwise(
    "normalizer",
    [
        *GRID.values(),
        NORMALIZERS["group"],
        Normalizer("batch", "batch", statistics="frozen"),
        Normalizer("layer", "batch", statistics="frozen"),
        Normalizer("layer", "layer", eps=0.1),
    ],
    ids=lambda n: f"{n.title}, {n.statistics}, eps={n.eps}",
)


def draw(rng, normalizer):
    X, W, W0 = rng.normal(0.5, 1, (9, 5)), *rng.normal(0.3, 1, (2, 4, 5))
    return W, X, (W0, 2 * X + 1) if normalizer.statistics == "frozen" else None


@every_method
def test_cases_prepared_once_give_the_same_derivative(normalizer, rng):
    W, X, reference = draw(rng, normalizer)
    over, U = normalizer.over(X, 4, reference), rng.normal(size=(9, 4))
    for k in (1, 3):  # the same cases, more than one W
        at, alone = over.linearize(k * W), normalizer.linearize(k * W, X, reference)
        np.testing.assert_array_equal(at.z, alone.z)
        np.testing.assert_array_equal(at.vjp_weights(U), alone.vjp_weights(U))


@every_method
def test_some_of_the_cases_are_the_normalizer_over_them_alone(normalizer, rng):
    W, X, reference = draw(rng, normalizer)
    some, U = np.array([7, 1, 4, 2]), rng.normal(size=(4, 4))
    at = normalizer.over(X, 4, reference).rows(some).linearize(W)
    alone = normalizer.linearize(W, X[some], reference)
    np.testing.assert_array_equal(at.z, alone.z)
    np.testing.assert_array_equal(at.vjp_weights(U), alone.vjp_weights(U))


def test_a_few_cases_without_a_z_are_refused_though_all_of_them_have_one(rng):
    over = NORMALIZERS["batch"].over(rng.normal(size=(9, 5)), 4)
    with says(
        "A batch mean is taken over the cases, so it needs at least 2 of them; got 1 case, "
        "whose z would be 0, 0/0 or only a sign. Use more cases, or frozen statistics."
    ):
        over.rows(np.array([3]))


def test_weights_of_another_layer_are_refused(rng):
    over = NORMALIZERS["layer"].over(rng.normal(size=(9, 5)), 4)
    with says(
        "`W` must have a row for each of the 4 neurons that were asked for; got shape (3, 5)."
    ):
        over.linearize(np.ones((3, 5)))
    with says(
        "`W` (H, D) and `X` (N, D) must have the same number of features D; "
        "got W of shape (4, 6) and X of shape (9, 5)."
    ):
        over.linearize(np.ones((4, 6)))


class Counted(AveragingScale):
    """A scale that records the shapes of its arguments."""

    def __init__(self, of):
        self.of, self.seen = of, []

    def average(self, U, groups=1):
        return self.of.average(U, groups)

    def deviation(self, C, W_centered, groups=1, added=0.0):
        self.seen.append(C.shape)
        return super().deviation(C, W_centered, groups, added)


def products(W, X, normalizer):
    """The number of times the product of the sizes is formed, besides its bound and C."""
    scale = Counted(normalizer.scaling)
    replace(normalizer.over(X, len(W)), scale=scale).linearize(W)
    return scale.seen.count((len(X), len(W))) - 1


@pytest.mark.parametrize("key", ["batch", "layer"])
def test_product_of_the_sizes_is_formed_only_near_rounding(key, rng):
    W, X = rng.normal(size=(4, 5)), rng.normal(size=(9, 5))
    assert products(W, X, NORMALIZERS[key]) == 0
    # A feature with zero weights and values of 1e16: ‖x‖ says nothing about a.
    W[:, 0], X[0, 0] = 0, 1e16
    assert products(W, X, NORMALIZERS[key]) == 1


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_rounding_is_refused_at_any_size_of_the_inputs(size):
    nearly_equal = size * np.nextafter(0.1, [0, 1, 0])[:, None] * np.ones((1, 3))
    with pytest.raises(ValueError, match=r"^σ must not vanish, but neuron 0 .* to within rounding"):
        NORMALIZERS["batch"].over(nearly_equal, 1).linearize([[1.0, 2.0, 3.0]])


def test_sizes_are_those_of_sums_in_which_nothing_cancels(rng):
    W, X = rng.normal(size=(4, 5)), rng.normal(size=(9, 5))
    sizes = NORMALIZERS["rms"].over(X, 4).sizes(W)
    np.testing.assert_allclose(sizes, np.sqrt(X**2 @ (W**2).T), rtol=1e-13)


def test_bound_refuses_nothing_and_the_product_decides():
    equal = np.full((3, 2), 0.1)
    with pytest.raises(ValueError, match=r"^σ must not vanish, but neuron 0 has a = μ"):
        NORMALIZERS["batch"].over(equal, 2).linearize([[1.0, 2.0], [3.0, 1.0]])
