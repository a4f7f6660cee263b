"""The derivative of z against finite differences, its adjoint, and its own-neuron part (Eq. 14)."""

import re

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS, NormalizedGLM, Normalizer, fisher, null_space
from normgeo.base.refusal import Refusal
from normgeo.normalizers.scales import SCALES, AveragingScale

N, H, D = 7, 6, 4
STEP = 2e-3


def kinds():
    """Every normalizer at ε 0 and 0.3, with one and two groups, current and frozen."""
    for words, plain in GRID.items():
        for eps in (0.0, 0.3):
            for groups in (1, 2) if plain.shared_by_neurons else (1,):
                for statistics in ("current", "frozen") if plain.shared_by_cases else ("current",):
                    name = f"{'-'.join(words)} eps={eps} groups={groups} {statistics}"
                    normalizer = Normalizer(*words, groups=groups, eps=eps, statistics=statistics)
                    yield pytest.param(normalizer, id=name)


every_kind = pytest.mark.pairwise("normalizer", list(kinds()), each=False)


def draw(rng):
    return rng.standard_normal((H, D)), rng.standard_normal((N, D)) + 0.3


def slope(function):
    """The derivative at 0 by fourth-order central differences."""
    outer, inner = (function(k * STEP) - function(-k * STEP) for k in (2, 1))
    return (8 * inner - outer) / (12 * STEP)


@every_kind
@pytest.mark.pairwise("moves", ["W", "X", "both"])
def test_jvp_is_the_slope_of_z(normalizer, moves, rng):
    (W, X), (dW, dX), reference = draw(rng), draw(rng), draw(rng)
    a, b = {"W": (1, 0), "X": (0, 1), "both": (1, 1)}[moves]
    measured = slope(lambda t: normalizer.normalize(W + a * t * dW, X + b * t * dX, reference).z)
    at = normalizer.linearize(W, X, reference)
    change = at.jvp(dW if a else None, dX if b else None)
    np.testing.assert_allclose(change, measured, atol=1e-6 * np.abs(measured).max())


@every_kind
def test_vjp_is_the_adjoint_of_jvp(normalizer, rng):
    (W, X), (dW, dX), reference = draw(rng), draw(rng), draw(rng)
    U = rng.standard_normal((N, H))
    at = normalizer.linearize(W, X, reference)
    to_W, to_X = at.vjp(U)
    assert np.sum(to_W * dW) == pytest.approx(np.sum(U * at.jvp(dW=dW)), rel=1e-12, abs=1e-12)
    assert np.sum(to_X * dX) == pytest.approx(np.sum(U * at.jvp(dX=dX)), rel=1e-12, abs=1e-12)
    np.testing.assert_array_equal(at.vjp_weights(U), to_W)
    np.testing.assert_array_equal(at.vjp_inputs(U), to_X)


@every_kind
def test_a_stack_of_changes_has_the_derivative_of_each(normalizer, rng):
    (W, X), reference = draw(rng), draw(rng)
    at = normalizer.linearize(W, X, reference)
    dW, dX, U = (rng.standard_normal((2, 3, *shape)) for shape in ((H, D), (N, D), (N, H)))
    own = at.own_neuron()
    each = (at.jvp, dW), (at.vjp_weights, U), (own.jvp, dW), (own.vjp_weights, U)
    each = (*each, (lambda changes: at.jvp(dX=changes), dX), (at.vjp_inputs, U))
    for derivative, stack in each:
        alone = np.stack([[derivative(change) for change in some] for some in stack])
        np.testing.assert_allclose(derivative(stack), alone, rtol=0, atol=1e-13)


@every_kind
def test_linearizing_gives_the_same_z_as_normalizing(normalizer, rng):
    (W, X), reference = draw(rng), draw(rng)
    at, values = normalizer.linearize(W, X, reference), normalizer.normalize(W, X, reference)
    np.testing.assert_array_equal(at.z, values.z)
    np.testing.assert_array_equal(at.sigma, values.sigma)


@every_kind
def test_own_neuron_is_the_derivative_of_each_z_in_its_own_weights(normalizer, rng):
    """Against finite differences that change one weight vector and use its own column."""
    (W, X), (dW, _), reference = draw(rng), draw(rng), draw(rng)
    expected = np.empty((N, H))
    for h in range(H):
        one = np.zeros_like(W)
        one[h] = dW[h]
        move = slope(lambda t, one=one: normalizer.normalize(W + t * one, X, reference).z)
        expected[:, h] = move[:, h]
    own = normalizer.linearize(W, X, reference).own_neuron()
    np.testing.assert_allclose(own.jvp(dW), expected, atol=1e-6 * np.abs(expected).max())
    U = rng.standard_normal((N, H))
    adjoint = np.sum(own.vjp_weights(U) * dW)
    assert adjoint == pytest.approx(np.sum(U * own.jvp(dW)), rel=1e-12, abs=1e-12)


@every_kind
def test_own_neuron_is_everything_exactly_where_no_layer_statistic_is_shared(normalizer, rng):
    (W, X), (dW, _), reference = draw(rng), draw(rng), draw(rng)
    at = normalizer.linearize(W, X, reference)
    same = np.allclose(at.own_neuron().jvp(dW), at.jvp(dW), rtol=1e-12, atol=1e-13)
    assert same != normalizer.shared_by_neurons


