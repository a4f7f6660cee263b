"""Statements on training from several norms of the weights: section 5.2.2."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.claims.claim import (
    FOLLOWS,
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
from normgeo.claims.examples import PAPER, ROUNDING, Example, moved, softened, with_weights
from normgeo.dynamics.angular_update import angular_updates
from normgeo.dynamics.descent import descend
from normgeo.dynamics.trajectory import Trajectory
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.named import NORMALIZERS

STEPS, RATE = 20, 0.5
EPS = 1.0  # of the order of σ², to show the error of a law without ε
SMALL, HUGE = 0.02, 100.0  # step sizes of least squares


@shared
def _run(example: Example, method: str, eps: float = 0.0) -> Trajectory:
    """Return 20 steps of gradient descent on the digits."""
    start = softened(example.digits_model(method), eps)
    return descend(start, *example.images, steps=STEPS, rate=RATE)


def _runs(example: Example, eps: float = 0.0) -> dict[str, Trajectory]:
    """Return the runs of the methods that the paper compares, or of those that use ε."""
    methods = [m for m in PAPER if not eps or NORMALIZERS[m].scaling.takes_eps]
    return {method: _run(example, method, eps) for method in methods}


def _gradient_orthogonal(example: Example) -> Finding:
    """Measure the angle between gradient and weights along runs, without ε and with one."""
    cosines = {
        f"ε = {eps:g}": max(float(np.abs(run.radial).max()) for run in _runs(example, eps).values())
        for eps in (0.0, EPS)
    }
    return Finding(
        max(cosines.values()) < ROUNDING,
        cosines["ε = 0"] < ROUNDING,
        numbers(text("largest cosine with the weights"), cosines),
    )


def _norm_grows(example: Example) -> Finding:
    """Compare the change of the norm in every step with its law; then add ε, or weight decay."""
    lawful, eps = _runs(example).values(), _runs(example, EPS).values()
    start = _run(example, "layer").start
    decayed = descend(start, *example.images, steps=STEPS, rate=RATE, decay=0.1)
    growth = {
        name: min(float(np.diff(run.norms, axis=0).min()) for run in runs)
        for name, runs in (("ε = 0", lawful), (f"ε = {EPS:g}", eps), ("λ = 0.1", [decayed]))
    }
    law = max(float(np.abs(run.predicted_norms / run.norms - 1).max()) for run in lawful)
    return Finding(
        min(growth.values()) > 0 and law < ROUNDING,
        growth["ε = 0"] > 0 and law < ROUNDING,
        numbers(text("least growth in a step"), growth)
        + number(text("error of the law at ε = 0"), law),
    )


def _early_stopping(example: Example) -> Finding:
    """Compare steps at the end of a descent, from its own norm and from the first norm."""
    X, y = example.images
    turns, rates = {}, {}
    for method in PAPER:
        run = _run(example, method)
        norms = run.norms[[0, -1], 0]
        end = angular_updates(run.model_at(STEPS), X, y, norms, rate=RATE)
        turns[method] = float(np.tan(end.angles[1]) / np.tan(end.angles[0]))
        effective = run.effective_learning_rate[:, 0]
        rates[method] = float(effective[-1] / effective[0])
    off = max(abs(turns[method] / rates[method] - 1) for method in PAPER)
    return plain(
        max(turns.values()) < 1 and off < ROUNDING,
        by_method(text("turn after 20 steps, over that of weights as long as at the start"), turns)
        + by_method(text("effective rate after 20 steps, over the first"), rates),
    )


def _standard_has_no_law(example: Example) -> Finding:
    """Measure the assumptions of the norm's law on the standard model."""
    run, X = _run(example, "standard"), example.images[0]
    cosine = float(np.abs(run.radial).max())
    squares = run.norms**2
    grown = squares[:-1] + (RATE * run.gradient_norms) ** 2
    law = float(np.abs(squares[1:] / grown - 1).max())
    longer = with_weights(run.start, 2 * run.start.W)
    change = _apart([run.start, longer], X)
    return plain(
        min(cosine, law, change) > 0.01,
        number(text("largest cosine with the weights"), cosine)
        + number(text("error of the law of Pythagoras in a step"), law)
        + number(text("change of the output where the weights double"), change),
    )


