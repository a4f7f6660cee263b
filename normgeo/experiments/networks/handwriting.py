"""Section 6.5: a network that writes, step by step of the pen, the text that it is given.

An LSTM reads the last offset of the pen and a window that slides over the text; its state places
the window, and a mixture of M Gaussians for the next offset, beside the chance that the pen lifts:

    φ_u = Σ_k α_k exp(−β_k (κ_k − u)²),   κ^t = κ^{t−1} + pace · exp(κ̂),   w = Σ_u φ_u c_u
    −log P(x) = −log Σ_j π_j N(x | μ_j, σ_j, ρ_j) − log P(lift)

Source: Graves, Generating sequences with recurrent neural networks, 2013, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from string import ascii_letters, digits, punctuation
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.experiments.iam import Line, parts, spread
from normgeo.experiments.networks.cells import Tree, init_linear, init_lstm, linear, lstm, rest
from normgeo.experiments.networks.compiled import Experiment, lightly
from normgeo.experiments.strokes import ALPHABET, phrase, write

STEPS = 504  # of the pen, T
NEURONS, WINDOWS, GAUSSIANS = 40, 2, 4  # H, K, M
LINES = (256, 32, 32)  # to learn from, for validation, for the test
CHARACTERS = 48  # the longest text of T steps
EVERY = (
    "".join(dict.fromkeys(ALPHABET + ascii_letters + digits + punctuation))
    + "\N{REPLACEMENT CHARACTER}"
)
PACE = 1 / 16  # characters per step, about: where the windows start
UNIT = 0.16  # of an offset, in heights of an x: its spread
TEXTS, WRITTEN, STEADIER = ("one hand", "the moon"), 150, 1.0  # for the page, in steps of the pen


class Step(NamedTuple):
    """A step's state of the LSTM, place κ (S, K) and last window w (S, characters)."""

    state: tuple[jax.Array, jax.Array]
    kappa: jax.Array
    window: jax.Array


class Mixture(NamedTuple):
    """The next offset: log π (S, M), μ and log σ (S, M, 2), ρ (S, M); log odds of a lift (S,)."""

    log_share: jax.Array
    mean: jax.Array
    log_sigma: jax.Array
    rho: jax.Array
    lift: jax.Array


def init(key: jax.Array, method: str, characters: int = len(ALPHABET)) -> Tree:
    """Return first parameters, for texts of so many characters."""
    of_cell, of_window, of_output = jax.random.split(key, 3)
    return {
        "cell": init_lstm(of_cell, NEURONS, 3 + characters, method),
        "window": init_linear(of_window, 3 * WINDOWS, NEURONS, 0.1),
        "output": init_linear(of_output, 6 * GAUSSIANS + 1, NEURONS + characters, 0.1),
    }


def sized(learned: Tree) -> Callable[[jax.Array, str], Tree]:
    """Return `init` for the characters that the texts have."""
    own = int(learned["texts"].max()) < len(ALPHABET)
    return partial(init, characters=len(ALPHABET if own else EVERY))


def one_hot(params: Tree, texts: jax.Array) -> jax.Array:
    """Return texts (…, U) of numbers as (…, U, characters); −1 is no character."""
    return jax.nn.one_hot(texts, params["output"]["W"].shape[-1] - NEURONS)


def start(texts: jax.Array) -> Step:
    """The state before the first step for texts (S, U, characters)."""
    S, _, characters = texts.shape
    return Step(rest(S, NEURONS), jnp.zeros((S, WINDOWS)), jnp.zeros((S, characters)))


def advance(params: Tree, before: Step, point: jax.Array, texts: jax.Array) -> Step:
    """Read a point (S, 3) and slide the window."""
    state = lstm(params["cell"], before.state, jnp.concatenate([point, before.window], axis=-1))
    alpha, beta, ahead = jnp.split(jnp.exp(linear(params["window"], state[0])), 3, axis=-1)
    kappa = before.kappa + PACE * ahead
    away = kappa[..., None] - jnp.arange(texts.shape[1])
    phi = (alpha[..., None] * jnp.exp(-beta[..., None] * away**2)).sum(1)
    return Step(state, kappa, jnp.einsum("su,suc->sc", phi, texts))


def mixture(params: Tree, h: jax.Array, window: jax.Array) -> Mixture:
    """What comes next, from the state and the window of a step, or of all steps at once."""
    found = linear(params["output"], jnp.concatenate([h, window], axis=-1))
    lift, rest_of_it = found[..., 0], found[..., 1:].reshape(*found.shape[:-1], GAUSSIANS, 6)
    return Mixture(
        jax.nn.log_softmax(rest_of_it[..., 0]),
        rest_of_it[..., 1:3],
        rest_of_it[..., 3:5],
        0.99 * jnp.tanh(rest_of_it[..., 5]),
        lift,
    )


def log_likelihood(of: Mixture, point: jax.Array) -> jax.Array:
    """Return log P(point), of the density of an offset in UNIT and of the lift."""
    away = (point[..., None, :2] - of.mean) * jnp.exp(-of.log_sigma)
    left = 1 - of.rho**2
    squares = (away**2).sum(-1) - 2 * of.rho * away[..., 0] * away[..., 1]
    log_norm = math.log(2 * math.pi) + of.log_sigma.sum(-1) + 0.5 * jnp.log(left)
    density = jax.nn.logsumexp(of.log_share - squares / (2 * left) - log_norm, axis=-1)
    return density + point[..., 2] * of.lift - jax.nn.softplus(of.lift)


