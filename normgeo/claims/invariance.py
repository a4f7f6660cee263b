"""Statements on invariance: section 5.1 with Table 1, Eq. 6 and 7, and section 7."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.claims.claim import (
    HOLDS,
    HOLDS_IF,
    Claim,
    Finding,
    by_method,
    certify,
    number,
    numbers,
    plain,
)
from normgeo.claims.examples import PAPER, ROUNDING, Example, moved, with_weights
from normgeo.claims.table_1 import PAPER_TABLE_1, compare_with_table_1
from normgeo.invariance import exact
from normgeo.invariance.certificate import Verdict
from normgeo.invariance.transforms import TABLE_1, TRANSFORMS
from normgeo.normalizers.named import NORMALIZERS

DELTA = 3.0


def _verdict(example: Example, method: str, change: str) -> Verdict:
    return certify(example, NORMALIZERS[method], TRANSFORMS[change])


def _invariant(example: Example, change: str) -> dict[str, bool]:
    """Return which of the paper's methods ignore a change."""
    return {method: _verdict(example, method, change).invariant for method in PAPER}


def _only(invariant: dict[str, bool], *methods: str) -> Finding:
    """Return the finding that these methods, and no others, ignore a change."""
    exactly = all(found == (method in methods) for method, found in invariant.items())
    return plain(exactly, by_method(text("invariant"), invariant))


def _table_1(example: Example) -> Finding:
    verdicts = {
        (name, key): _verdict(example, name, key) for name in PAPER_TABLE_1 for key in TABLE_1
    }
    agreement = compare_with_table_1(verdicts)
    agrees = not agreement.differing
    flips = sum(bool(v.sign_flip) for v in verdicts.values())
    return Finding(
        agrees and flips == 0,
        agrees,
        numbers(
            text("cells"),
            {
                text("all"): agreement.cells,
                text("agreeing"): agreement.agreeing,
                text("where z turns over at δ < 0"): flips,
            },
        ),
    )


def _weight_matrix_rescaling(example: Example) -> Finding:
    return _only(_invariant(example, "weight_matrix_rescaling"), *PAPER)


def _weight_vector_rescaling(example: Example) -> Finding:
    return _only(_invariant(example, "weight_vector_rescaling"), "batch", "weight")


def _weight_matrix_recentering(example: Example) -> Finding:
    return _only(_invariant(example, "weight_matrix_recentering"), "layer")


def _case_rescaling(example: Example) -> Finding:
    return _only(_invariant(example, "case_rescaling"), "layer")


def _dataset_recentering(example: Example) -> Finding:
    return _only(_invariant(example, "dataset_recentering"), "batch")


def _statistics_follow(example: Example) -> Finding:
    """Scale one weight vector, and divide its neuron's new μ and σ by the old ones."""
    X, W = example.X, example.model("standard", "gaussian").W
    W1, _ = TRANSFORMS["weight_vector_rescaling"](W, X, delta=DELTA, index=0)
    before, after = NORMALIZERS["batch"].normalize(W, X), NORMALIZERS["batch"].normalize(W1, X)
    of_weight = [NORMALIZERS["weight"].normalize(V, X) for V in (W, W1)]
    growth = {
        "μ of batch norm": after.mu[0, 0] / before.mu[0, 0],
        "σ of batch norm": after.sigma[0, 0] / before.sigma[0, 0],
        "σ of weight norm": of_weight[1].sigma[0, 0] / of_weight[0].sigma[0, 0],
    }
    off = max(abs(factor - DELTA) for factor in growth.values())
    no_mean = float(np.abs(of_weight[1].mu).max())
    return plain(
        max(off, no_mean) < ROUNDING,
        number(text("δ"), DELTA)
        + numbers(text("factor"), growth)
        + number(text("μ of weight norm"), no_mean),
    )


