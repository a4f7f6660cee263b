"""Statements on the norm of weights as an implicit learning rate: section 5.2.2."""

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
    number,
    numbers,
    plain,
    shared,
)
from normgeo.claims.examples import (
    PAPER,
    ROUNDING,
    SEED,
    by_method,
    digits_model,
    gaussian_data,
    images,
    moved,
    small_model,
    with_weights,
)
from normgeo.dynamics.angular_update import angular_updates
from normgeo.dynamics.descent import descend
from normgeo.dynamics.doubling import DoublingRow, doubling_table
from normgeo.dynamics.trajectory import Trajectory
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.normalizer import NORMALIZERS

BY_RULE, BY_STEP = "turn by a fixed dw", "turn by one gradient step"
TINY_TURN = 1e-7  # the relative error of a turn of 1e-8 radians


@shared
def _doubled(method: str) -> tuple[DoublingRow, ...]:
    """Return what doubling a block of weights changes, by which factor."""
    return doubling_table(digits_model(method), *images())


def _factors(method: str) -> dict[str, float]:
    """Return the factors that were measured."""
    return {row.quantity: row.measured for row in _doubled(method) if row.measured is not None}


def _doubled_block() -> Finding:
    factors = {method: _factors(method)["output s"] for method in PAPER}
    off = max(abs(factor - 1) for factor in factors.values())
    return plain(off < ROUNDING, by_method(text("factor of the output"), factors))


def _doubled_vector() -> Finding:
    """Double one weight vector under each of the three methods."""
    X, change = images()[0], {}
    for method in PAPER:
        model = digits_model(method)
        doubled = with_weights(model, model.W * np.where(np.arange(10) == 0, 2, 1)[:, None])
        change[method] = moved(model.natural_parameter(X), doubled.natural_parameter(X))
    own = max(change["batch"], change["weight"])
    return Finding(
        max(change.values()) < ROUNDING,
        own < ROUNDING,
        by_method(text("change of the output"), change),
    )


def _curvature_halves() -> Finding:
    """Read "curvature along w changes by ½" as each of the quantities it could mean."""
    found = _factors("batch")
    halved = ("F between a doubled and another w", "gradient of the loss", "ds of a fixed dw")
    read = ("F of the doubled w", *halved, BY_RULE)
    off = {quantity: abs(found[quantity] - 0.5) for quantity in read}
    return Finding(
        max(off.values()) < TINY_TURN,
        max(off[quantity] for quantity in halved) < ROUNDING,
        numbers(text("factor"), {quantity: found[quantity] for quantity in read})
        + number(text("curvature along w itself"), found["curvature along w"]),
    )


def _doubling_table() -> Finding:
    """Compare every factor of the doubling table with the one that derivatives give."""
    off, rows = {}, 0
    for method in PAPER:
        table = _doubled(method)
        errors = [abs(r.measured - float(r.predicted)) for r in table if r.measured is not None]
        off[method], rows = max(errors), rows + len(errors)
    return plain(
        max(off.values()) < TINY_TURN,
        number(text("quantities"), rows) + by_method(text("largest error of a factor"), off),
    )


def _slope(method: str) -> float:
    """Return the slope of log tan(angle) against log ‖w̃‖ over a factor of 16."""
    model, (X, y) = digits_model(method), images()
    own = angular_updates(model, X, y, [1.0], rate=0.1).here.norm
    curve = angular_updates(model, X, y, own * 2.0 ** np.arange(5), rate=0.1)
    return float(np.polyfit(np.log(curve.norms), np.log(np.tan(curve.angles)), 1)[0])


def _turns_slower() -> Finding:
    slopes = {method: _slope(method) for method in PAPER}
    measured = by_method(text("slope of log turn against log norm"), slopes)
    return plain(max(slopes.values()) < -ROUNDING, measured)


def _turn_halves() -> Finding:
    """Read "½" as a statement on the turn by a gradient step."""
    factors = {method: _factors(method)[BY_STEP] for method in PAPER}
    off = max(abs(factor - 0.5) for factor in factors.values())
    return plain(off < TINY_TURN, by_method(text("factor of the turn"), factors))


