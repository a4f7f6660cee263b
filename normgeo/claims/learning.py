"""Statements on the norm of weights as an implicit learning rate: section 5.2.2."""

from __future__ import annotations

import numpy as np

from normgeo.claims.claim import FAILS, HOLDS, HOLDS_IF, Claim, Finding, plain
from normgeo.claims.trial import ROUNDING, images, small_model
from normgeo.doubling import doubling_table
from normgeo.dynamics import descend
from normgeo.model import NormalizedGLM
from normgeo.normalizers import NORMALIZERS
from normgeo.turn import turn_against_norm

METHODS = ("batch", "weight", "layer")


def _digits_model(method: str) -> NormalizedGLM:
    X, _ = images()
    return small_model(method, "categorical", neurons=10, features=X.shape[1])


def _factors(method: str) -> dict[str, float]:
    rows = doubling_table(_digits_model(method), *images())
    return {row.quantity: row.measured for row in rows if row.measured is not None}


def _output_stays() -> Finding:
    factors = {method: _factors(method)["output s"] for method in METHODS}
    return plain(max(abs(f - 1) for f in factors.values()) < ROUNDING, **factors)


def _curvature_halves() -> Finding:
    """Read "curvature along w changes by ½" as each of the quantities it could mean."""
    found = _factors("batch")
    curvature, gradient = found["F of the doubled w"], found["gradient of the loss"]
    return Finding(
        abs(curvature - 0.5) < ROUNDING,
        abs(gradient - 0.5) < ROUNDING and abs(found["ds of a fixed dw"] - 0.5) < ROUNDING,
        {
            "F of w": curvature,
            "gradient": gradient,
            "ds": found["ds of a fixed dw"],
            "along w itself": found["curvature along w"],
        },
    )


def _doubled_vector_keeps_output() -> Finding:
    """Double one weight vector under each of the three methods."""
    X, _ = images()
    moved = {}
    for method in METHODS:
        model = _digits_model(method)
        W = model.W.copy()
        W[0] *= 2
        doubled = model.unpack(model.layout.pack(W, model.b, model.g))
        change = np.abs(doubled.natural_parameter(X) - model.natural_parameter(X)).max()
        moved[method] = float(change)
    own = max(moved["batch"], moved["weight"])
    return Finding(max(moved.values()) < ROUNDING, own < ROUNDING, moved)


def _slope(method: str) -> float:
    """Return the slope of log tan(angle) against log ‖w̃‖ over a factor of 16."""
    model, (X, y) = _digits_model(method), images()
    own = turn_against_norm(model, X, y, [1.0], rate=0.1).here.norm
    curve = turn_against_norm(model, X, y, own * 2.0 ** np.arange(5), rate=0.1)
    return float(np.polyfit(np.log(curve.norms), np.log(np.tan(curve.angles)), 1)[0])


def _turns_slower() -> Finding:
    slopes = {method: _slope(method) for method in METHODS}
    return plain(max(slopes.values()) < -1, **slopes)


def _turn_halves() -> Finding:
    """Read "½" as a statement on the turn: the slope would be −1."""
    slopes = {method: _slope(method) for method in METHODS}
    return plain(max(abs(s + 1) for s in slopes.values()) < ROUNDING, **slopes)


def _norm_grows() -> Finding:
    """Descend for 50 steps and look at every step's change of the norm."""
    found, law = {}, []
    for method in METHODS:
        run = descend(_digits_model(method), *images(), steps=50, rate=0.5)
        found[f"{method}, smallest growth"] = float(np.diff(run.norms, axis=0).min())
        law.append(float(np.abs(run.predicted_norms / run.norms - 1).max()))
    smallest = min(found.values())
    return plain(smallest > 0 and max(law) < ROUNDING, **found, **{"law, error": max(law)})


def _gradient_orthogonal() -> Finding:
    cosines = {
        method: float(
            np.abs(descend(_digits_model(method), *images(), steps=20, rate=0.5).radial).max()
        )
        for method in METHODS
    }
    return plain(max(cosines.values()) < ROUNDING, **cosines)


def _standard_has_no_law() -> Finding:
    """Descend on the standard model: the gradient has a part along w, so the law must fail."""
    run = descend(_digits_model("standard"), *images(), steps=20, rate=0.5)
    cosine = float(np.abs(run.radial).max())
    return plain(cosine > ROUNDING and not NORMALIZERS["standard"].homogeneous_blocks(10),
                 cosine=cosine)  # fmt: skip


def _angles_fall() -> Finding:
    """Compare the effective learning rate at the end of a descent with that at its start."""
    ratios = {}
    for method in METHODS:
        run = descend(_digits_model(method), *images(), steps=50, rate=0.5)
        rates = run.effective_learning_rate
        ratios[method] = float((rates[-1] / rates[0]).max())
    return plain(max(ratios.values()) < 1, **ratios)


CLAIMS = (
    Claim(
        "doubled_block",
        "The output of a normalized model stays if the weights it normalizes together double.",
        "section 5.2.2", _output_stays, HOLDS, "learning-rate",
    ),
    Claim(
        "doubled_vector",
        "The output stays if one weight vector doubles.",
        "section 5.2.2", _doubled_vector_keeps_output, HOLDS_IF, "learning-rate?method=batch",
        condition="no statistic is shared by neurons",
        remark="Under layer norm only a whole group of weight vectors may double.",
    ),
    Claim(
        "curvature_halves",
        "Where a weight vector doubles, the curvature along it changes by a factor of ½.",
        "section 5.2.2", _curvature_halves, HOLDS_IF, "learning-rate?tab=fisher",
        condition="it means the gradient, or the length ds of a step",
        remark="The block of the Fisher matrix takes ¼; along w itself there is no curvature.",
    ),
    Claim(
        "turns_slower",
        "A large weight vector turns less by the same gradient step.",
        "section 5.2.2", _turns_slower, HOLDS, "learning-rate",
    ),
    Claim(
        "turn_halves",
        "The turn by a gradient step halves where the norm doubles.",
        "section 5.2.2, the ½ read as a turn", _turn_halves, FAILS, "learning-rate",
        remark="It takes a quarter: half the gradient at twice the radius.",
    ),
    Claim(
        "gradient_orthogonal",
        "The gradient is orthogonal to the weights that may be scaled.",
        "section 5.2.2, implied", _gradient_orthogonal, HOLDS, "learning-rate",
    ),
    Claim(
        "norm_grows",
        "Under gradient descent the norm of the weights only grows, by the law of Pythagoras.",
        "section 5.2.2, implied", _norm_grows, HOLDS, "learning-rate?tab=train",
    ),
    Claim(
        "early_stopping",
        "The growing norm lowers the effective learning rate, a brake on the weight vectors.",
        "section 5.2.2", _angles_fall, HOLDS, "learning-rate?tab=train",
    ),
    Claim(
        "standard_no_law",
        "A standard model has no such brake: its gradient has a part along the weights.",
        "section 5.2.2, contrast", _standard_has_no_law, HOLDS, "learning-rate?method=standard",
    ),
)  # fmt: skip
