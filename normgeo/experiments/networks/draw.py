"""Section 6.4: DRAW, a network that paints a digit stroke by stroke, and bounds its likelihood.

At each of T steps the encoder reads a patch of the picture and of what is still wrong with the
canvas, a latent z is drawn, and the decoder writes a patch to the canvas:

    ẑ^t ~ N(μ^t, σ^t),   canvas^t = canvas^{t−1} + write(h_dec^t)
    −bound = Σ_t KL(N(μ^t, σ^t) ‖ N(0, 1)) − log P(x | σ(canvas^T))

Source: Gregor, Danihelka, Graves, Rezende and Wierstra, DRAW: a recurrent neural network for image
generation, 2015.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from normgeo.base.text import text
from normgeo.datasets.datasets import load
from normgeo.experiments.networks.cells import Tree, init_linear, init_lstm, linear, lstm, rest
from normgeo.experiments.networks.compiled import Experiment, lightly

SIDE = 8  # pixels
GLIMPSES, NEURONS, LATENT = 5, 32, 8  # T, H of both cells, entries of z
PATCH = 5  # a patch is PATCH × PATCH
FIRST_SIZE = 0.1  # of the weights that place windows and write, as the original starts small
VALIDATION = TEST = 300  # pictures
SHOWN = (3, 5, 8)  # digits that are drawn for the page


class Course(NamedTuple):
    """What a step leaves: the canvas (S, 64) in log odds, the KL (S,), the window (S, 3)."""

    canvas: jax.Array
    kl: jax.Array
    window: jax.Array


def init(key: jax.Array, method: str) -> Tree:
    """Return first parameters."""
    keys = jax.random.split(key, 6)
    seen = 2 * PATCH * PATCH + NEURONS
    return {
        "encoder": init_lstm(keys[0], NEURONS, seen, method),
        "decoder": init_lstm(keys[1], NEURONS, LATENT, method),
        "latent": init_linear(keys[2], 2 * LATENT, NEURONS, FIRST_SIZE),
        "read": init_linear(keys[3], 5, NEURONS, FIRST_SIZE),
        "write": init_linear(keys[4], 5, NEURONS, FIRST_SIZE),
        "patch": init_linear(keys[5], PATCH * PATCH, NEURONS, FIRST_SIZE),
    }


def filters(unit: Tree, h: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Return F_y, F_x (S, PATCH, SIDE), the intensity γ (S, 1) and the window (S, 3).

    A grid of Gaussians whose center, stride δ and width are linear in h: Eq. 21 to 26 of DRAW. The
    window is its center x, y and its width, in pixels.
    """
    x, y, log_variance, log_stride, log_gamma = jnp.split(linear(unit, h), 5, axis=-1)
    center_x, center_y = ((SIDE + 1) * (at + 1) / 2 - 1 for at in (x, y))
    stride = (SIDE - 1) / (PATCH - 1) * jnp.exp(log_stride)
    along = jnp.arange(PATCH) - (PATCH - 1) / 2

    def bank(center: jax.Array) -> jax.Array:
        away = jnp.arange(SIDE) - (center + along * stride)[..., None]
        weights = jnp.exp(-(away**2) / (2 * jnp.exp(log_variance))[..., None])
        return weights / (weights.sum(-1, keepdims=True) + 1e-8)

    window = jnp.concatenate([center_x, center_y, PATCH * stride], axis=-1)
    return bank(center_y), bank(center_x), jnp.exp(log_gamma), window


def read(unit: Tree, h: jax.Array, picture: jax.Array, error: jax.Array) -> jax.Array:
    """Return γ F_y x F_xᵀ of the picture and of its error, (S, 2 PATCH²)."""
    rows, columns, gamma, _ = filters(unit, h)
    both = jnp.stack([picture, error], 1).reshape(-1, 2, SIDE, SIDE)
    patches = jnp.einsum("spi,scij,sqj->scpq", rows, both, columns)
    return gamma * patches.reshape(len(h), -1)


