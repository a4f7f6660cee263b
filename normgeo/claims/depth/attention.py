"""A statement on attention with a norm of queries and keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from normgeo.base.text import text
from normgeo.claims.claim import (
    HOLDS,
    LATER,
    Claim,
    Finding,
    by_method,
    plain,
)
from normgeo.claims.examples import ROUNDING, Example
from normgeo.depth.attention import AttentionHead
from normgeo.depth.attention_ignored import attention_ignored
from normgeo.normalizers.named import NORMALIZERS

LARGE = 1000.0  # a factor on weights


def _logits(example: Example) -> Finding:
    """Make W_q and W_k a thousand times as large; then let keys be queries."""
    X, d = example.X, example.neurons
    largest: dict[str, float] = {}
    attained: dict[str, float] = {}
    free: dict[str, bool] = {}
    for method in ("standard", "layer", "rms"):
        head = AttentionHead.random(NORMALIZERS[method], d, X.shape[1], example.rng())
        before, after = (np.abs(at.logits(X)).max() for at in (head, head.times(LARGE)))
        found = attention_ignored(head.normalizer, example.seed)
        free[method] = found["q_times"].certified and found["k_times"].certified
        largest[method] = float(after / before)
        bound = head.bound(X)
        if bound is not None:
            own = np.diag(replace(head, W_k=head.W_q).logits(X)) / bound
            attained[method] = float(own.max())
            free[method] = free[method] and float(after) <= bound * (1 + ROUNDING)
    held = all(free[m] and abs(attained[m] - 1) < ROUNDING for m in attained)
    grows = abs(largest["standard"] / LARGE**2 - 1) < ROUNDING and not free["standard"]
    return plain(
        held and grows and len(attained) == 2,
        by_method(text("largest logit, W_q and W_k × 1000"), largest)
        + by_method(text("a token's own logit over the bound, W_k = W_q"), attained),
    )


CLAIMS = (
    Claim(
        "logits_bounded",
        text(
            "A layer norm or RMS norm of queries and keys bounds the logits of attention by g²√d, "
            "however large W_q and W_k become; without it they grow as the product of both."
        ),
        text("Henry et al. 2020, Query-Key Normalization for Transformers"),
        _logits,
        HOLDS,
        "depth?tab=attention",
        remark=text("The bound is attained where a key is its query."),
        kind=LATER,
    ),
)