def _equation_6(example: Example) -> Finding:
    """Scale W and shift its rows at once, W' = δW + 1γᵀ, in exact numbers and in floats."""
    X, rng = example.X, example.rng()
    gamma, change = rng.standard_normal(X.shape[1]), {}
    for method in PAPER:
        model = example.model(method, "gaussian")
        other = with_weights(model, DELTA * model.W + gamma)
        change[method] = moved(model.natural_parameter(X), other.natural_parameter(X))
    same = _same_exactly(rng)
    return plain(
        same and change["layer"] < ROUNDING < min(change["batch"], change["weight"]),
        number(text("identical in exact arithmetic, layer norm"), same)
        + by_method(text("change of the output"), change),
    )


def _same_exactly(rng: np.random.Generator) -> bool:
    """Return whether layer norm's z ignores W' = δW + 1γᵀ at random fractions."""
    W, X = exact.draw(rng, (4, 4)), exact.draw(rng, (5, 4))
    W1 = W * exact.draw_factor(rng) + exact.draw(rng, (4,))
    (C, v), (C1, v1) = (NORMALIZERS["layer"].moments(V, X) for V in (W, W1))
    exact.require_fractions(C * v, C1 * v1)
    return bool((C1 * C1 * v == C * C * v1).all() and (C * C1 >= 0).all())


def _equation_7(example: Example) -> Finding:
    """Ask for layer norm's verdict, and scale one case to see μ and σ follow."""
    X, W = example.X, example.model("layer", "gaussian").W
    verdict = _verdict(example, "layer", "case_rescaling")
    _, X1 = TRANSFORMS["case_rescaling"](W, X, delta=DELTA, index=0)
    before, after = (NORMALIZERS["layer"].normalize(W, cases) for cases in (X, X1))
    growth = {
        "μ": after.mu[0, 0] / before.mu[0, 0],
        "σ": after.sigma[0, 0] / before.sigma[0, 0],
    }
    follow = max(abs(factor - DELTA) for factor in growth.values()) < ROUNDING
    return plain(
        verdict.invariant and follow and moved(before.z, after.z) < ROUNDING,
        number(text("δ"), DELTA)
        + numbers(text("factor"), growth)
        + number(text("change of z"), moved(before.z, after.z))
        + number(text("probability at most that the proof errs"), verdict.error_bound),
    )


def _input_only(example: Example) -> Finding:
    """Normalize the input instead of the summed inputs, then change the weights."""
    X, rng = example.X, example.rng()
    # The inputs themselves are what batch norm sees through the weights 1.
    normalized = NORMALIZERS["batch"].normalize(np.eye(X.shape[1]), X).z
    W, gamma = rng.standard_normal((4, X.shape[1])), rng.standard_normal(X.shape[1])
    before = _summed(normalized, W)
    scaled = moved(before, _summed(normalized, 2 * W))
    shifted = moved(before, _summed(normalized, W + gamma))
    measured = numbers(
        text("change of the output"), {text("W × 2"): scaled, text("W + γ"): shifted}
    )
    return plain(min(scaled, shifted) > ROUNDING, measured)


def _summed(inputs: Array, W: Array) -> Array:
    return NORMALIZERS["standard"].normalize(W, inputs).z


def _dataset_rescaling(example: Example) -> Finding:
    found = _invariant(example, "dataset_rescaling")
    restricted = all(
        _verdict(example, method, "dataset_rescaling").invariant
        for method, normalizer in NORMALIZERS.items()
        if normalizer.scaling.shared_by_cases or normalizer.scaling.shared_by_neurons
    )
    return Finding(all(found.values()), restricted, by_method(text("invariant"), found))


def _feature_shift(example: Example) -> Finding:
    """Shift one case's features by one number, and its summed inputs by one number."""
    scaled = _verdict(example, "layer", "case_rescaling").invariant
    shifted = _verdict(example, "layer", "case_offsets").invariant
    X, rng = example.X, example.rng()
    W, layer = example.model("layer", "gaussian").W, NORMALIZERS["layer"]
    offset = X + rng.standard_normal((len(X), 1))
    free = moved(layer.normalize(W, X).z, layer.normalize(W, offset).z)
    W = W - W.mean(axis=1, keepdims=True)
    equal_sums = moved(layer.normalize(W, X).z, layer.normalize(W, offset).z)
    return Finding(
        scaled and shifted,
        scaled and equal_sums < ROUNDING < free,
        numbers(text("invariant"), {text("re-scaling x"): scaled, text("shifting x"): shifted})
        + numbers(
            text("change of z by a shift"),
            {text("any weights"): free, text("equal sums"): equal_sums},
        ),
    )


