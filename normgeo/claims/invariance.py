"""Statements on invariance: section 5.1 with Table 1, Eq. 6 and 7, and section 7."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from normgeo import exact
from normgeo.claims.claim import HOLDS, HOLDS_IF, Claim, Finding, plain
from normgeo.claims.table_1 import PAPER_TABLE_1, compare_with_table_1
from normgeo.claims.trial import ROUNDING, SEED, gaussian_data, moved, small_model
from normgeo.invariance import Verdict, certify, invariance_table
from normgeo.normalizers import GRID, NORMALIZERS, Normalizer
from normgeo.transforms import TABLE_1, TRANSFORMS

PAPER = {name: NORMALIZERS[name] for name in PAPER_TABLE_1}
DUAL = {"none": "none", "batch": "layer", "layer": "batch"}


def _verdict(method: str, change: str) -> Verdict:
    return certify(NORMALIZERS[method], TRANSFORMS[change])


def _table_1() -> Finding:
    verdicts = invariance_table(PAPER, {key: TRANSFORMS[key] for key in TABLE_1})
    agreement = compare_with_table_1(verdicts)
    agrees = not agreement.differing
    flips = sum(bool(v.sign_flip) for v in verdicts.values())
    return Finding(
        agrees and flips == 0,
        agrees,
        {"cells": agreement.cells, "agreeing": agreement.agreeing, "sign flips at δ < 0": flips},
    )


def _weight_matrix() -> Finding:
    invariant = [_verdict(m, "weight_matrix_rescaling").invariant for m in PAPER]
    return plain(all(invariant), methods=len(invariant), invariant=sum(invariant))


def _weight_vector() -> Finding:
    own = [_verdict(m, "weight_vector_rescaling").invariant for m in ("batch", "weight")]
    layer = _verdict("layer", "weight_vector_rescaling").invariant
    return plain(all(own) and not layer, batch_and_weight=sum(own), layer=layer)


def _weight_recentering() -> Finding:
    found = {m: _verdict(m, "weight_matrix_recentering").invariant for m in PAPER}
    expected = found["layer"] and not found["batch"] and not found["weight"]
    return plain(expected, **found)


def _equation_6() -> Finding:
    return plain(*_composed("weight_matrix_rescaling", "weight_matrix_recentering"))


def _equation_7() -> Finding:
    verdict = _verdict("layer", "case_rescaling")
    return plain(verdict.invariant, degree=verdict.degree, error_bound=verdict.error_bound)


def _composed(first: str, second: str) -> tuple[bool]:
    """Return whether layer norm ignores both changes at once, in exact numbers."""
    rng = np.random.default_rng(SEED)
    W, X = exact.draw(rng, (4, 4)), exact.draw(rng, (5, 4))
    W1, X1 = TRANSFORMS[first](W, X, delta=exact.draw_factor(rng))
    gamma = exact.draw(rng, TRANSFORMS[second].gamma_shape(W, X))
    C, v = NORMALIZERS["layer"].moments(W, X)
    C1, v1 = NORMALIZERS["layer"].moments(*TRANSFORMS[second](W1, X1, gamma=gamma))
    same = C1 * C1 * v == C * C * v1
    return (bool(same.all() and (C * C1 >= 0).all()),)


def _input_only() -> Finding:
    """Normalize the input instead of A, then change the weights."""
    X, rng = gaussian_data(), np.random.default_rng(SEED)
    W = rng.standard_normal((4, X.shape[1]))
    normalized = (X - X.mean(axis=0)) / X.std(axis=0)
    scaled = moved(normalized @ W.T, normalized @ (2 * W).T)
    shifted = moved(normalized @ W.T, normalized @ (W + rng.standard_normal(X.shape[1])).T)
    return plain(min(scaled, shifted) > ROUNDING, scaled=scaled, shifted=shifted)


def _all_dataset_rescaling() -> Finding:
    found = {m: _verdict(m, "dataset_rescaling").invariant for m in PAPER}
    averaging = all(_verdict(m, "dataset_rescaling").invariant for m in ("batch", "layer", "rms"))
    return Finding(all(found.values()), averaging, found)


def _single_case() -> Finding:
    found = {m: _verdict(m, "case_rescaling").invariant for m in PAPER}
    return plain(found["layer"] and not found["batch"] and not found["weight"], **found)


def _dataset_recentering() -> Finding:
    found = {m: _verdict(m, "dataset_recentering").invariant for m in PAPER}
    return plain(found["batch"] and not found["layer"] and not found["weight"], **found)


def _transposed() -> Finding:
    """Exchange W and X, and batch and layer: every verdict must follow, and z be transposed."""
    pairs = [
        (words, key)
        for words in GRID
        if "weight" not in words
        for key, transform in TRANSFORMS.items()
        if transform.operation.key != "own_plus"
    ]
    agree = sum(_matches_dual(words, key) for words, key in pairs)
    X = gaussian_data()
    W = np.random.default_rng(SEED).standard_normal((6, X.shape[1]))
    z = NORMALIZERS["layer"].normalize(W, X).z
    difference = moved(z, NORMALIZERS["batch"].normalize(X, W).z.T)
    return plain(
        agree == len(pairs) and difference < ROUNDING,
        verdicts=len(pairs), agreeing=agree, difference=difference,
    )  # fmt: skip


def _matches_dual(words: tuple[str, str], key: str) -> bool:
    center, scale = (DUAL[word] for word in words)
    transform = TRANSFORMS[key]
    dual = next(
        other
        for other in TRANSFORMS.values()
        if other.operation is transform.operation and other.matrix != transform.matrix
    )
    here, there = certify(GRID[words], transform), certify(Normalizer(center, scale), dual)
    return here.invariant == there.invariant and here.sign_flip == there.sign_flip


def _feature_shift() -> Finding:
    """Shift one case's features by one number, and its summed inputs by one number."""
    scaled = _verdict("layer", "case_rescaling").invariant
    shifted = _verdict("layer", "case_offsets").invariant
    X, rng = gaussian_data(), np.random.default_rng(SEED)
    W = rng.standard_normal((4, X.shape[1]))
    layer = NORMALIZERS["layer"]
    offset = X + rng.standard_normal((len(X), 1))
    free = moved(layer.normalize(W, X).z, layer.normalize(W, offset).z)
    W -= W.mean(axis=1, keepdims=True)
    equal_sums = moved(layer.normalize(W, X).z, layer.normalize(W, offset).z)
    return Finding(
        scaled and shifted,
        scaled and equal_sums < ROUNDING < free,
        {"scaling": scaled, "shifting": shifted, "moved": free, "moved, equal sums": equal_sums},
    )


