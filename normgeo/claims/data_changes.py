"""Statements on changes of data: section 5.1 with Table 1 and Eq. 7, and section 7."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.claims.claim import FAILS, HOLDS, HOLDS_IF, Claim, Finding, by_method, number, numbers
from normgeo.claims.examples import PAPER, ROUNDING, Example, moved
from normgeo.claims.invariance import DELTA, POSITIVE, only, verdict_on
from normgeo.invariance.transforms import TRANSFORMS
from normgeo.normalizers.named import NORMALIZERS


def _case_rescaling(example: Example) -> Finding:
    return only(example, "case_rescaling", "layer")


def _dataset_recentering(example: Example) -> Finding:
    return only(example, "dataset_recentering", "batch")


def _equation_7(example: Example) -> Finding:
    """Compute layer norm's verdict, and scale one case to see μ and σ scale with it."""
    X, W = example.X, example.model("layer", "gaussian").W
    verdict = verdict_on(example, "layer", "case_rescaling")
    _, X1 = TRANSFORMS["case_rescaling"](W, X, delta=DELTA, index=0)
    before, after = (NORMALIZERS["layer"].normalize(W, cases) for cases in (X, X1))
    growth = {"μ": after.mu[0, 0] / before.mu[0, 0], "σ": after.sigma[0, 0] / before.sigma[0, 0]}
    follow = max(abs(factor - DELTA) for factor in growth.values()) < ROUNDING
    holds = verdict.invariant and follow and moved(before.z, after.z) < ROUNDING
    return Finding(
        holds and not verdict.sign_flip,
        holds,
        number(text("δ"), DELTA)
        + numbers(text("factor"), growth)
        + number(text("change of z"), moved(before.z, after.z))
        + number(text("the sign of z flips at δ < 0"), bool(verdict.sign_flip))
        + number(text("probability at most that the check errs"), verdict.error_bound),
    )


def _dataset_rescaling(example: Example) -> Finding:
    found = {m: verdict_on(example, m, "dataset_rescaling").invariant for m in PAPER}
    restricted = all(
        verdict_on(example, method, "dataset_rescaling").invariant
        for method, normalizer in NORMALIZERS.items()
        if normalizer.scaling.shared_by_cases or normalizer.scaling.shared_by_neurons
    )
    return Finding(all(found.values()), restricted, by_method(text("invariant"), found))


def _feature_shift(example: Example) -> Finding:
    """Shift the features of a case by one number, by a vector γ, and its summed inputs."""
    scaled = verdict_on(example, "layer", "case_rescaling").invariant
    shifted = verdict_on(example, "layer", "case_offsets").invariant
    X, W, rng = example.X, example.model("layer", "gaussian").W, example.rng()
    ones, (gamma,) = np.ones(X.shape[1]), rng.standard_normal((1, X.shape[1]))
    free = {
        text("by one number"): _change_by_shift(W, X, ones),
        text("by a vector γ"): _change_by_shift(W, X, gamma),
    }
    alike = {
        text("by one number, equal sums of the weights"): _change_by_shift(
            _answering_alike(W, ones), X, ones
        ),
        text("by a vector γ, equal w·γ"): _change_by_shift(_answering_alike(W, gamma), X, gamma),
        text("of the summed inputs"): _change_by_shift(np.eye(len(W)), X @ W.T, np.ones(len(W))),
    }
    return Finding(
        scaled and shifted,
        scaled and max(alike.values()) < ROUNDING < min(free.values()),
        numbers(text("invariant"), {text("re-scaling x"): scaled, text("shifting x"): shifted})
        + numbers(text("change of z by a shift"), {**free, **alike}),
    )


def _change_by_shift(W: Array, X: Array, gamma: Array) -> float:
    """Return the change of layer norm's z when γ is added to the first case."""
    shifted = X + np.outer(np.arange(len(X)) == 0, gamma)
    return moved(*(NORMALIZERS["layer"].normalize(W, cases).z for cases in (X, shifted)))


def _answering_alike(W: Array, gamma: Array) -> Array:
    """Return the nearest weights whose products w·γ are all equal."""
    products = W @ gamma
    alike: Array = W - np.outer(products - products.mean(), gamma) / (gamma @ gamma)
    return alike


CLAIMS = (
    Claim(
        "dataset_rescaling",
        text("All normalization methods ignore a re-scaling of the data set by a factor δ > 0."),
        text("section 5.1, text"),
        _dataset_rescaling,
        FAILS,
        "invariance?cell=weight.dataset_rescaling",
        repair=text("of batch and layer norm only"),
        remark=text(
            "It is true of every method whose scale averages over cases or neurons. The σ of "
            "weight norm is a length of weights. Table 1 has this right."
        ),
    ),
    Claim(
        "equation_7",
        text(
            "Layer norm ignores the re-scaling of a single case, since its μ and σ scale with it."
        ),
        text("section 5.1, Eq. 7"),
        _equation_7,
        HOLDS_IF,
        "invariance?cell=layer.case_rescaling",
        condition=POSITIVE,
    ),
    Claim(
        "case_rescaling",
        text("Of the three, only layer norm ignores the re-scaling of a single case."),
        text("section 5.1, Table 1"),
        _case_rescaling,
        HOLDS_IF,
        "invariance?cell=batch.case_rescaling",
        condition=POSITIVE,
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
        text(
            "Layer norm ignores a shift and a re-scaling (δ > 0) of the features of a single case."
        ),
        text("section 7"),
        _feature_shift,
        FAILS,
        "invariance?cell=layer.case_offsets&columns=all",
        repair=text("of a shift γ only if w·γ is equal for all w"),
        remark=text(
            "The re-scaling is ignored, and so is a shift of the summed inputs. For one number "
            "added to all features, equal w·γ means equal sums of the weights."
        ),
    ),
)