@shared
def _run(method: str) -> Trajectory:
    """Return 50 steps of gradient descent on the digits."""
    return descend(digits_model(method), *images(), steps=50, rate=0.5)


def _gradient_orthogonal() -> Finding:
    cosines = {method: float(np.abs(_run(method).radial).max()) for method in PAPER}
    return plain(
        max(cosines.values()) < ROUNDING,
        by_method(text("largest cosine with the weights"), cosines),
    )


def _norm_grows() -> Finding:
    """Look at every step's change of the norm, and at its law."""
    growth, law = {}, {}
    for method in PAPER:
        run = _run(method)
        growth[method] = float(np.diff(run.norms, axis=0).min())
        law[method] = float(np.abs(run.predicted_norms / run.norms - 1).max())
    return plain(
        min(growth.values()) > 0 and max(law.values()) < ROUNDING,
        by_method(text("least growth in a step"), growth)
        + by_method(text("error of the law"), law),
    )


def _early_stopping() -> Finding:
    """Compare the effective learning rate at the end of a descent with that at its start."""
    ratios = {}
    for method in PAPER:
        rates = _run(method).effective_learning_rate
        ratios[method] = float((rates[-1] / rates[0]).max())
    return plain(
        max(ratios.values()) < 1,
        by_method(text("effective rate after 50 steps, over the first"), ratios),
    )


def _standard_has_no_law() -> Finding:
    """Descend on the standard model, whose gradient has a part along w."""
    cosine = float(np.abs(_run("standard").radial).max())
    blocks = len(NORMALIZERS["standard"].homogeneous_blocks(10))
    return plain(
        cosine > ROUNDING and not blocks,
        number(text("largest cosine with the weights"), cosine)
        + number(text("blocks that may be scaled"), blocks),
    )


def _stable() -> Finding:
    """Descend with a step size of 100 on regressions, from weights of length about 1."""
    X, rng = gaussian_data(), np.random.default_rng(SEED)
    Y, loss = rng.standard_normal((len(X), 6)), {}
    for method in (*PAPER, "standard"):
        run = descend(small_model(method, "gaussian"), X, Y, steps=100, rate=100, affine_rate=0.02)
        loss[method] = float(run.loss[-1] / run.loss[0])
    normalized = max(loss[method] for method in PAPER)
    return plain(
        normalized < 1 < loss["standard"],
        number(text("step size"), 100) + by_method(text("last loss over the first"), loss),
    )


def _same_function() -> Finding:
    """Start from the same function at two norms, and compare the functions after 20 steps."""
    (X, y), before, after = images(), {}, {}
    for method in PAPER:
        start = digits_model(method)
        starts = [with_weights(start, factor * start.W) for factor in (1, 4)]
        ends = [descend(m, X, y, steps=20, rate=0.5).model_at(20) for m in starts]
        before[method], after[method] = (_apart(pair, X) for pair in (starts, ends))
    return plain(
        max(before.values()) < ROUNDING < min(after.values()),
        by_method(text("difference of the outputs at the start"), before)
        + by_method(text("after 20 steps"), after),
    )


def _apart(models: list[NormalizedGLM], X: Array) -> float:
    first, second = (model.natural_parameter(X) for model in models)
    return moved(first, second)


def _which_norm() -> Finding:
    """Shift all weight vectors of a layer by one far vector, and take a gradient step."""
    (X, y), model = images(), digits_model("layer")
    far = np.random.default_rng(SEED).standard_normal(X.shape[1])
    shifted = with_weights(model, model.W + far)
    angle, centered = {}, {}
    for name, start in (("before", model), ("after", shifted)):
        here = angular_updates(start, X, y, [1.0], rate=0.1).here
        angle[name], centered[name] = np.rad2deg(here.angle), here.norm
    norms = {"before": np.linalg.norm(model.W), "after": np.linalg.norm(shifted.W)}
    slower = angle["after"] < angle["before"] * (1 - ROUNDING)
    same = abs(angle["after"] / angle["before"] - 1) < ROUNDING
    return Finding(
        bool(norms["after"] > norms["before"] and slower),
        bool(same and abs(centered["after"] / centered["before"] - 1) < ROUNDING),
        numbers(text("norm of W"), norms)
        + numbers(text("norm of W minus its mean row"), centered)
        + numbers(text("turn by a step"), angle, "°"),
    )


