"""Statements on training from several norms of the weights: section 5.2.2."""

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
    number,
    numbers,
    plain,
    shared,
)
from normgeo.claims.examples import PAPER, ROUNDING, Example, moved, with_weights
from normgeo.dynamics.angular_update import angular_updates
from normgeo.dynamics.descent import descend
from normgeo.dynamics.trajectory import Trajectory
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.named import NORMALIZERS


@shared
def _run(example: Example, method: str) -> Trajectory:
    """Return 50 steps of gradient descent on the digits."""
    return descend(example.digits_model(method), *example.images, steps=50, rate=0.5)


def _gradient_orthogonal(example: Example) -> Finding:
    cosines = {method: float(np.abs(_run(example, method).radial).max()) for method in PAPER}
    return plain(
        max(cosines.values()) < ROUNDING,
        by_method(text("largest cosine with the weights"), cosines),
    )


def _norm_grows(example: Example) -> Finding:
    """Look at every step's change of the norm, and at its law."""
    growth, law = {}, {}
    for method in PAPER:
        run = _run(example, method)
        growth[method] = float(np.diff(run.norms, axis=0).min())
        law[method] = float(np.abs(run.predicted_norms / run.norms - 1).max())
    return plain(
        min(growth.values()) > 0 and max(law.values()) < ROUNDING,
        by_method(text("least growth in a step"), growth)
        + by_method(text("error of the law"), law),
    )


def _early_stopping(example: Example) -> Finding:
    """Compare the effective learning rate at the end of a descent with that at its start."""
    ratios = {}
    for method in PAPER:
        rates = _run(example, method).effective_learning_rate
        ratios[method] = float((rates[-1] / rates[0]).max())
    return plain(
        max(ratios.values()) < 1,
        by_method(text("effective rate after 50 steps, over the first"), ratios),
    )


def _standard_has_no_law(example: Example) -> Finding:
    """Descend on the standard model, whose gradient has a part along w."""
    cosine = float(np.abs(_run(example, "standard").radial).max())
    blocks = len(NORMALIZERS["standard"].homogeneous_blocks(10))
    return plain(
        cosine > ROUNDING and not blocks,
        number(text("largest cosine with the weights"), cosine)
        + number(text("blocks that may be scaled"), blocks),
    )


def _stable(example: Example) -> Finding:
    """Descend with a step size of 100 on regressions, from weights of length about 1."""
    X, rng = example.X, example.rng()
    Y, loss = rng.standard_normal((len(X), example.neurons)), {}
    for method in (*PAPER, "standard"):
        run = descend(
            example.model(method, "gaussian"), X, Y, steps=100, rate=100, affine_rate=0.02
        )
        loss[method] = float(run.loss[-1] / run.loss[0])
    normalized = max(loss[method] for method in PAPER)
    return plain(
        normalized < 1 < loss["standard"],
        number(text("step size"), 100) + by_method(text("last loss over the first"), loss),
    )


def _same_function(example: Example) -> Finding:
    """Start from the same function at two norms, and compare the functions after 20 steps."""
    (X, y), before, after = example.images, {}, {}
    for method in PAPER:
        start = example.digits_model(method)
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


def _which_norm(example: Example) -> Finding:
    """Shift all weight vectors of a layer by one far vector, and take a gradient step."""
    (X, y), model = example.images, example.digits_model("layer")
    far = example.rng().standard_normal(X.shape[1])
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