def write(params: Tree, h: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return F_yᵀ w F_x / γ, what is added to the canvas (S, 64), and the window."""
    rows, columns, gamma, window = filters(params["write"], h)
    patch = linear(params["patch"], h).reshape(-1, PATCH, PATCH)
    added = jnp.einsum("spi,spq,sqj->sij", rows, patch, columns)
    return added.reshape(len(h), -1) / gamma, window


def run(params: Tree, pictures: jax.Array, key: jax.Array) -> Course:
    """Paint pictures (S, 64) of 0 and 1 in T steps; each field has a leading axis of T."""
    S = len(pictures)

    def step(carry: Any, noise: jax.Array) -> tuple[Any, Course]:
        encoder, decoder, canvas = carry
        error = pictures - jax.nn.sigmoid(canvas)
        seen = read(params["read"], decoder[0], pictures, error)
        encoder = lstm(params["encoder"], encoder, jnp.concatenate([seen, decoder[0]], axis=-1))
        mean, log_sigma = jnp.split(linear(params["latent"], encoder[0]), 2, axis=-1)
        z = mean + jnp.exp(log_sigma) * noise
        kl = 0.5 * (mean**2 + jnp.exp(2 * log_sigma) - 2 * log_sigma - 1).sum(-1)
        decoder = lstm(params["decoder"], decoder, z)
        added, window = write(params, decoder[0])
        canvas = canvas + added
        return (encoder, decoder, canvas), Course(canvas, kl, window)

    noise = jax.random.normal(key, (GLIMPSES, S, LATENT))
    start = rest(S, NEURONS), rest(S, NEURONS), jnp.zeros_like(pictures)
    course: Course = jax.lax.scan(step, start, noise)[1]
    return course


def loss(params: Tree, cases: Tree, key: jax.Array) -> jax.Array:
    """Return −(variational bound) per picture, in nats."""
    pictures = cases["pictures"]
    course = run(params, pictures, key)
    log_odds = course.canvas[-1]
    likelihood = (pictures * log_odds - jax.nn.softplus(log_odds)).sum(-1)
    return (course.kl.sum(0) - likelihood).mean()


def data(where: str | None = None) -> tuple[Tree, Tree, Tree]:
    """Return digits to learn from, for validation and for the test: ink of at least half is 1."""
    digits = load("digits", standardize=False)
    order = np.random.default_rng(0).permutation(digits.N)
    pictures = (digits.raw[order] >= 8).astype(np.float32)
    labels = digits.y[order].astype(np.int32)
    ends = [digits.N - VALIDATION - TEST, digits.N - TEST]
    parts = zip(np.split(pictures, ends), np.split(labels, ends), strict=True)
    learned, validation, test = ({"pictures": p, "labels": y} for p, y in parts)
    return learned, validation, test


def moving(best: dict[str, Tree], test: Tree) -> dict[str, list[Any]]:
    """Let each network paint the first of some digits of the test set."""
    chosen = [int(np.flatnonzero(test["labels"] == digit)[0]) for digit in SHOWN]
    pictures = test["pictures"][np.array(chosen)]
    drawn = []
    for method, params in best.items():
        course = lightly(run)(params, pictures, jax.random.key(0))
        shades = np.rint(255 * jax.nn.sigmoid(course.canvas)).astype(int)
        for at, digit in enumerate(SHOWN):
            drawn.append(
                {
                    "method": method,
                    "digit": digit,
                    "target": pictures[at].astype(int).reshape(SIDE, SIDE).tolist(),
                    "canvases": shades[:, at].reshape(-1, SIDE, SIDE).tolist(),
                    "windows": np.round(course.window[:, at].astype(float), 2).tolist(),
                }
            )
    return {"pictures": drawn}


EXPERIMENT = Experiment(
    name="draw",
    data=text("1,797 handwritten digits of 8 × 8 pixels, of scikit-learn, each pixel 0 or 1."),
    unit=text("nats per picture"),
    measure=text("−(variational bound) on held-out pictures"),
    init=init,
    loss=loss,
    cases=data,
    moving=moving,
    batch=32,
    steps=2400,
    rates=(0.003, 0.01, 0.02, 0.04),
)
