"""Statements on the blocks of the Fisher matrix, one for each pair of neurons: section 5.2.2."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.claims.claim import (
    FAILS,
    HOLDS,
    HOLDS_IF,
    Claim,
    Finding,
    by_method,
    number,
    numbers,
    plain,
)
from normgeo.claims.examples import PAPER, ROUNDING, Example, moved
from normgeo.fisher.operator import fisher
from normgeo.models.families import FAMILIES
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.named import NORMALIZERS

WIDER = 8  # times as many neurons
LITTLE = 0.1  # a share of ‖F‖² that counts as negligible


def _equation_12(example: Example) -> Finding:
    """Compare the standard model's Fisher with E[Cov/φ² ⊗ [[xxᵀ, x], [xᵀ, 1]]]."""
    X, errors = example.X, {}
    rows = np.column_stack([X, np.ones(len(X))])
    for family in FAMILIES:
        model = example.model("standard", family)
        phi = model.phi
        covariance = phi * model.family.covariance(model.natural_parameter(X))
        terms = [
            np.kron(cov / phi**2, np.outer(x, x)) for cov, x in zip(covariance, rows, strict=True)
        ]
        F = fisher(model, X).to_dense()
        errors[model.family.title] = moved(np.mean(terms, axis=0), F)
    return plain(max(errors.values()) < ROUNDING, numbers(text("error"), errors))


def _equation_13(example: Example) -> Finding:
    """Write Eq. 13 out with the χ of Eq. 14, and compare it with the exact Fisher."""
    X, errors = example.X, {}
    for method in PAPER:
        models = [example.model(method, family) for family in FAMILIES]
        errors[method] = max(moved(fisher(m, X).to_dense(), _written_out(m, X)) for m in models)
    own = [error for m, error in errors.items() if not NORMALIZERS[m].shared_by_neurons]
    return Finding(
        max(errors.values()) < ROUNDING,
        max(own) < ROUNDING,
        by_method(text("largest error of Eq. 13"), errors),
    )


def _written_out(model: NormalizedGLM, X: Array) -> Array:
    """Return Eq. 13, E[Cov_ij/φ² r_i r_jᵀ] with r_i = [g_i χ_i/σ_i, 1, (a_i − μ_i)/σ_i]."""
    W, H = model.W, len(model.W)
    A = X @ W.T
    mu, sigma, dmu, dsigma = DERIVATIVES[model.normalizer.words](W, X, A)
    z = (A - mu) / sigma
    chi = X[:, None] - dmu - z[..., None] * dsigma  # Eq. 14, (N, H, D)
    g = np.ones(H) if model.g is None else model.g
    weights = chi * np.broadcast_to(g / sigma, z.shape)[..., None]
    rows = np.concatenate([weights, np.ones((*z.shape, 1)), z[..., None]], axis=2)
    covariance = model.phi * model.family.covariance(g * z + model.b)
    F = np.einsum("nij,nip,njq->ipjq", covariance / model.phi**2, rows, rows, optimize=True)
    size = H * rows.shape[2]
    matrix: Array = F.reshape(size, size) / len(X)
    return matrix


def _of_batch(W: Array, X: Array, A: Array) -> tuple[Array, ...]:
    """Return μ_i, σ_i, ∂μ_i/∂w_i = x̄ and ∂σ_i/∂w_i = E[(a_i − μ_i)(x − x̄)]/σ_i."""
    mu, sigma, mean = A.mean(axis=0), A.std(axis=0), X.mean(axis=0)
    return mu, sigma, mean, (A - mu).T @ (X - mean) / len(X) / sigma[:, None]


def _of_weight(W: Array, X: Array, A: Array) -> tuple[Array, ...]:
    """Return μ = 0, σ_i = ‖w_i‖, 0 and w_i/‖w_i‖."""
    sigma = np.linalg.norm(W, axis=1)
    return np.zeros(()), sigma, np.zeros(()), W / sigma[:, None]


def _of_layer(W: Array, X: Array, A: Array) -> tuple[Array, ...]:
    """Return μ, σ of each case, ∂μ/∂w_i = x/H and ∂σ/∂w_i = (a_i − μ) x/(Hσ)."""
    mu, sigma, H = A.mean(axis=1, keepdims=True), A.std(axis=1, keepdims=True), len(W)
    return mu, sigma, X[:, None] / H, ((A - mu) / sigma)[..., None] * X[:, None] / H


DERIVATIVES = {
    ("batch", "batch"): _of_batch,
    ("none", "weight"): _of_weight,
    ("layer", "layer"): _of_layer,
}
"""μ, σ and their derivatives in a neuron's own weights, by the definition of each method."""


