"""Statements on batches, tests and sequences: sections 1 to 3.1 and 6.6."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.claims.claim import HOLDS, HOLDS_IF, Claim, Finding, by_method, number, numbers, plain
from normgeo.claims.examples import ROUNDING, Example, moved
from normgeo.models.jacobian_norms import jacobian_norms
from normgeo.models.recurrence import Recurrence, Run, run_recurrence
from normgeo.normalizers.batch_statistics import batch_noise
from normgeo.normalizers.named import NORMALIZERS

RADII = (0.5, 2.0)
FEATURES = 3


def _one_case(example: Example) -> Finding:
    """Normalize each case by itself, and all of them together."""
    X, change = example.X, {}
    W = example.model("layer", "gaussian").W
    for method in ("layer", "weight"):
        alone = [NORMALIZERS[method].normalize(W, X[n : n + 1]).z for n in range(len(X))]
        change[method] = moved(NORMALIZERS[method].normalize(W, X).z, np.vstack(alone))
    batch = NORMALIZERS["batch"]
    first = X[: len(X) // 2]
    half = moved(batch.normalize(W, X).z[: len(first)], batch.normalize(W, first).z)
    accepts = _accepts_one_case(example)
    return plain(
        max(change.values()) < ROUNDING < half and not accepts,
        by_method(text("change of z, alone"), change)
        + numbers(text("change of z, in half the batch"), {text("batch norm"): half})
        + numbers(text("has a z for one case"), {text("batch norm"): accepts}),
    )


def _accepts_one_case(example: Example) -> bool:
    """Whether batch norm makes anything of a single case."""
    try:
        NORMALIZERS["batch"].normalize(example.model("batch", "gaussian").W, example.X[:1])
    except Refusal:
        return False
    return True


def _training_and_test(example: Example) -> Finding:
    """Use the statistics of half the cases on the others, as at test time, and their own."""
    X, change = example.X, {}
    W, half = example.model("batch", "gaussian").W, len(X) // 2
    train, test = X[:half], X[half:]
    frozen = replace(NORMALIZERS["batch"], statistics="frozen")
    own = NORMALIZERS["batch"].normalize(W, test).z
    change["batch"] = moved(own, frozen.normalize(W, test, (W, train)).z)
    for method in ("layer", "weight"):
        together = NORMALIZERS[method].normalize(W, X).z[half:]
        change[method] = moved(together, NORMALIZERS[method].normalize(W, test).z)
    return plain(
        max(change["layer"], change["weight"]) < ROUNDING < change["batch"],
        by_method(text("change of z at test"), change),
    )


def _batch_noise(example: Example) -> Finding:
    """Draw batches of the digits and fit the error of μ by a power of m."""
    X, _ = example.images
    A = X @ example.model("batch", "gaussian", features=X.shape[1]).W.T
    sizes = np.array([4, 16, 64])
    noise = batch_noise(A, example.rng(), sizes=sizes, batches=2000, replacement=True)
    error = np.sqrt(((noise.mean_error / noise.sigma) ** 2).mean(axis=1))
    slope = float(np.polyfit(np.log(sizes), np.log(error), 1)[0])
    return plain(
        abs(slope + 0.5) < 0.05,
        numbers(
            text("error of μ over σ"), {f"m = {m}": e for m, e in zip(sizes, error, strict=True)}
        )
        + number(text("slope of log error against log m"), slope),
    )


def _logits(example: Example) -> Finding:
    """Double the natural parameters of a softmax model."""
    model = example.model("layer", "categorical")
    s = model.natural_parameter(example.X)
    p, sharper = model.family.mean(s), model.family.mean(2 * s)
    turned = float((p.argmax(axis=1) != sharper.argmax(axis=1)).mean())
    confidence = {"s": p.max(axis=1).mean(), "2s": sharper.max(axis=1).mean()}
    return plain(
        turned == 0 and confidence["2s"] > confidence["s"] + ROUNDING,
        numbers(text("mean probability of the likeliest class"), confidence)
        + number(text("share of cases whose likeliest class changes"), turned),
    )


def _recurrence(
    example: Example, method: str, radius: float, activation: str = "identity"
) -> Recurrence:
    return Recurrence.random(
        NORMALIZERS[method],
        example.units,
        FEATURES,
        example.rng(),
        spectral_radius=radius,
        activation=activation,
    )


def _rescaled_steps(example: Example) -> Finding:
    """Multiply all summed inputs of every step by a factor of its own."""
    rng = example.rng()
    X, factors = rng.standard_normal((2, 20, FEATURES)), rng.uniform(0.5, 2, 20)
    change = {}
    for method in ("layer", "standard"):
        runs = [
            run_recurrence(_recurrence(example, method, 1.0), X, factors=f) for f in (None, factors)
        ]
        change[method] = moved(*(run.hidden for run in runs))
    return plain(
        change["layer"] < ROUNDING < change["standard"],
        by_method(text("change of the states"), change),
    )


def _free_run(example: Example, method: str, radius: float) -> Run:
    """Return 100 steps from a random state without inputs."""
    h0 = example.rng(1).standard_normal((2, example.units))
    return run_recurrence(_recurrence(example, method, radius), np.zeros((2, 100, FEATURES)), h0)


def _grow_or_shrink(example: Example) -> Finding:
    """Measure the growth of a step from its summed inputs, at two spectral radii."""
    growth = {}
    for method in ("standard", "layer"):
        for radius in RADII:
            rms = _free_run(example, method, radius).rms_summed_inputs
            decades = np.log10(rms[-1] / rms[0]).mean() / (len(rms) - 1)
            name = text(
                "{method}, radius {radius:g}", method=NORMALIZERS[method].title, radius=radius
            )
            growth[name] = decades
    standard, layer = np.split(np.array(list(growth.values())), 2)
    return plain(
        bool(standard[0] < -0.1 and standard[1] > 0.1 and np.abs(layer).max() < 0.01),
        numbers(text("growth of a in a step"), growth, text("decades")),
    )


def _gradients_over_time(example: Example) -> Finding:
    """Measure ‖∂h^T/∂h^0‖ a step, with and without inputs, linear and tanh, at two radii."""
    X = example.rng().standard_normal((2, 100, FEATURES))
    h0 = example.rng(1).standard_normal((2, example.units))
    layer = [
        _decay(run_recurrence(_recurrence(example, "layer", radius, activation), inputs, h0))
        for radius in RADII
        for activation in ("identity", "tanh")
        for inputs in (X, np.zeros_like(X))
    ]
    standard = _decay(_free_run(example, "standard", RADII[1]))
    return Finding(
        max(np.abs(layer)) < 0.01,
        max(layer) < 0.01 < standard,
        numbers(
            text("growth of the gradient in a step"),
            {
                text("layer norm, most"): max(layer),
                text("layer norm, least"): min(layer),
                text("standard, radius 2"): standard,
            },
            text("decades"),
        ),
    )


def _decay(run: Run) -> float:
    """Return log₁₀‖∂h^T/∂h^0‖/T, the mean over the sequences."""
    return float(jacobian_norms(run, points=2).log10_norms[0].mean()) / run.steps


def _any_length(example: Example) -> Finding:
    """Run far past the training length; ask for batch norm's statistics of single cases."""
    X = example.rng().standard_normal((2, 300, FEATURES))
    recurrence = _recurrence(example, "layer", 1.5, "tanh")
    short, long = (run_recurrence(recurrence, inputs) for inputs in (X[:, :30], X))
    change = moved(short.hidden, long.hidden[: len(short.hidden)])
    accepted = _batch_norm_recurs(example)
    return plain(
        long.steps == 300 and change < ROUNDING and not accepted,
        numbers(text("steps"), {text("as trained"): short.steps, text("run"): long.steps})
        + number(text("change of the first states"), change)
        + numbers(
            text("has statistics for one sequence at one step"), {text("batch norm"): accepted}
        ),
    )


