"""A statement on attention with a norm of queries and keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from normgeo.base.text import text
from normgeo.claims.claim import HOLDS, LATER, Claim, Finding, by_method, plain
from normgeo.claims.examples import ROUNDING, Example
from normgeo.networks.attention import AttentionHead
from normgeo.normalizers.named import NORMALIZERS

LARGE = 1000.0  # factor on the weights


def _logits(example: Example) -> Finding:
    """Scale W_q and W_k by a thousand; then make keys equal to queries."""
    X, d = example.X, example.neurons
    grown: dict[str, float] = {}
    attained: dict[str, float] = {}
    for method in ("standard", "layer", "rms"):
        head = AttentionHead.random(NORMALIZERS[method], d, X.shape[1], example.rng())
        before, after = (np.abs(at.logits(X)).max() for at in (head, head.times(LARGE)))
        grown[method] = float(after / before)
        if method != "standard":
            own = np.diag(replace(head, W_k=head.W_q).logits(X))
            attained[method] = float(np.abs(own / d**0.5 - 1).max())
    off = [abs(grown[method] - 1) for method in attained]
    return plain(
        max(*off, *attained.values(), abs(grown["standard"] / LARGE**2 - 1)) < ROUNDING,
        by_method(text("largest logit, W_q and W_k × 1000"), grown)
        + by_method(text("distance of a token's own logit from √d, W_k = W_q"), attained),
    )


CLAIMS = (
    Claim(
        "logits_bounded",
        text(
            "Under a layer norm or RMS norm of queries and keys the logits of attention do not "
            "grow with W_q and W_k, and a key that is its query has √d; without it they grow as "
            "the product of both."
        ),
        text("Dehghani et al. 2023, Scaling Vision Transformers to 22 Billion Parameters"),
        _logits,
        HOLDS,
        "depth?tab=attention",
        remark=text(
            "At ε = 0 and gains of 1; by Cauchy and Schwarz √d is then the largest logit. "
            "Henry et al. 2020 divide queries and keys by their ℓ2 norms, which is RMS norm over "
            "√d, and learn one factor."
        ),
        kind=LATER,
    ),
)