def _epsilon() -> Finding:
    """Ask every ✓ of Table 1 again at PyTorch's ε."""
    ideal = [_verdict(m, c) for m in PAPER for c in TABLE_1]
    kept = [v for v in ideal if v.invariant]
    survive = sum(
        certify(v.normalizer, v.transform, eps=Fraction(1, 10**5)).invariant for v in kept
    )
    return Finding(survive == len(kept), bool(kept), {"✓": len(kept), "✓ at ε = 1e-5": survive})


def _frozen() -> Finding:
    frozen = replace(NORMALIZERS["batch"], statistics="frozen")
    left = sum(certify(frozen, TRANSFORMS[c]).invariant for c in TABLE_1)
    current = sum(_verdict("batch", c).invariant for c in TABLE_1)
    return Finding(left == current, current > 0, {"✓ in training": current, "✓ at test": left})


def _softmax() -> Finding:
    """Shift all weight vectors of the standard softmax model by the same vector."""
    X = gaussian_data()
    model = small_model("standard", "categorical")
    gamma = np.random.default_rng(SEED).standard_normal(X.shape[1])
    shifted = model.unpack(model.layout.pack(model.W + gamma, model.b, model.g))
    z = moved(model.natural_parameter(X), shifted.natural_parameter(X))
    p = moved(model.mean(X), shifted.mean(X))
    return plain(p < ROUNDING < z, z_moves=z, p_moves=p)


