"""Statements on batches, tests and the last layer: sections 1 to 3 and 6.6."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.claims.claim import HOLDS, HOLDS_IF, Claim, Finding, by_method, number, numbers, plain
from normgeo.claims.examples import PAPER, ROUNDING, Example, moved
from normgeo.dynamics.descent import descend
from normgeo.normalizers.batch_statistics import batch_noise
from normgeo.normalizers.named import NORMALIZERS

BATCHES = 400  # of each size
STEPS, RATE = 30, 0.3
SPREAD = 0.2  # relative variation allowed for √m times an error, since the batches are a sample


def _one_case(example: Example) -> Finding:
    """Replace all cases of a batch but the first."""
    X, change = example.X, {}
    W = example.model("layer", "gaussian").W
    others = np.vstack([X[:1], example.rng().uniform(-9, 9, X[1:].shape)])
    for method in PAPER:
        before, after = (NORMALIZERS[method].normalize(W, cases).z[:1] for cases in (X, others))
        change[method] = moved(before, after)
    alone = {
        method: not NORMALIZERS[method].undefined(1, *W.shape) for method in ("layer", "batch")
    }
    return plain(
        change["layer"] < ROUNDING < change["batch"] and alone["layer"] and not alone["batch"],
        by_method(text("change of z among other cases"), change)
        + by_method(text("has a z for one case"), alone),
    )


def _batch_noise(example: Example) -> Finding:
    """Draw batches of the digits with and without replacement, up to half of all cases."""
    X, _ = example.images
    A = X @ example.model("batch", "gaussian", features=X.shape[1]).W.T
    few, many = (4, 8), (4, 16, len(X) // 2)
    errors = {
        text("with replacement"): _scaled_errors(A, example, many, replacement=True),
        text("without, m ≪ N"): _scaled_errors(A, example, few, replacement=False),
        text("without"): _scaled_errors(A, example, many, replacement=False),
    }
    off = {how: max(found) / min(found) - 1 for how, found in errors.items()}
    *lawful, without = off.values()
    return Finding(
        max(off.values()) < SPREAD,
        max(lawful) < SPREAD < without,
        numbers(text("how far the error of μ times √m varies, m from 4 to N/2"), off),
    )


def _scaled_errors(
    A: Array, example: Example, sizes: Sequence[int], replacement: bool
) -> list[float]:
    """Return √m times the error of μ over σ, which is equal for every m by the law."""
    noise = batch_noise(
        A, example.rng(), sizes=np.array(sizes), batches=BATCHES, replacement=replacement
    )
    error = np.sqrt(((noise.mean_error / noise.sigma) ** 2).mean(axis=1))
    scaled: list[float] = (error * np.sqrt(noise.sizes)).tolist()
    return scaled


def _logits(example: Example) -> Finding:
    """Fit a softmax to digits without a norm, and with layer norm, gains of 1 or learned ones."""
    (X, y), loss = example.images, {}
    for name, method, affine_rate in (
        (text("no norm"), "standard", RATE),
        (text("layer norm, gains learned"), "layer", RATE),
        (text("layer norm, gains of 1"), "layer", 0.0),
    ):
        model = example.digits_model(method)
        H = len(model.W)
        plain_start = model.layout.pack(
            model.W, np.zeros(H), None if model.g is None else np.ones(H)
        )
        start = model.unpack(plain_start)
        run = descend(start, X, y, "momentum", steps=STEPS, rate=RATE, affine_rate=affine_rate)
        loss[name] = float(run.loss[-1])
    # The largest of H normalized inputs is at most √(H − 1); then all others are −1/√(H − 1).
    least = float(np.log1p((H - 1) * np.exp(-H / np.sqrt(H - 1))))
    free, learned, held = loss.values()
    return Finding(
        free < least / 2 and min(learned, held) > least,
        max(free, learned) < least / 2 and held > least,
        numbers(text("loss after {steps} steps", steps=STEPS), loss, text("nats"))
        + number(text("least loss at gains of 1"), least, text("nats")),
    )


CLAIMS = (
    Claim(
        "one_case",
        text("Layer norm treats each case by itself, so that a batch may hold a single one."),
        text("section 3"),
        _one_case,
        HOLDS,
        "batch",
        remark=text(
            "Batch norm gives the same case a different z in a different batch, and no z in a "
            "batch of one."
        ),
    ),
    Claim(
        "batch_noise",
        text("In a mini-batch of m cases, μ is an estimate whose error falls as 1/√m."),
        text("section 2"),
        _batch_noise,
        HOLDS_IF,
        "batch?tab=noise",
        condition=text("the batches are drawn with replacement, or m ≪ N"),
        remark=text(
            "Without replacement the error is √((N − m)/(N − 1)) as large, and 0 for all cases."
        ),
    ),
    Claim(
        "logits",
        text(
            "The scale of a softmax's inputs decides how confident it can be, so they are not "
            "normalized."
        ),
        text("section 6.6"),
        _logits,
        HOLDS_IF,
        condition=text("the gains stay 1; learned gains set the scale again"),
        remark=text(
            "A softmax of ten classes fitted to digits. At gains of 1 and without biases "
            "no probability exceeds 76 %, "
            "so the loss stays above 0.28 nats, however long it learns."
        ),
    ),
)
