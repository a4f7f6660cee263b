"""Statements on recurrences: section 3.1, on hidden states and gradients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.claims.claim import (
    FAILS,
    FOLLOWS,
    HOLDS_IF,
    Claim,
    Finding,
    by_method,
    number,
    numbers,
    plain,
    shared,
)
from normgeo.claims.examples import ROUNDING, Example, moved, with_eps
from normgeo.models.jacobian_norms import jacobian_norms
from normgeo.models.recurrence import Recurrence, Run, run_recurrence
from normgeo.normalizers.named import NORMALIZERS
from normgeo.sequences.model import SequenceModel
from normgeo.sequences.tasks import load_sequences
from normgeo.sequences.training import train_sequences

RADII = (0.5, 2.0)
FEATURES, SEQUENCES, STEPS = 3, 2, 50
GAINS = (0.25, 1.0, 4.0)
STAYS = 0.01  # decades per step within which a quantity counts as constant
CLEAR = 0.1  # decades per step by which it clearly grows or shrinks
READ, CASES = 6, 128  # letters of a training sequence, and the number of sequences


def _recurrence(
    example: Example,
    method: str,
    radius: float,
    activation: str = "identity",
    gain: float = 1.0,
    eps: float = 0.0,
) -> Recurrence:
    normalizer, H = with_eps(NORMALIZERS[method], eps), example.units
    drawn = Recurrence.random(
        normalizer, H, FEATURES, example.rng(), spectral_radius=radius, activation=activation
    )
    W_hh, W_xh = np.split(drawn.layer.W, [H], axis=1)
    g = None if gain == 1 else np.full(H, gain)
    return Recurrence(normalizer, W_hh, W_xh, g=g, activation=activation)


@shared
def _run(
    example: Example,
    method: str,
    radius: float,
    activation: str = "identity",
    driven: bool = False,
    gain: float = 1.0,
) -> Run:
    """Return 50 steps from a random state, with random inputs if driven."""
    rng = example.rng(1)
    h0 = rng.standard_normal((SEQUENCES, example.units))
    X = rng.standard_normal((SEQUENCES, STEPS, FEATURES)) * driven
    return run_recurrence(_recurrence(example, method, radius, activation, gain), X, h0)


def _growth(rms: Array) -> float:
    """Return the growth of a size per step in decades, the mean over steps and sequences."""
    return float(np.log10(rms[-1] / rms[0]).mean() / (len(rms) - 1))


def _named(method: str, radius: float, activation: str, driven: bool) -> str:
    words = text("driven") if driven else text("no input")
    return text(
        "{method}, f = {activation}, radius {radius:g}, {words}",
        method=NORMALIZERS[method].title,
        activation=activation,
        radius=radius,
        words=words,
    )


def _rescaled_steps(example: Example) -> Finding:
    """Multiply all summed inputs of each step by a different factor."""
    rng = example.rng()
    X, factors = rng.standard_normal((2, 20, FEATURES)), rng.uniform(0.5, 2, 20)

    def change(method: str, eps: float = 0.0) -> float:
        recurrence = _recurrence(example, method, 1.0, eps=eps)
        return moved(*(run_recurrence(recurrence, X, factors=f).hidden for f in (None, factors)))

    layer, softened, standard = change("layer"), change("layer", 0.1), change("standard")
    return Finding(
        max(layer, softened) < ROUNDING < standard,
        layer < ROUNDING < standard,
        by_method(text("change of the states"), {"layer": layer, "standard": standard})
        + number(text("change of the states, ε = 0.1"), softened),
    )


def _grow_or_shrink(example: Example) -> Finding:
    """Measure the growth of the summed inputs: linear and tanh, driven or not, at two radii."""
    kinds = (("identity", False), ("identity", True), ("tanh", False))
    growth = {
        (radius, *kind): _growth(_run(example, "standard", radius, *kind).rms_summed_inputs)
        for kind in kinds
        for radius in RADII
    }
    rates = np.array([*growth.values()]).reshape(len(kinds), len(RADII))
    shrinks_and_grows = (rates[:, 0] < -CLEAR) & (rates[:, 1] > CLEAR)
    return Finding(
        bool(shrinks_and_grows.all()),
        bool(shrinks_and_grows[0]),
        numbers(
            text("growth of a in a step"),
            {_named("standard", *case): rate for case, rate in growth.items()},
            text("decades"),
        ),
    )


def _rate(run: Run) -> float:
    """Return log₁₀‖∂h^T/∂h^0‖/T, the mean over the sequences."""
    return float(jacobian_norms(run, points=2).log10_norms[0].mean()) / run.steps


@shared
def _gradients(example: Example) -> dict[str, float]:
    """Return the growth of the gradient over time under layer norm: two widths, three gains."""
    widths = {
        text("narrow"): example,
        text("three times as wide"): replace(example, units=3 * example.units),
    }
    free = {
        text("{width}, no input, g = {gain:g}", width=width, gain=gain): _rate(
            _run(each, "layer", RADII[0], "tanh", gain=gain)
        )
        for width, each in widths.items()
        for gain in GAINS
    }
    driven = _rate(_run(example, "layer", RADII[0], "tanh", driven=True))
    return free | {text("with inputs, radius ½, g = 1"): driven}


def _gradients_over_time(example: Example) -> Finding:
    """Search for a gradient over time that grows, and for one that vanishes."""
    rates = _gradients(example)
    return plain(
        max(map(abs, rates.values())) < STAYS,
        numbers(text("growth of the gradient in a step"), rates, text("decades")),
    )


def _stable_recurrence(example: Example) -> Finding:
    """Compare the growth or decay of gradients over time with and without layer norm."""
    kinds = [
        (radius, activation, driven)
        for radius in RADII
        for activation in ("identity", "tanh")
        for driven in (False, True)
    ]
    rates = {
        (method, *kind): _rate(_run(example, method, *kind))
        for method in ("standard", "layer")
        for kind in kinds
    }
    sizes = {kind: (abs(rates["standard", *kind]), abs(rates["layer", *kind])) for kind in kinds}
    calmer = {kind: within < without for kind, (without, within) in sizes.items()}
    far = {kind for kind, (without, _) in sizes.items() if without > CLEAR and not kind[2]}
    return Finding(
        all(calmer.values()),
        len(far) > 2 and all(calmer[kind] for kind in far),
        numbers(
            text("growth of the gradient in a step"),
            {_named(*case): rate for case, rate in rates.items()},
            text("decades"),
        ),
    )


def _any_length(example: Example) -> Finding:
    """Train an LSTM on sequences of 6 letters, and let it read 24."""
    with_layer, with_batch = (_read_on(example.seed, method) for method in ("layer", "batch"))
    (early, late), (early_batch, late_batch) = with_layer[:2], with_batch[:2]
    reads_on = with_layer[2] and late < early
    return Finding(
        reads_on and not with_batch[2] and late_batch > early_batch,
        reads_on and not with_batch[2],
        by_method(
            text("loss of letters 4 to 6"), {"layer": early, "batch": early_batch}, text("nats")
        )
        + by_method(
            text("loss of letters 19 to 24"), {"layer": late, "batch": late_batch}, text("nats")
        )
        + by_method(
            text("has statistics for letter 24"), {"layer": with_layer[2], "batch": with_batch[2]}
        ),
    )


@shared
def _read_on(seed: int, method: str) -> tuple[float, float, bool]:
    """Return the loss within and beyond the training length, and whether it runs there as it is.

    After its last step, batch norm by time step uses the statistics of that step.
    """
    data, longer = (load_sequences("letters", steps=n, seed=seed) for n in (READ, 4 * READ))
    normalizer = with_eps(NORMALIZERS[method], 1e-5)
    sizes = 24, data.features, data.classes
    start = SequenceModel.random("lstm", normalizer, *sizes, Example(seed).rng())
    run = train_sequences(start, data, batch_size=16, steps=40, rate=0.03, seed=seed, tests=0)
    seen = longer.X_train[:CASES], longer.y_train[:CASES]
    told = run.model.told(*seen, run.statistics, beyond="last")
    loss = -told.log_likelihood.mean(axis=0)
    try:
        run.model.told(*seen, run.statistics)
        as_it_is = True
    except Refusal:
        as_it_is = False
    return float(loss[READ // 2 : READ].mean()), float(loss[-READ:].mean()), as_it_is


CLAIMS = (
    Claim(
        "rescaled_steps",
        text(
            "A layer-normalized recurrence ignores a re-scaling by δ > 0 of all summed inputs of a "
            "step."
        ),
        text("section 3.1, Eq. 4"),
        _rescaled_steps,
        HOLDS_IF,
        "recurrent",
        condition=text("ε = 0"),
    ),
    Claim(
        "grow_or_shrink",
        text("In a standard recurrence the summed inputs grow or shrink at every step."),
        text("section 3.1, as a tendency"),
        _grow_or_shrink,
        HOLDS_IF,
        "recurrent",
        condition=text("f is linear, ρ ≠ 1 and there are no inputs, on average over the steps"),
        remark=text(
            "The average over 50 steps of a linear recurrence at the spectral radii ½ and 2. "
            "Inputs keep a shrinking state from vanishing, and tanh limits a growing one."
        ),
    ),
    Claim(
        "stable_recurrence",
        text("Layer normalization stabilizes the dynamics of a recurrence."),
        text("section 3.1"),
        _stable_recurrence,
        HOLDS_IF,
        "recurrent?activation=tanh",
        condition=text("there are no inputs, and without it gradients grow or fade fast"),
        remark=text(
            "Linear and tanh, with and without inputs, at the spectral radii ½ and 2. In the "
            "others, where gradients grow or fade by less than a tenth of a decade a step, they "
            "may fade more with layer norm. The size of the state is fixed by its norm."
        ),
    ),
    Claim(
        "gradients_over_time",
        text("Layer norm keeps the gradient over time from exploding and from vanishing."),
        text("section 3.1, implied"),
        _gradients_over_time,
        FAILS,
        "recurrent?activation=tanh",
        remark=text(
            "In a wide tanh layer with gains of 4 it explodes; where the inputs are much "
            "larger than the state it vanishes. With gains of 1 it does one or the other, "
            "depending on the seed and the width."
        ),
        kind=FOLLOWS,
    ),
    Claim(
        "any_length",
        text(
            "Layer norm reads sequences longer than any in training; batch norm by time step does "
            "not."
        ),
        text("sections 1 and 3.1"),
        _any_length,
        HOLDS_IF,
        "recurrent?tab=longer&task=letters",
        condition=text("batch norm may not reuse the statistics of its last step"),
        remark=text(
            "An LSTM trained on 6 letters reads 24. With layer norm it predicts the last ones "
            "better than letters 4 to 6. Batch norm refuses them, or with the statistics of its "
            "last step does as well."
        ),
    ),
)
