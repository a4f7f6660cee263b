"""Statements on the metric along the gains as inputs or weights are scaled: section 5.2.2."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from normgeo.base.text import text
from normgeo.claims.claim import FAILS, HOLDS_IF, Claim, Finding, by_method
from normgeo.claims.examples import PAPER, ROUNDING, Example, with_weights
from normgeo.claims.magnitude import by_family, has_one_covariance
from normgeo.fisher.gain_metric import gain_metric
from normgeo.models.families import FAMILIES
from normgeo.normalizers.named import NORMALIZERS

FACTOR = 2.0


def _growth_with_inputs(example: Example, method: str) -> dict[str, float]:
    """Return the factor of each family's metric when the inputs double."""
    X, deltas = example.X, [FACTOR]
    return {
        family: float(gain_metric(example.model(method, family), X, deltas).ratio[0])
        for family in FAMILIES
    }


def _distances(ratios: Mapping[str, float]) -> dict[str, float]:
    return {family: abs(float(np.log(ratio))) for family, ratio in ratios.items()}


def _input_scaling(example: Example) -> Finding:
    """Double the inputs: is each normalized metric's factor nearer to 1 than the standard one's?"""
    standard = _distances(_growth_with_inputs(example, "standard"))
    scales = {method: normalizer.scaling for method, normalizer in NORMALIZERS.items()}
    ratios = {m: _growth_with_inputs(example, m) for m, scale in scales.items() if scale.divides}
    off = {method: _distances(found) for method, found in ratios.items()}
    robust = {
        m: all(found[family] + ROUNDING < standard[family] for family in FAMILIES)
        for m, found in off.items()
    }
    averaging = [
        max(found.values())
        for m, found in off.items()
        if scales[m].shared_by_cases or scales[m].shared_by_neurons
    ]
    return Finding(
        all(robust.values()),
        max(averaging) < ROUNDING < min(standard.values()),
        by_method(
            text("factor of the Gaussian metric at 2x"),
            {method: found["gaussian"] for method, found in ratios.items()},
        )
        + by_family(text("factor at 2x of weight norm"), ratios["weight"])
        + by_method(text("nearer to 1 than without normalization, in every family"), robust),
    )


def _standard_follows_inputs(example: Example) -> Finding:
    """Double the inputs: does the metric grow with their square, in every family?"""
    ratio = _growth_with_inputs(example, "standard")
    return Finding(
        all(abs(found - FACTOR**2) < ROUNDING for found in ratio.values()),
        abs(ratio["gaussian"] - FACTOR**2) < ROUNDING,
        by_family(text("factor of the metric at 2x"), ratio),
    )


def _weight_scaling(example: Example) -> Finding:
    """Double all weights and compare the metrics of the methods, for every family."""
    ratios = {
        method: {family: _growth_with_weights(example, method, family) for family in FAMILIES}
        for method in (*PAPER, "standard")
    }
    normalized = {
        method: max(abs(ratio - 1) for ratio in ratios[method].values()) for method in PAPER
    }
    sees = {family: abs(ratio - 1) > ROUNDING for family, ratio in ratios["standard"].items()}
    moving = [sees[key] for key, family in FAMILIES.items() if not has_one_covariance(family)]
    blind = max(normalized.values()) < ROUNDING
    return Finding(
        blind and all(sees.values()),
        blind and all(moving),
        by_method(text("largest change of the metric at 2W"), normalized)
        + by_family(text("factor at 2W of a standard model"), ratios["standard"]),
    )


def _growth_with_weights(example: Example, method: str, family: str) -> float:
    model = example.model(method, family)
    doubled = with_weights(model, FACTOR * model.W)
    before, after = (gain_metric(m, example.X).total[0] for m in (model, doubled))
    return float(after / before)


CLAIMS = (
    Claim(
        "input_scaling",
        text(
            "Learning the magnitude of the weights is more robust to the scale of the inputs in a "
            "normalized model than in a standard one."
        ),
        text("section 5.2.2, of all methods; appendix, of batch and layer norm"),
        _input_scaling,
        FAILS,
        "fisher?tab=magnitude",
        repair=text("of batch and layer norm only"),
        remark=text(
            "It is true of every method whose scale averages over cases or neurons: the factor is "
            "1. Weight norm's metric changes with the inputs, as that of a standard model does: by "
            "their square for Gaussian outputs, otherwise up or down."
        ),
    ),
    Claim(
        "standard_input_scaling",
        text(
            "In a standard model the metric along a weight vector's length is scaled by the "
            "squared norm of the inputs."
        ),
        text("section 5.2.2 and appendix"),
        _standard_follows_inputs,
        HOLDS_IF,
        "fisher?method=standard&tab=magnitude",
        condition=text("the outputs are Gaussian"),
        remark=text(
            "Otherwise the covariance of the outputs changes too: a Bernoulli variance falls "
            "as the output saturates, a Poisson variance grows with its mean."
        ),
    ),
    Claim(
        "weight_scaling",
        text(
            "Learning the magnitude of weights is more robust to the scale of the weights in a "
            "normalized model than in a standard one."
        ),
        text("section 5.2.2 and appendix"),
        _weight_scaling,
        HOLDS_IF,
        "fisher?tab=magnitude",
        condition=text(
            "the covariance of the outputs depends on their mean, as it does for all families but "
            "the Gaussian"
        ),
        remark=text("Along its own direction, a standard Gaussian model does not see ‖w‖ either."),
    ),
)
