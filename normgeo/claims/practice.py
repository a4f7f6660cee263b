"""Statements on batches, tests and the last layer: sections 1 to 3 and 6.6."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.claims.claim import HOLDS, HOLDS_IF, Claim, Finding, by_method, numbers, plain
from normgeo.claims.examples import PAPER, ROUNDING, Example, moved
from normgeo.normalizers.batch_statistics import batch_noise
from normgeo.normalizers.named import NORMALIZERS

BATCHES = 400  # of each size
SPREAD = 0.2  # by which √m times an error may vary: the batches are a sample


def _one_case(example: Example) -> Finding:
    """Put other cases around a first one, and leave it alone."""
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
    """Return √m times the error of μ over σ, which the law says is the same for every m."""
    noise = batch_noise(
        A, example.rng(), sizes=np.array(sizes), batches=BATCHES, replacement=replacement
    )
    error = np.sqrt(((noise.mean_error / noise.sigma) ** 2).mean(axis=1))
    scaled: list[float] = (error * np.sqrt(noise.sizes)).tolist()
    return scaled


def _logits(example: Example) -> Finding:
    """Multiply the inputs of a softmax, as they are and normalized over the classes."""
    model = example.model("standard", "categorical")
    s = model.natural_parameter(example.X)
    layer = NORMALIZERS["layer"]
    confidence, change = {}, {}
    for k in (0.1, 1.0, 10.0):
        p = model.family.mean(k * s)
        confidence[f"{k:g} s"] = float(p.max(axis=1).mean())
        normalized = model.family.mean(layer.normalize(k * model.W, example.X).z)
        change[f"{k:g} s"] = float(normalized.max(axis=1).mean())
    least, *_, most = confidence.values()
    spread = max(change.values()) - min(change.values())
    return plain(
        least < 0.5 and most > 0.9 and spread < ROUNDING,
        numbers(text("mean probability of the likeliest class"), confidence)
        + numbers(text("the same, normalized over the classes"), change),
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
            "The scale of a softmax's inputs decides how confident it is, so they are not "
            "normalized."
        ),
        text("section 6.6"),
        _logits,
        HOLDS,
    ),
)