CLAIMS = (
    Claim(
        "table_1",
        text(
            "Each of the 18 cells of Table 1 says rightly what batch, weight and layer norm ignore."
        ),
        text("section 5.1, Table 1"),
        _table_1,
        HOLDS_IF,
        "invariance",
        condition=text("re-scaling means δ > 0"),
        remark=text("A negative δ turns the sign of z over in every cell that is invariant to δ."),
    ),
    Claim(
        "weight_matrix_rescaling",
        text("All three methods ignore a re-scaling of the whole weight matrix."),
        text("section 5.1, Table 1"),
        _weight_matrix_rescaling,
        HOLDS,
        "invariance?cell=batch.weight_matrix_rescaling",
    ),
    Claim(
        "weight_vector_rescaling",
        text(
            "Batch and weight norm ignore the re-scaling of one weight vector; layer norm does not."
        ),
        text("section 5.1"),
        _weight_vector_rescaling,
        HOLDS,
        "invariance?cell=layer.weight_vector_rescaling",
    ),
    Claim(
        "statistics_follow",
        text(
            "Where a weight vector is scaled by δ, batch and weight norm's μ and σ are scaled with "
            "it."
        ),
        text("section 5.1"),
        _statistics_follow,
        HOLDS,
        "invariance?cell=batch.weight_vector_rescaling",
        remark=text("Weight norm has μ = 0, before and after."),
    ),
    Claim(
        "weight_matrix_recentering",
        text(
            "Layer norm ignores a shift common to all weight vectors; batch and weight norm do not."
        ),
        text("section 5.1"),
        _weight_matrix_recentering,
        HOLDS,
        "invariance?cell=layer.weight_matrix_recentering",
    ),
    Claim(
        "equation_6",
        text("Layer norm ignores a re-scaling of the weight matrix and a common shift at once."),
        text("section 5.1, Eq. 6"),
        _equation_6,
        HOLDS,
        "invariance?cell=layer.weight_matrix_recentering",
    ),
    Claim(
        "input_only",
        text(
            "Normalizing only the input, before the weights, ignores neither a re-scaling nor a "
            "re-centering of the weights."
        ),
        text("section 5.1"),
        _input_only,
        HOLDS,
        "invariance?rows=named&cell=standard.weight_matrix_rescaling",
    ),
    Claim(
        "dataset_rescaling",
        text("All normalization methods ignore a re-scaling of the data set."),
        text("section 5.1, text"),
        _dataset_rescaling,
        HOLDS_IF,
        "invariance?cell=weight.dataset_rescaling",
        condition=text("the scale averages over cases or neurons"),
        remark=text("Weight norm does not: its σ is a length of weights. Table 1 has this right."),
    ),
    Claim(
        "equation_7",
        text(
            "Layer norm ignores the re-scaling of a single case, since its μ and σ scale with it."
        ),
        text("section 5.1, Eq. 7"),
        _equation_7,
        HOLDS,
        "invariance?cell=layer.case_rescaling",
    ),
    Claim(
        "case_rescaling",
        text("Of the three, only layer norm ignores the re-scaling of a single case."),
        text("section 5.1, Table 1"),
        _case_rescaling,
        HOLDS,
        "invariance?cell=batch.case_rescaling",
    ),
    Claim(
        "dataset_recentering",
        text("Of the three, only batch norm ignores a shift common to all cases."),
        text("section 5.1, Table 1"),
        _dataset_recentering,
        HOLDS,
        "invariance?cell=batch.dataset_recentering",
    ),
    Claim(
        "feature_shift",
        text("Layer norm ignores shifts and re-scalings of the features of a single case."),
        text("section 7"),
        _feature_shift,
        HOLDS_IF,
        "invariance?cell=layer.case_offsets&columns=all",
        condition=text("all weight vectors have the same sum"),
        remark=text(
            "A re-scaling always, a shift of x only then; a shift of the summed inputs always."
        ),
    ),
)