def _stable(example: Example) -> Finding:
    """Descend on regressions with a far too large learning rate, for the weights or for all."""
    X, loss = example.X, {}
    Y = example.rng().standard_normal((len(X), example.neurons))
    for method in (*PAPER, "standard"):
        title = NORMALIZERS[method].title
        start = example.model(method, "gaussian")
        for name, affine in ((text("of W alone"), SMALL), (text("of b and g too"), HUGE)):
            run = descend(start, X, Y, steps=50, rate=HUGE, affine_rate=affine)
            loss[title, name] = float(run.loss[-1] / run.loss[0])
    *others, standard = np.array(list(loss.values())).reshape(-1, 2)
    of_weights, of_all = np.max(others, axis=0)
    return Finding(
        bool(max(of_weights, of_all) < 1 < standard[0]),
        bool(of_weights < 1 < standard[0]),
        number(text("learning rate"), HUGE)
        + numbers(
            text("last loss over the first"),
            {f"{title}, {name}": value for (title, name), value in loss.items()},
        ),
    )


def _same_function(example: Example) -> Finding:
    """Train one function from two norms, and from the smaller one at a compensating rate."""
    (X, y), k, apart, made_up = example.images, 4.0, {}, {}
    for method in PAPER:
        run = _run(example, method)
        far = descend(with_weights(run.start, k * run.start.W), X, y, steps=STEPS, rate=RATE)
        slow = descend(run.start, X, y, steps=STEPS, rate=RATE / k**2, affine_rate=RATE)
        at_end = far.model_at(STEPS)
        apart[method] = _apart([run.model_at(STEPS), at_end], X)
        made_up[method] = _apart([slow.model_at(STEPS), at_end], X)
    return plain(
        max(made_up.values()) < ROUNDING < min(apart.values()),
        by_method(text("difference of the outputs, both at η"), apart)
        + by_method(text("difference from the short one at η/16"), made_up),
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
        text(
            "Models that express the same function learn differently: weights k times as long "
            "learn as if at the rate η/k²."
        ),
        text("section 5.2"),
        _same_function,
        HOLDS,
        "learning_rate?tab=descent",
        remark=text(
            "20 steps from weights four times as long, against the short ones at η, and with the "
            "weights at η/16."
        ),
    ),
    Claim(
        "gradient_orthogonal",
        text("The gradient is orthogonal to the weights that may be scaled."),
        text("section 5.2.2, implied"),
        _gradient_orthogonal,
        HOLDS_IF,
        "learning_rate?tab=spiral",
        condition=text("ε = 0"),
        kind=FOLLOWS,
    ),
    Claim(
        "norm_grows",
        text(
            "Under gradient descent the norm of the weights only grows, by the law of Pythagoras."
        ),
        text("section 5.2.2, implied"),
        _norm_grows,
        HOLDS_IF,
        "learning_rate?tab=spiral",
        condition=text("ε = 0 and there is no weight decay"),
        kind=FOLLOWS,
    ),
    Claim(
        "early_stopping",
        text("As the norm grows, the effective learning rate falls: it brakes the weight vectors."),
        text("section 5.2.2"),
        _early_stopping,
        HOLDS,
        "learning_rate?tab=descent",
    ),
    Claim(
        "stable",
        text(
            "The growth of the norm makes learning stable: far too large a learning rate does "
            "not diverge."
        ),
        text("sections 5.2 and 5.2.2"),
        _stable,
        HOLDS_IF,
        "learning_rate?tab=descent&rate=100",
        condition=text("it is that of the weights, not of biases and gains"),
        remark=text(
            "Least squares with η = 100: the weights of the standard model explode, those of a "
            "normalized one do not. Nothing brakes b and g in this way."
        ),
    ),
    Claim(
        "standard_no_law",
        text("A standard model has no such brake: its gradient has a part along the weights."),
        text("section 5.2.2, contrast"),
        _standard_has_no_law,
        HOLDS,
        "learning_rate?method=standard",
        kind=FOLLOWS,
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
