"""One attention head over the tokens of a sequence, with or without a norm of q and k.

    q = g_q N(x W_qᵀ),    k = g_k N(x W_kᵀ),    logit_ij = q_i·k_j/√d,    weights = softmax over j

With QK-norm N averages over the d dimensions of the head, or is any other center and scale; without
QK-norm, N is the standard normalizer.
Source: Dehghani et al., Scaling Vision Transformers to 22 Billion Parameters, 2023, for layer norm;
Henry et al., Query-Key Normalization for Transformers, 2020, divide by ℓ2 norms: RMS norm over √d.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, real_number, whole_number
from normgeo.base.arrays import Array, require_room
from normgeo.base.constant import Constant
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.networks.parameters import of_shape, require_finite
from normgeo.normalizers.named import normalizer_of
from normgeo.normalizers.normalizer import Normalizer


@final
@dataclass(init=False, eq=False)
class AttentionHead(Constant):
    """An attention head, with or without a norm of its queries and keys (QK-norm).

        q = g_q N(x W_qᵀ),    k = g_k N(x W_kᵀ),    logit_ij = q_i·k_j/√d

    Attributes:
        normalizer: N, the standard one for no norm. W_q, W_k: (d, F). g_q, g_k: (d,), 1 if omitted.

    Raises:
        ValueError: bad shapes or numbers, or frozen statistics.

    Source: Dehghani et al., Scaling Vision Transformers to 22 Billion Parameters, 2023.

    >>> from normgeo import NORMALIZERS
    >>> AttentionHead(NORMALIZERS["rms"], np.eye(2), np.eye(2)).logits([[3.0, 4.0]]).round(9)
    array([[1.41421356]])

    """

    normalizer: Final[Normalizer]
    W_q: Final[Array]
    W_k: Final[Array]
    g_q: Final[Array]
    g_k: Final[Array]

    def __init__(
        self,
        normalizer: Normalizer | str,
        W_q: ArrayLike,
        W_k: ArrayLike,
        g_q: ArrayLike | None = None,
        g_k: ArrayLike | None = None,
    ) -> None:
        """Take the weights of queries and keys, and their gains."""
        self.normalizer = require_current(normalizer)
        self.W_q = of_shape("W_q", W_q, None, None)
        d, F = self.W_q.shape
        self.W_k = of_shape("W_k", W_k, d, F)
        self.g_q = of_shape("g_q", np.ones(d) if g_q is None else g_q, d)
        self.g_k = of_shape("g_k", np.ones(d) if g_k is None else g_k, d)

    @classmethod
    def random(
        cls, normalizer: Normalizer | str, dimension: int, features: int, rng: np.random.Generator
    ) -> AttentionHead:
        """Return a head with Gaussian weights of variance 1/F and gains 1.

        Args:
            normalizer: N. dimension: d. features: F of a token.

        Raises:
            ValueError: bad arguments, or weights that take too much memory.

        """
        normalizer = normalizer_of(normalizer)
        instance_of("rng", rng, np.random.Generator)
        d, F = whole_number("dimension", dimension, 1), whole_number("features", features, 1)
        require_room("W_q and W_k", 2, d, F)
        W_q, W_k = rng.standard_normal((2, d, F)) / F**0.5
        return cls(normalizer, W_q, W_k)

    def times(self, factor: float) -> AttentionHead:
        """Return the head with W_q and W_k multiplied by a factor; raises if they overflow."""
        number = real_number("factor", factor)
        with np.errstate(over="ignore"):
            W_q, W_k = self.W_q * number, self.W_k * number
        return AttentionHead(self.normalizer, W_q, W_k, self.g_q, self.g_k)

    def logits(self, X: ArrayLike) -> Array:
        """Return the logits (T, T) of tokens X (T, F), queries by keys.

        Raises:
            ValueError: bad tokens, an undefined z, logits that overflow or take too much memory.

        """
        tokens = of_shape("X", X, None, self.W_q.shape[1])
        require_room(text("The logits of all pairs of tokens"), len(tokens), len(tokens))
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            q = self.g_q * self.normalizer.normalize(self.W_q, tokens).z
            k = self.g_k * self.normalizer.normalize(self.W_k, tokens).z
            logits: Array = q @ k.T / len(self.W_q) ** 0.5
        require_finite(text("The logits"), [logits])
        return logits

    def weights(self, X: ArrayLike) -> Array:
        """Return the attention weights (T, T), whose rows sum to 1; raises as `logits` does."""
        logits = self.logits(X)
        with np.errstate(over="ignore", under="ignore"):
            grown = np.exp(logits - logits.max(axis=1, keepdims=True))
        weights: Array = grown / grown.sum(axis=1, keepdims=True)
        return weights

    def bound(self, X: ArrayLike) -> float | None:
        """Return a bound on |logit| of tokens X (T, F) for any W_q and W_k; None if there is none.

        |q·k| ≤ max|g_q g_k| |N||N|, and |N| is at most √d if N averages over the d
        dimensions, √(d(T − 1)) or √(dT) if it averages over the tokens, √d·max|x| if over the
        weights.

        Raises:
            ValueError: bad tokens, or a bound that overflows.

        >>> from normgeo import NORMALIZERS
        >>> rng = np.random.default_rng(0)
        >>> AttentionHead.random(NORMALIZERS["rms"], 16, 4, rng).bound(np.eye(4))
        4.0

        """
        tokens, scale = of_shape("X", X, None, self.W_q.shape[1]), self.normalizer.scaling
        if not self.normalizer.bounds_outputs:
            return None
        square = float(len(self.W_q))
        if scale.shared_by_cases:
            square *= len(tokens) - self.normalizer.centering.shared_by_cases
        elif not scale.shared_by_neurons:
            centered = self.normalizer.over(tokens, len(self.W_q)).X_centered
            with np.errstate(over="ignore", under="ignore"):
                square *= float((centered**2).sum(axis=1).max())
        with np.errstate(over="ignore", under="ignore"):
            bound = np.abs(self.g_q * self.g_k).max() * square / len(self.W_q) ** 0.5
        require_finite(text("The bounds"), [bound])
        return float(bound)


def require_current(normalizer: Normalizer | str) -> Normalizer:
    """Return a normalizer that uses the statistics of the tokens; refuse frozen ones."""
    normalizer = normalizer_of(normalizer)
    if normalizer.statistics == "frozen":
        raise Refusal(
            "A head is looked at with the statistics of its tokens; got a normalizer with "
            'frozen ones. Use statistics="current".'
        )
    return normalizer