CLAIMS = (
    Claim(
        "table_1",
        "Each of the 18 cells of Table 1 says rightly what batch, weight and layer norm ignore.",
        "section 5.1, Table 1", _table_1, HOLDS_IF, "invariance",
        condition="re-scaling means δ > 0",
        remark="A negative δ turns the sign of z over in every cell that is invariant to δ.",
    ),
    Claim(
        "weight_matrix_rescaling",
        "All three methods ignore a re-scaling of the whole weight matrix.",
        "section 5.1", _weight_matrix, HOLDS, "invariance?cell=batch.weight_matrix_rescaling",
    ),
    Claim(
        "weight_vector_rescaling",
        "Batch and weight norm ignore the re-scaling of one weight vector; layer norm does not.",
        "section 5.1", _weight_vector, HOLDS, "invariance?cell=layer.weight_vector_rescaling",
    ),
    Claim(
        "weight_matrix_recentering",
        "Layer norm ignores a shift common to all weight vectors; batch and weight norm do not.",
        "section 5.1", _weight_recentering, HOLDS,
        "invariance?cell=layer.weight_matrix_recentering",
    ),
    Claim(
        "equation_6",
        "Layer norm ignores a re-scaling of the weight matrix and a common shift at once.",
        "section 5.1, Eq. 6", _equation_6, HOLDS,
        "invariance?cell=layer.weight_matrix_recentering",
    ),
    Claim(
        "equation_7",
        "Layer norm ignores the re-scaling of a single case, since its statistics scale with it.",
        "section 5.1, Eq. 7", _equation_7, HOLDS, "invariance?cell=layer.case_rescaling",
    ),
    Claim(
        "single_case",
        "Of the three, only layer norm ignores the re-scaling of a single case.",
        "section 5.1", _single_case, HOLDS, "invariance?cell=batch.case_rescaling",
    ),
    Claim(
        "dataset_recentering",
        "Of the three, only batch norm ignores a shift common to all cases.",
        "section 5.1, Table 1", _dataset_recentering, HOLDS,
        "invariance?cell=batch.dataset_recentering",
    ),
    Claim(
        "input_only",
        "Normalizing only the input, before the weights, ignores no change of the weights.",
        "section 5.1", _input_only, HOLDS, "invariance?cell=standard.weight_matrix_rescaling",
    ),
    Claim(
        "dataset_rescaling",
        "All normalization methods ignore a re-scaling of the data set.",
        "section 5.1, text", _all_dataset_rescaling, HOLDS_IF,
        "invariance?cell=weight.dataset_rescaling",
        condition="the scale averages over cases or neurons",
        remark="Weight norm does not: its σ is a length of weights. Table 1 is right.",
    ),
    Claim(
        "transposed",
        "Layer norm is batch norm transposed.",
        "section 1 and 3", _transposed, HOLDS, "invariance",
        remark="Exactly: exchange W and X, and cases and neurons, and z is transposed.",
    ),
    Claim(
        "feature_shift",
        "Layer norm ignores shifts and re-scalings of the features of a single case.",
        "section 7", _feature_shift, HOLDS_IF, "invariance?cell=layer.case_offsets&columns=all",
        condition="all weight vectors have the same sum",
        remark="Re-scaling always; a shift of x only then. A shift of the summed inputs always.",
    ),
    Claim(
        "epsilon",
        "The invariances of Table 1 hold in the layers in use, which add ε to the variance.",
        "practice", _epsilon, HOLDS_IF, "invariance?eps=1e-05",
        condition="ε = 0, or δ²σ² ≫ ε",
    ),
    Claim(
        "frozen",
        "A trained batch norm keeps its invariances at test time.",
        "practice", _frozen, HOLDS_IF, "invariance?statistics=frozen",
        condition="statistics are taken from the current batch",
    ),
    Claim(
        "softmax",
        "A softmax model gives the same output if one vector is added to all its weight vectors.",
        "symmetry of the categorical family", _softmax, HOLDS,
        "invariance?cell=standard.weight_matrix_recentering",
        remark="Even without normalization: z moves and the probabilities do not.",
    ),
)  # fmt: skip