def loss(params: Tree, cases: Tree, key: jax.Array) -> jax.Array:
    """Return −log P per step of the pen, in nats; nothing in it is random."""
    texts, points = one_hot(params, cases["texts"]), cases["points"].swapaxes(0, 1)

    def step(before: Step, point: jax.Array) -> tuple[Step, tuple[jax.Array, jax.Array]]:
        after = advance(params, before, point, texts)
        return after, (after.state[0], after.window)

    _, seen = jax.lax.scan(step, start(texts), points[:-1])
    return -log_likelihood(mixture(params, *seen), points[1:]).mean()


def sample(params: Tree, words: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Write words (1, U) of numbers for WRITTEN steps: points (T, 3) and places κ of windows (T,).

    Gaussians are narrowed by e^−STEADIER and the likely ones preferred, as in his section 5.4.
    """
    texts = one_hot(params, words)

    def step(carry: tuple[Step, jax.Array], key: jax.Array) -> Any:
        before, point = carry
        after = advance(params, before, point, texts)
        of = mixture(params, after.state[0], after.window)
        which, where, whether = jax.random.split(key, 3)
        j = jax.random.categorical(which, of.log_share[0] * (1 + STEADIER))
        first, second = jax.random.normal(where, (2,))
        rho = of.rho[0, j]
        turned = jnp.stack([first, rho * first + jnp.sqrt(1 - rho**2) * second])
        offset = of.mean[0, j] + jnp.exp(of.log_sigma[0, j] - STEADIER) * turned
        lifted = jax.random.bernoulli(whether, jax.nn.sigmoid(of.lift[0]))
        point = jnp.append(offset, lifted)[None]
        return (after, point), (point[0], after.kappa[0].mean())

    first = (start(texts), jnp.array([[0.0, 0.0, 1.0]]))
    points, places = jax.lax.scan(step, first, jax.random.split(key, WRITTEN))[1]
    return points, places


def data(where: str | None = None) -> tuple[Tree, Tree, Tree]:
    """Return lines of T steps and their texts, each of random words and by a hand of its own.

    Or lines of IAM-OnDB that are as long, from a folder, with its texts as a whole and offsets in
    units of their spread.
    """
    if where is None:
        learned, validation, test = (_lines(seed, count) for seed, count in enumerate(LINES))
        return learned, validation, test
    given = [[line for line in part if len(line.points) >= STEPS] for part in parts(Path(where))]
    if not all(given):
        raise Refusal(
            "Lines of at least {steps} steps of the pen are needed in each part.", steps=STEPS
        )
    unit = spread(given[0])
    longest = max(len(line.words) for part in given for line in part)
    learned, validation, test = (_given(part, unit, longest) for part in given)
    return learned, validation, test


def _given(lines: list[Line], unit: float, longest: int) -> Tree:
    points = np.zeros((len(lines), STEPS + 1, 3), np.float32)
    points[:, 0, 2] = 1
    points[:, 1:] = [line.points[:STEPS] / (unit, unit, 1) for line in lines]
    texts = np.full((len(lines), longest), -1, np.int32)
    for n, line in enumerate(lines):
        texts[n, : len(line.words)] = numbers(line.words)
    return {"points": points, "texts": texts}


def _lines(seed: int, count: int) -> Tree:
    rng = np.random.default_rng(seed)
    points = np.zeros((count, STEPS + 1, 3), np.float32)
    texts = np.full((count, CHARACTERS), -1, np.int32)
    points[:, 0, 2] = 1
    for n in range(count):
        line = write(phrase(rng, CHARACTERS), rng)
        points[n, 1:] = line.points[:STEPS] / (UNIT, UNIT, 1)
        drawn = line.characters[STEPS - 1] + 1
        texts[n, :drawn] = numbers(line.text[:drawn])
    return {"points": points, "texts": texts}


def numbers(words: str) -> list[int]:
    """The place of each character in EVERY, which begins with ALPHABET; of others, the last."""
    return [EVERY.index(character) if character in EVERY else len(EVERY) - 1 for character in words]


def moving(best: dict[str, Tree], test: Tree) -> dict[str, list[Any]]:
    """Let each network write TEXTS in a fixed time, beside the hand; a window may run ahead."""
    lines, written = [], lightly(sample)
    for at, words in enumerate(TEXTS):
        for method, params in best.items():
            numbered = jnp.array([numbers(words)])
            points, kappa = map(np.asarray, written(params, numbered, jax.random.key(at)))
            places = np.minimum(kappa, len(words))
            lines.append(_line(method, words, points * (UNIT, UNIT, 1), places))
        hand = write(words, np.random.default_rng(at))
        lines.append(_line("data", words, hand.points, hand.characters))
    return {"lines": lines}


def _line(method: str, words: str, points: Any, window: Any) -> dict[str, Any]:
    rounded = [[round(float(x), 2), round(float(y), 2), int(up)] for x, y, up in points]
    return {
        "method": method,
        "text": words,
        "points": rounded,
        "window": [round(float(place), 2) for place in window],
    }


EXPERIMENT = Experiment(
    name="handwriting",
    data=text("Lines of 504 steps in Hershey's script letters, drawn by a noisy hand."),
    unit=text("nats per step of the pen"),
    measure=text("−log-likelihood of held-out lines"),
    init=init,
    loss=loss,
    cases=data,
    moving=moving,
    batch=8,
    steps=1200,
    rates=(0.005, 0.01, 0.02, 0.04),
    sized=sized,
    own=text("a folder of IAM-OnDB, with lineStrokes and ascii"),
)