def _one_block_a_neuron(example: Example) -> Finding:
    """Measure the share of ‖F‖² outside the blocks of single neurons, at two widths."""
    X, H = example.X, example.neurons
    outside = {
        (method, family): _share_outside(example.model(method, family), X)
        for method in (*PAPER, "standard")
        for family in FAMILIES
        if FAMILIES[family].coupled or method in {"batch", "layer"}
    }
    independent = [family for family, one in FAMILIES.items() if not one.coupled]
    wide = {f: _share_outside(example.model("layer", f, WIDER * H), X) for f in independent}
    apart = [
        share
        for (method, family), share in outside.items()
        if family in independent and not NORMALIZERS[method].shared_by_neurons
    ]

    shares = {H: {f: outside["layer", f] for f in FAMILIES}, WIDER * H: wide}
    softmax = {m: share for (m, f), share in outside.items() if FAMILIES[f].coupled}
    return Finding(
        max(outside.values()) < LITTLE,
        max(wide.values()) < LITTLE and max(apart) < ROUNDING,
        numbers(
            text("share of ‖F‖² left out, layer norm"),
            {
                text("{family}, {n} neurons", family=FAMILIES[f].title, n=n): share
                for n, of_width in shares.items()
                for f, share in of_width.items()
            },
        )
        + by_method(text("share left out under a softmax"), softmax)
        + number(text("share left out where nothing is shared"), max(apart)),
    )


def _share_outside(model: NormalizedGLM, X: Array) -> float:
    """Return the share of ‖F‖² outside the blocks of single neurons."""
    F, H = fisher(model, X).to_dense(), len(model.W)
    squares = (F.reshape(H, len(F) // H, H, -1) ** 2).sum(axis=(1, 3))
    return float(squares[~np.eye(H, dtype=bool)].sum() / squares.sum())


def _gain_scales_curvature(example: Example) -> Finding:
    """Double the gain of a neuron and compare the curvatures among its weights."""
    X, rng = example.X, example.rng()
    direction, factor = rng.standard_normal(X.shape[1]), {}
    for method, family in (
        ("batch", "gaussian"),
        ("weight", "gaussian"),
        ("layer", "gaussian"),
        ("batch", "bernoulli"),
    ):
        model = example.model(method, family)
        g = np.ones(len(model.W)) if model.g is None else model.g
        doubled = model.layout.pack(model.W, model.b, g * np.where(np.arange(len(g)), 1, 2))
        dW = np.zeros(model.W.shape)
        dW[0] = direction
        v = model.layout.pack(dW, np.zeros(len(g)), np.zeros(len(g)))
        name = f"{NORMALIZERS[method].title}, {model.family.title}"
        factor[name] = fisher(model.unpack(doubled), X).quad(v) / fisher(model, X).quad(v)
    off = [abs(found - 4) for found in factor.values()]
    return Finding(
        max(off) < ROUNDING,
        max(off[:2]) < ROUNDING,
        numbers(text("factor of the curvature"), factor),
    )


CLAIMS = (
    Claim(
        "equation_12",
        text("The Fisher matrix of a standard model is E[Cov/φ² ⊗ [[xxᵀ, x], [xᵀ, 1]]]."),
        text("section 5.2.2, Eq. 12"),
        _equation_12,
        HOLDS,
        "fisher?method=standard",
    ),
    Claim(
        "equation_13",
        text("One formula (Eq. 13) gives the Fisher matrix of every normalized model."),
        text("section 5.2.2, Eq. 13 and 14"),
        _equation_13,
        FAILS,
        "fisher?method=layer&tab=eq13",
        repair=text("of batch and weight norm only"),
        remark=text(
            "Both equations written out, with μ, σ and their derivatives by definition. They are "
            "exact for every method whose neurons share no statistic. For layer norm they leave "
            "out that every output depends on every weight vector."
        ),
    ),
    Claim(
        "one_block_a_neuron",
        text("The blocks of single neurons approximate the Fisher matrix of a layer."),
        text("section 5.2.2, for deep networks"),
        _one_block_a_neuron,
        HOLDS_IF,
        "fisher?method=layer&tab=eq13",
        condition=text(
            "the outputs are independent and the layer is wide or its neurons share no statistic"
        ),
        remark=text(
            "Nothing is left out where neurons share no statistic. Under layer norm the "
            "approximation leaves out a sixth to a third of ‖F‖² with 6 or 8 neurons, with eight "
            "times as many less than a tenth: about as 1/H. A softmax couples its outputs, "
            "whatever the method."
        ),
    ),
    Claim(
        "gain_scales_curvature",
        text("The curvature along a neuron's weights is scaled by its gain squared."),
        text("section 5.2.2"),
        _gain_scales_curvature,
        HOLDS_IF,
        condition=text("the outputs are Gaussian, and no statistic is shared by neurons"),
        remark=text(
            "The gain is doubled. It also moves the outputs, and with them their covariance."
        ),
    ),
)