def _batch_norm_recurs(example: Example) -> bool:
    """Whether batch norm can take its statistics at one step of one sequence."""
    try:
        _recurrence(example, "batch", 1.5)
    except Refusal:
        return False
    return True


CLAIMS = (
    Claim(
        "one_case",
        text("Layer norm treats each case by itself, so that a batch may hold a single one."),
        text("section 3"),
        _one_case,
        HOLDS,
        "batch",
        remark=text(
            "Batch norm gives a case another z in another batch, and none in a batch of one."
        ),
    ),
    Claim(
        "training_and_test",
        text("Layer norm computes the same at training and at test; batch norm does not."),
        text("abstract and section 3"),
        _training_and_test,
        HOLDS,
        "invariance?statistics=frozen",
    ),
    Claim(
        "batch_noise",
        text("In a mini-batch of m cases, μ is an estimate whose error falls as 1/√m."),
        text("section 2"),
        _batch_noise,
        HOLDS,
        "batch?tab=noise",
        remark=text("2000 batches of digits of each size, drawn with replacement."),
    ),
    Claim(
        "logits",
        text(
            "The scale of a softmax's inputs decides how confident it is, so they are not "
            "normalized."
        ),
        text("section 6.6"),
        _logits,
        HOLDS,
    ),
    Claim(
        "rescaled_steps",
        text("A layer-normalized recurrence ignores a re-scaling of all summed inputs of a step."),
        text("section 3.1, Eq. 4"),
        _rescaled_steps,
        HOLDS,
        "recurrent",
    ),
    Claim(
        "grow_or_shrink",
        text(
            "In a standard recurrence the summed inputs grow or shrink at every step; under layer "
            "norm they keep their size."
        ),
        text("section 3.1"),
        _grow_or_shrink,
        HOLDS,
        "recurrent?tab=radii",
        remark=text("100 steps without input; the spectral radius of W_hh is ½ and 2."),
    ),
    Claim(
        "gradients_over_time",
        text("Layer norm keeps the gradient over time from exploding and from vanishing."),
        text("section 3.1"),
        _gradients_over_time,
        HOLDS_IF,
        "recurrent",
        condition=text("it means exploding; with inputs at every step it may still vanish"),
        remark=text(
            "100 steps, linear and tanh, with and without inputs, spectral radius ½ and 2."
        ),
    ),
    Claim(
        "any_length",
        text(
            "A layer-normalized recurrence runs on sequences longer than any seen; batch norm "
            "would need statistics for each step."
        ),
        text("sections 1 and 3.1"),
        _any_length,
        HOLDS,
        "recurrent?length=256",
    ),
)
