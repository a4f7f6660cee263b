"""Statements on learning the magnitude of incoming weights: section 5.2.2 and the appendix."""

from __future__ import annotations

import numpy as np

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.claims.claim import HOLDS, HOLDS_IF, Claim, Finding, by_method, numbers, plain
from normgeo.claims.examples import ROUNDING, Example, moved, with_weights
from normgeo.fisher.gain_metric import GainMetric, gain_metric
from normgeo.models.families import FAMILIES, Family
from normgeo.normalizers.named import NORMALIZERS

FACTOR = 2.0
METHODS = ("batch", "layer", "weight", "standard")


def _metric(example: Example, method: str, family: str, factor: float = 1.0) -> GainMetric:
    return gain_metric(example.model(method, family), example.X, [1.0, factor])


def _printed_error(example: Example, method: str, family: str) -> float:
    metric = _metric(example, method, family)
    if metric.printed is None:
        raise Refusal(text("The appendix prints no metric for {method}.", method=metric.title))
    return moved(metric.exact, metric.printed)


def _printed_batch_metric(example: Example) -> Finding:
    """Compare batch norm's metric of the gains with E[Cov/φ²], as the appendix prints it."""
    errors = {family: _printed_error(example, "batch", key) for key, family in FAMILIES.items()}
    return Finding(
        max(errors.values()) < ROUNDING,
        max(error for family, error in errors.items() if _has_one_covariance(family)) < ROUNDING,
        numbers(
            text("error of the printed metric"), {family.title: e for family, e in errors.items()}
        ),
    )


def _has_one_covariance(family: Family) -> bool:
    """Whether the covariance is diagonal, and the same for all inputs."""
    covariance = family.covariance(np.array([[0.0, 1.0], [2.0, -1.0]]))
    return bool((covariance == covariance[0, 0, 0] * np.eye(2)).all())


def _printed_metrics(example: Example) -> Finding:
    """Compare the other three printed metrics with the exact ones, for every family."""
    errors = {
        method: max(_printed_error(example, method, family) for family in FAMILIES)
        for method in ("layer", "weight", "standard")
    }
    return plain(
        max(errors.values()) < ROUNDING, by_method(text("error of the printed metric"), errors)
    )


def _input_scaling(example: Example) -> Finding:
    """Double the inputs and compare the metrics along the gains."""
    ratio = {m: float(_metric(example, m, "gaussian", FACTOR).ratio[1]) for m in NORMALIZERS}
    scales = {method: normalizer.scaling for method, normalizer in NORMALIZERS.items()}
    off = {m: abs(ratio[m] - 1) for m, scale in scales.items() if scale.divides}
    averaging = [off[m] for m in off if scales[m].shared_by_cases or scales[m].shared_by_neurons]
    return Finding(
        max(off.values()) < ROUNDING,
        max(averaging) < ROUNDING,
        by_method(text("factor of the metric at 2x"), ratio),
    )


def _standard_follows_inputs(example: Example) -> Finding:
    """Double the inputs: a Gaussian metric must grow by exactly 4, and a Bernoulli one differ."""
    pair = "gaussian", "bernoulli"
    gaussian, bernoulli = (_metric(example, "standard", family, FACTOR).ratio[1] for family in pair)
    titles = (FAMILIES[family].title for family in pair)
    return plain(
        abs(gaussian - FACTOR**2) < ROUNDING < abs(bernoulli - 1),
        numbers(
            text("factor of the metric at 2x"),
            dict(zip(titles, (gaussian, bernoulli), strict=True)),
        ),
    )


def _weight_scaling(example: Example) -> Finding:
    """Double all weights and compare the metrics of batch norm and of the standard model."""
    metrics = {
        family: {method: _growth_with_weights(example, method, family) for method in METHODS}
        for family in ("gaussian", "bernoulli")
    }
    normalized = max(
        abs(ratio[method] - 1)
        for ratio in metrics.values()
        for method in METHODS
        if method != "standard"
    )
    sees = {family: abs(ratio["standard"] - 1) > ROUNDING for family, ratio in metrics.items()}
    return Finding(
        normalized < ROUNDING and all(sees.values()),
        normalized < ROUNDING and sees["bernoulli"],
        by_method(text("factor of the metric at 2W, Gaussian"), metrics["gaussian"])
        + by_method(text("factor of the metric at 2W, Bernoulli"), metrics["bernoulli"]),
    )


def _growth_with_weights(example: Example, method: str, family: str) -> float:
    model = example.model(method, family)
    doubled = with_weights(model, FACTOR * model.W)
    before, after = (gain_metric(m, example.X).total[0] for m in (model, doubled))
    return float(after / before)


def _prediction_error(example: Example) -> Finding:
    """Compare the metrics of the gains with that of H outputs moved by themselves, E[Cov]/φ²."""
    X, ratio = example.X, {}
    for method in METHODS:
        model = example.model(method, "gaussian")
        H, phi = len(model.W), model.phi
        ratio[method] = gain_metric(model, X).total[0] / (H / phi)
    off = {method: abs(factor - 1) for method, factor in ratio.items()}
    return plain(
        max(off["batch"], off["layer"]) < ROUNDING < min(off["weight"], off["standard"]),
        by_method(text("metric over that of the outputs"), ratio),
    )


CLAIMS = (
    Claim(
        "batch_gain_metric",
        text(
            "Batch norm's metric along the gains is the expected covariance of the outputs, "
            "E[Cov/φ²]."
        ),
        text("appendix"),
        _printed_batch_metric,
        HOLDS_IF,
        "fisher?tab=magnitude",
        condition=text(
            "the covariance is diagonal and the same for all inputs, as in the Gaussian case"
        ),
        remark=text("In general z_i z_j stands beside Cov_ij, inside the expectation."),
    ),
    Claim(
        "gain_metrics",
        text(
            "Along the gains of layer and weight norm, and along ‖w‖ in a standard model, the "
            "metric is as the appendix prints it."
        ),
        text("appendix"),
        _printed_metrics,
        HOLDS,
        "fisher?tab=magnitude",
        remark=text("The largest error over all families."),
    ),
    Claim(
        "prediction_error",
        text(
            "In batch and layer norm the metric along the gains depends only on the size of the "
            "prediction error."
        ),
        text("section 5.2.2"),
        _prediction_error,
        HOLDS,
        "fisher?tab=magnitude",
        remark=text(
            "Gaussian outputs, the sum over all gains: z² is 1 on average, however large a is."
        ),
    ),
    Claim(
        "input_scaling",
        text(
            "Learning the gains of a normalized model does not depend on the scale of its inputs."
        ),
        text("section 5.2.2 and appendix"),
        _input_scaling,
        HOLDS_IF,
        "fisher?tab=magnitude",
        condition=text("the scale averages over cases or neurons"),
        remark=text("Weight norm's metric grows with the inputs, as the standard model's does."),
    ),
    Claim(
        "standard_input_scaling",
        text(
            "In a standard model, the metric along a weight vector's length follows the inputs' "
            "scale."
        ),
        text("section 5.2.2 and appendix"),
        _standard_follows_inputs,
        HOLDS,
        "fisher?tab=magnitude",
        remark=text("By δ² for Gaussian outputs; others saturate."),
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
        condition=text("the covariance of the outputs depends on their mean: not the Gaussian one"),
        remark=text("Along its own direction, a standard Gaussian model does not see ‖w‖ either."),
    ),
)
