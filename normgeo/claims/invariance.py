"""Statements on changes of weights: section 5.1 with Table 1 and Eq. 6."""

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
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.named import NORMALIZERS

DELTA = 3.0
FACTOR_AT = {DELTA: text("factor at δ = 3"), -DELTA: text("factor at δ = −3")}
POSITIVE = text("δ > 0")


def verdict_on(example: Example, method: str, change: str) -> Verdict:
    """Return whether a method ignores a change, both by their names."""
    return certify(example, NORMALIZERS[method], TRANSFORMS[change])


def only(example: Example, change: str, *methods: str) -> Finding:
    """Return the finding that exactly these of the paper's methods ignore a change.

    A re-scaling is also checked for δ < 0, where the sign of z may flip.
    """
    verdicts = {method: verdict_on(example, method, change) for method in PAPER}
    found = {method: verdict.invariant for method, verdict in verdicts.items()}
    exactly = all(ignores == (method in methods) for method, ignores in found.items())
    flips = {m: bool(verdicts[m].sign_flip) for m in methods if TRANSFORMS[change].rescales}
    return Finding(
        exactly and not any(flips.values()),
        exactly,
        by_method(text("invariant"), found)
        + by_method(text("the sign of z flips at δ < 0"), flips),
    )


def _table_1(example: Example) -> Finding:
    verdicts = {
        (name, key): verdict_on(example, name, key) for name in PAPER_TABLE_1 for key in TABLE_1
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
                text("where the sign of z flips at δ < 0"): flips,
            },
        ),
    )


def _weight_matrix_rescaling(example: Example) -> Finding:
    return only(example, "weight_matrix_rescaling", *PAPER)


def _weight_vector_rescaling(example: Example) -> Finding:
    return only(example, "weight_vector_rescaling", "batch", "weight")


def _weight_matrix_recentering(example: Example) -> Finding:
    return only(example, "weight_matrix_recentering", "layer")


def _statistics_follow(example: Example) -> Finding:
    """Scale one weight vector, and divide its neuron's new μ and σ by the old ones."""
    X, W = example.X, example.model("standard", "gaussian").W
    factors = {delta: _factors(W, X, delta) for delta in (DELTA, -DELTA)}
    off = {d: max(abs(factor - d) for factor in found.values()) for d, found in factors.items()}
    no_mean = float(np.abs(NORMALIZERS["weight"].normalize(DELTA * W, X).mu).max())
    return Finding(
        max(*off.values(), no_mean) < ROUNDING,
        max(off[DELTA], no_mean) < ROUNDING,
        tuple(
            each
            for delta, found in factors.items()
            for each in numbers(text(FACTOR_AT[delta]), found)
        )
        + number(text("μ of weight norm"), no_mean),
    )


def _factors(W: Array, X: Array, delta: float) -> dict[str, float]:
    """Return the factors of μ and σ of neuron 0 when its weights are scaled by δ."""
    W1, _ = TRANSFORMS["weight_vector_rescaling"](W, X, delta=delta, index=0)
    batch, weight = (
        [NORMALIZERS[method].normalize(V, X) for V in (W, W1)] for method in ("batch", "weight")
    )
    return {
        "μ of batch norm": batch[1].mu[0, 0] / batch[0].mu[0, 0],
        "σ of batch norm": batch[1].sigma[0, 0] / batch[0].sigma[0, 0],
        "σ of weight norm": weight[1].sigma[0, 0] / weight[0].sigma[0, 0],
    }


def _equation_6(example: Example) -> Finding:
    """Scale W and shift its rows at once, W' = δW + 1γᵀ, in exact numbers and in floats."""
    X, rng = example.X, example.rng()
    gamma, change = rng.standard_normal(X.shape[1]), {}
    for method in PAPER:
        model = example.model(method, "gaussian")
        change[method] = _change_of_output(model, DELTA * model.W + gamma, X)
    model = example.model("layer", "gaussian")
    negative = _change_of_output(model, gamma - DELTA * model.W, X)
    same = _same_exactly(rng)
    holds = same and change["layer"] < ROUNDING < min(change["batch"], change["weight"])
    return Finding(
        holds and negative < ROUNDING,
        holds,
        number(text("identical in exact arithmetic, layer norm"), same)
        + by_method(text("change of the output"), change)
        + by_method(text("change of the output at δ < 0"), {"layer": negative}),
    )


def _change_of_output(model: NormalizedGLM, W: Array, X: Array) -> float:
    return moved(model.natural_parameter(X), with_weights(model, W).natural_parameter(X))


def _same_exactly(rng: np.random.Generator) -> bool:
    """Return whether layer norm's z ignores W' = δW + 1γᵀ at random fractions."""
    W, X = exact.draw(rng, (4, 4)), exact.draw(rng, (5, 4))
    W1 = W * exact.draw_factor(rng) + exact.draw(rng, (4,))
    (C, v), (C1, v1) = (NORMALIZERS["layer"].moments(V, X) for V in (W, W1))
    exact.require_fractions(C * v, C1 * v1)
    return bool((C1 * C1 * v == C * C * v1).all() and (C * C1 >= 0).all())


def _input_only(example: Example) -> Finding:
    """Normalize the input instead of the summed inputs, then change the weights."""
    X, rng = example.X, example.rng()
    # Batch norm with identity weights normalizes the inputs themselves.
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


CLAIMS = (
    Claim(
        "table_1",
        text("All 18 cells of Table 1 are right about what batch, weight and layer norm ignore."),
        text("section 5.1, Table 1"),
        _table_1,
        HOLDS_IF,
        "invariance",
        condition=POSITIVE,
        remark=text("A negative δ flips the sign of z in every cell that is invariant to δ."),
    ),
    Claim(
        "weight_matrix_rescaling",
        text("All three methods ignore a re-scaling of the whole weight matrix."),
        text("section 5.1, Table 1"),
        _weight_matrix_rescaling,
        HOLDS_IF,
        "invariance?cell=batch.weight_matrix_rescaling",
        condition=POSITIVE,
    ),
    Claim(
        "weight_vector_rescaling",
        text(
            "Batch and weight norm ignore the re-scaling of one weight vector; layer norm does not."
        ),
        text("section 5.1"),
        _weight_vector_rescaling,
        HOLDS_IF,
        "invariance?cell=layer.weight_vector_rescaling",
        condition=POSITIVE,
    ),
    Claim(
        "statistics_follow",
        text(
            "Where a weight vector is scaled by δ, batch and weight norm's μ and σ are scaled with "
            "it."
        ),
        text("section 5.1"),
        _statistics_follow,
        HOLDS_IF,
        "invariance?cell=batch.weight_vector_rescaling",
        condition=POSITIVE,
        remark=text("For δ < 0, σ is scaled by |δ|. Weight norm has μ = 0, before and after."),
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
        HOLDS_IF,
        "invariance?cell=layer.weight_matrix_recentering",
        condition=POSITIVE,
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
)