CLAIMS = (
    Claim(
        "doubled_block",
        text(
            "The output of a normalized model stays if the weights it normalizes together double."
        ),
        text("section 5.2.2"),
        _doubled_block,
        HOLDS,
        "learning_rate",
    ),
    Claim(
        "doubled_vector",
        text("The output stays if one weight vector doubles."),
        text("section 5.2.2"),
        _doubled_vector,
        HOLDS_IF,
        "learning_rate?method=batch",
        condition=text("no statistic is shared by neurons"),
        remark=text("Under layer norm only a whole group of weight vectors may double."),
    ),
    Claim(
        "curvature_halves",
        text("Where a weight vector doubles, the curvature along it changes by a factor of ½."),
        text("section 5.2.2"),
        _curvature_halves,
        HOLDS_IF,
        "learning_rate?tab=fisher",
        condition=text(
            "it means the gradient, the length ds of a step, or the block between a doubled "
            "and another weight vector"
        ),
        remark=text(
            "The block of the Fisher matrix takes ¼; along w itself there is no curvature."
        ),
    ),
    Claim(
        "doubling_table",
        text(
            "Doubling multiplies each derivative by ½ for each index in the doubled weights, and a "
            "turn by another ½."
        ),
        text("section 5.2.2, completed"),
        _doubling_table,
        HOLDS,
        "learning_rate?tab=fisher",
    ),
    Claim(
        "turns_slower",
        text("A large weight vector turns less by the same gradient step."),
        text("section 5.2.2"),
        _turns_slower,
        HOLDS,
        "learning_rate",
    ),
    Claim(
        "turn_halves",
        text("The turn by a gradient step halves where the norm doubles."),
        text("section 5.2.2, the ½ read as a turn"),
        _turn_halves,
        FAILS,
        "learning_rate",
        remark=text("It takes a quarter: half the gradient at twice the radius."),
    ),
    Claim(
        "same_function",
        text("Models that express the same function may learn differently."),
        text("section 5.2"),
        _same_function,
        HOLDS,
        "learning_rate?tab=descent",
        remark=text("The same function from weights four times as large, after 20 steps."),
    ),
    Claim(
        "gradient_orthogonal",
        text("The gradient is orthogonal to the weights that may be scaled."),
        text("section 5.2.2, implied"),
        _gradient_orthogonal,
        HOLDS,
        "learning_rate?tab=spiral",
    ),
    Claim(
        "norm_grows",
        text(
            "Under gradient descent the norm of the weights only grows, by the law of Pythagoras."
        ),
        text("section 5.2.2, implied"),
        _norm_grows,
        HOLDS,
        "learning_rate?tab=spiral",
    ),
    Claim(
        "early_stopping",
        text("The growing norm lowers the effective learning rate, a brake on the weight vectors."),
        text("section 5.2.2"),
        _early_stopping,
        HOLDS,
        "learning_rate?tab=descent",
    ),
    Claim(
        "stable",
        text(
            "The growth of the norm makes learning stable: a step size that is far too large does "
            "no harm."
        ),
        text("sections 5.2 and 5.2.2"),
        _stable,
        HOLDS,
        "learning_rate?tab=descent&rate=100",
        remark=text("Least squares: the standard model explodes, the normalized ones fit."),
    ),
    Claim(
        "standard_no_law",
        text("A standard model has no such brake: its gradient has a part along the weights."),
        text("section 5.2.2, contrast"),
        _standard_has_no_law,
        HOLDS,
        "learning_rate?method=standard",
    ),
    Claim(
        "which_norm",
        text("Under layer norm, a larger norm of the weight matrix makes it turn slower."),
        text("section 5.2.2"),
        _which_norm,
        HOLDS_IF,
        "learning_rate?method=layer",
        condition=text("it is the norm of W minus its mean row"),
        remark=text("A shift common to all weight vectors makes W long and slows nothing."),
    ),
)