def test_layer_norm_has_the_jacobian_written_out(rng):
    """∂z_k/∂w_h = (1/σ)(δ_kh − 1/H − z_k z_h/H) x, of which Eq. 14 keeps k = h."""
    (W, X), (dW, _) = draw(rng), draw(rng)
    at = NORMALIZERS["layer"].linearize(W, X)
    A = X @ W.T
    sigma, z = A.std(axis=1), (A - A.mean(axis=1, keepdims=True)) / A.std(axis=1, keepdims=True)
    M = (np.eye(H) - 1 / H - z[:, :, None] * z[:, None, :] / H) / sigma[:, None, None]
    np.testing.assert_allclose(at.jvp(dW), np.einsum("nkh,nd,hd->nk", M, X, dW), atol=1e-12)
    own = np.einsum("nhh,nd,hd->nh", M, X, dW)
    np.testing.assert_allclose(at.own_neuron().jvp(dW), own, atol=1e-12)


def test_batch_norm_has_equation_14_written_out(rng):
    """∂z_h/∂w_h = (x − x̄ − z_h Σ(x − mean) w_h/σ_h)/σ_h, Σ the covariance of the inputs."""
    (W, X), (dW, _) = draw(rng), draw(rng)
    A, C = X @ W.T, X - X.mean(axis=0)
    sigma, z = A.std(axis=0), (A - A.mean(axis=0)) / A.std(axis=0)
    chi = C[:, None, :] - z[:, :, None] * (W @ np.cov(X.T, bias=True) / sigma[:, None])
    expected = np.einsum("nhd,hd->nh", chi, dW) / sigma
    np.testing.assert_allclose(NORMALIZERS["batch"].linearize(W, X).jvp(dW), expected, atol=1e-12)


def test_weight_norm_has_equation_14_written_out(rng):
    (W, X), (dW, _) = draw(rng), draw(rng)
    length = np.linalg.norm(W, axis=1)
    unit = W / length[:, None]
    z = X @ unit.T
    expected = np.einsum("nhd,hd->nh", X[:, None] - z[:, :, None] * unit, dW) / length
    np.testing.assert_allclose(NORMALIZERS["weight"].linearize(W, X).jvp(dW), expected, atol=1e-12)


@pytest.mark.parametrize("words", [w for w in GRID if GRID[w].scaling.divides], ids="-".join)
def test_a_step_along_the_weights_themselves_moves_z_only_with_eps(words, rng):
    W, X = draw(rng)
    np.testing.assert_allclose(GRID[words].linearize(W, X).jvp(W), 0, atol=1e-12)
    moved = Normalizer(*words, eps=0.3).linearize(W, X).jvp(W)
    assert (np.abs(moved).max() > 0.01) == GRID[words].scaling.takes_eps


@pytest.mark.parametrize("words", [w for w in GRID if not GRID[w].shared_by_neurons], ids="-".join)
def test_equation_14_has_a_row_for_each_neuron(words, rng):
    """∂z_h/∂w̃_h = (x̃ − z_h q_h)/σ_h with the scale's own q, against the derivative."""
    (W, X), (dW, _) = draw(rng), draw(rng)
    normalizer = GRID[words]
    at = normalizer.linearize(W, X)
    q = normalizer.scaling.radial(at.centered_inputs, at.point)
    along = 0 if q is None else np.einsum("hd,hd->h", q, normalizer.centering.project_weights(dW))
    moved = at.centered_inputs @ normalizer.centering.project_weights(dW).T - at.z * along
    np.testing.assert_allclose(at.jvp(dW), moved / at.sigma, atol=1e-12)


def test_averaging_scale_has_its_row_of_equation_14_from_its_average(rng):
    """The rule that a new scale inherits, against the product of matrices of the batch scale."""
    (W, X), batch = draw(rng), SCALES["batch"]
    at = NORMALIZERS["batch"].linearize(W, X)
    inherited = AveragingScale.radial(batch, at.centered_inputs, at.point)
    np.testing.assert_allclose(inherited, batch.radial(at.centered_inputs, at.point), atol=1e-14)


def test_a_derivative_of_nothing_is_refused_in_a_sentence(rng):
    sentence = "`jvp` needs a change: give dW (H, D), dX (N, D) or both; got none."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        NORMALIZERS["layer"].linearize(*draw(rng)).jvp()


def test_an_own_scale_that_neurons_share_is_refused_eq_13_alone(rng, monkeypatch):
    """It does not define the own-neuron part; no page and no command shows that as a traceback."""

    class Shared(AveragingScale):
        key, title, over = "shared", "neurons", "the neurons"
        shared_by_neurons = True

        def average(self, U, groups=1):
            return U.mean(axis=-1, keepdims=True)

    monkeypatch.setitem(SCALES, "shared", Shared())
    W, X = draw(rng)
    model = NormalizedGLM(Normalizer("none", "shared"), "gaussian", W)
    assert null_space(fisher(model, X)).counts == "1 null"  # it is the layer scale
    sentence = (
        "Eq. 13 and 14 keep what is a neuron's own, which of a σ that neurons share its scale must "
        "say; 'shared' does not. Use the exact Fisher information, or write `own_neuron` of that "
        "scale."
    )
    with pytest.raises(Refusal, match=f"^{re.escape(sentence)}$"):
        fisher(model, X, coupling="paper")
