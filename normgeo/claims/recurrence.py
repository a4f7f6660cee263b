"""Statements on recurrences: section 3.1, and what it says of hidden states and gradients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.claims.claim import (
    FAILS,
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
from normgeo.claims.examples import ROUNDING, Example, moved, with_eps
from normgeo.models.jacobian_norms import jacobian_norms
from normgeo.models.recurrence import Recurrence, Run, run_recurrence
from normgeo.normalizers.named import NORMALIZERS

RADII = (0.5, 2.0)
FEATURES, SEQUENCES, STEPS = 3, 2, 50
GAINS = (0.25, 1.0, 4.0)
STAYS = 0.01  # decades a step by which a quantity may change and still be said to stay


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
    """Return 50 steps from a random state, with random inputs where it is driven."""
    rng = example.rng(1)
    h0 = rng.standard_normal((SEQUENCES, example.units))
    X = rng.standard_normal((SEQUENCES, STEPS, FEATURES)) * driven
    return run_recurrence(_recurrence(example, method, radius, activation, gain), X, h0)


def _growth(rms: Array) -> float:
    """Return by how many decades a size grows in a step, the mean over steps and sequences."""
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
    """Multiply all summed inputs of every step by a factor of its own."""
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
        (method, radius, *kind): _growth(_run(example, method, radius, *kind).rms_summed_inputs)
        for method in ("standard", "layer")
        for kind in kinds
        for radius in RADII
    }
    standard, layer = np.array(list(growth.values())).reshape(2, len(kinds), len(RADII))
    steady = bool(np.abs(layer).max() < STAYS)
    shrinks_or_grows = (standard[:, 0] < -0.1) & (standard[:, 1] > 0.1)
    named = {_named(*case): rate for case, rate in growth.items()}
    return Finding(
        steady and bool(shrinks_or_grows.all()),
        steady and bool(shrinks_or_grows[0]),
        numbers(text("growth of a in a step"), named, text("decades")),
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


def _state_sizes(example: Example, method: str) -> dict[str, float]:
    """Return the growth of the state from its first step on, at both radii, driven or not."""
    return {
        _named(method, radius, activation, driven): _growth(
            _run(example, method, radius, activation, driven).rms_hidden[1:]
        )
        for radius in RADII
        for activation in ("identity", "tanh")
        for driven in (False, True)
    }


def _gradients_over_time(example: Example) -> Finding:
    """Look for a gradient over time that grows, and for one that fades."""
    rates = _gradients(example)
    return plain(
        max(map(abs, rates.values())) < STAYS,
        numbers(text("growth of the gradient in a step"), rates, text("decades")),
    )


def _stable_recurrence(example: Example) -> Finding:
    """Compare what happens to the size of the state with what happens to the gradient."""
    state = max(map(abs, _state_sizes(example, "layer").values()))
    standard = max(map(abs, _state_sizes(example, "standard").values()))
    gradients = _gradients(example).values()
    kept = state < STAYS < standard
    return Finding(
        kept and max(map(abs, gradients)) < STAYS,
        kept,
        numbers(
            text("largest growth in a step"),
            {
                text("state, layer norm"): state,
                text("state, standard"): standard,
                text("gradient over time, layer norm"): max(gradients),
            },
            text("decades"),
        ),
    )


def _any_length(example: Example) -> Finding:
    """Use what one step computes at another step: under layer norm all of it, of batch norm's not.

    Batch norm takes its statistics over sequences, step by step; those of the first step stand
    for what was stored in training.
    """
    X = example.rng(1).standard_normal((16, STEPS, FEATURES))
    recurrence = _recurrence(example, "layer", 1.5, "tanh")
    run = run_recurrence(recurrence, X, steps=4 * STEPS)
    again = run_recurrence(recurrence, X[:, STEPS - 1 :], run.hidden[-2], steps=1)
    layer = moved(run.hidden[-1], again.hidden[1])
    W, batch = recurrence.layer.W, NORMALIZERS["batch"]
    state = np.zeros((len(X), example.units))
    joined = []
    for x in X.swapaxes(0, 1):
        joined.append(np.hstack([state, x]))
        state = np.tanh(batch.normalize(W, joined[-1]).z)
    first, last = (batch.normalize(W, inputs) for inputs in (joined[0], joined[-1]))
    stored = (last.summed_inputs - first.mu[:1]) / np.broadcast_to(first.sigma, last.z.shape)[:1]
    other = moved(last.z, stored)
    accepted = _takes_one_sequence(example)
    return plain(
        run.steps == 4 * STEPS and layer < ROUNDING < 0.1 < other and not accepted,
        number(text("steps run"), run.steps)
        + by_method(text("change of z by the statistics of another step"), {"batch": other})
        + by_method(text("change of a state by the steps before"), {"layer": layer})
        + numbers(
            text("has statistics for one sequence at one step"), {text("batch norm"): accepted}
        ),
    )


def _takes_one_sequence(example: Example) -> bool:
    """Whether batch norm can take its statistics at one step of one sequence."""
    try:
        _recurrence(example, "batch", 1.5)
    except Refusal:
        return False
    return True


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
        text(
            "In a standard recurrence the summed inputs grow or shrink at every step; under layer "
            "norm they keep their size."
        ),
        text("section 3.1, as a tendency"),
        _grow_or_shrink,
        HOLDS_IF,
        "recurrent?tab=time",
        condition=text(
            "it means the average over many steps of a linear recurrence without inputs, whose "
            "spectral radius is not 1"
        ),
        remark=text(
            "50 steps at the spectral radii ½ and 2. Inputs keep a shrinking state from "
            "vanishing, and tanh limits a growing one."
        ),
    ),
    Claim(
        "stable_recurrence",
        text("Layer normalization stabilizes the dynamics of a recurrence."),
        text("section 3.1"),
        _stable_recurrence,
        HOLDS_IF,
        "recurrent?tab=time&activation=tanh",
        condition=text("it means the size of the state, not the gradient over time"),
        remark=text(
            "For the state: linear and tanh, with and without inputs, at the spectral radii ½ "
            "and 2. For the gradient: tanh, gains of ¼, 1 and 4."
        ),
    ),
    Claim(
        "gradients_over_time",
        text("Layer norm keeps the gradient over time from exploding and from vanishing."),
        text("section 3.1, implied"),
        _gradients_over_time,
        FAILS,
        "recurrent?tab=time&activation=tanh",
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
            "A layer-normalized recurrence runs on sequences longer than any seen; batch norm "
            "would need statistics for each step."
        ),
        text("sections 1 and 3.1"),
        _any_length,
        HOLDS,
        "recurrent?length=256",
        remark=text(
            "Under layer norm, the last of 200 steps computed alone gives the same state. "
            "Batch norm with the statistics of the first step gives a different z at the last."
        ),
    ),
)
