"""One head of attention over the tokens of a sequence, with or without a norm of q and k.

    q = g_q N(x W_qᵀ),    k = g_k N(x W_kᵀ),    logit_ij = q_i·k_j/√d,    weights = softmax over j

With QK-norm N averages over the d dimensions of the head, or is any other center and scale;
without, it is the standard normalizer.
Source: Henry et al., Query-Key Normalization for Transformers, 2020.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, whole_number
from normgeo.base.arrays import Array, real_array
from normgeo.normalizers.normalizer import Normalizer


@final
@dataclass(frozen=True, eq=False)
class Head:
    """A head of attention.

    Attributes:
        normalizer: N. W_q, W_k: (d, F). g_q, g_k: (d,).

    """

    normalizer: Normalizer
    W_q: Array
    W_k: Array
    g_q: Array
    g_k: Array

    @classmethod
    def random(
        cls, normalizer: Normalizer, dimension: int, features: int, rng: np.random.Generator
    ) -> Head:
        """Return a head with weights of variance 1/F and gains 1.

        Args:
            normalizer: N. dimension: d. features: F of a token.

        """
        instance_of("normalizer", normalizer, Normalizer)
        instance_of("rng", rng, np.random.Generator)
        d, F = whole_number("dimension", dimension, 1), whole_number("features", features, 1)
        W_q, W_k = rng.standard_normal((2, d, F)) / F**0.5
        return cls(normalizer, W_q, W_k, np.ones(d), np.ones(d))

    def times(self, factor: float) -> Head:
        """Return the head with W_q and W_k multiplied by a factor."""
        return replace(self, W_q=self.W_q * factor, W_k=self.W_k * factor)

    def logits(self, X: ArrayLike) -> Array:
        """Return the logits (T, T) of tokens X (T, F), queries by keys; raises where N has no z."""
        q = self.g_q * self.normalizer.normalize(self.W_q, X).z
        k = self.g_k * self.normalizer.normalize(self.W_k, X).z
        logits: Array = q @ k.T / len(self.W_q) ** 0.5
        return logits

    def weights(self, X: ArrayLike) -> Array:
        """Return how much each token takes of each other, (T, T), rows of sum 1."""
        logits = self.logits(X)
        grown = np.exp(logits - logits.max(axis=1, keepdims=True))
        weights: Array = grown / grown.sum(axis=1, keepdims=True)
        return weights

    def bound(self, X: ArrayLike) -> float | None:
        """Return what no |logit| of tokens X (T, F) exceeds, whatever W_q and W_k; None for none.

        |q·k| ≤ max|g_q g_k| |N||N|, and |N| is √d at most where N averages over the d dimensions,
        √(d(T − 1)) or √(dT) where it averages over the tokens, √d·max|x| over the weights.

        >>> from normgeo import NORMALIZERS
        >>> rng = np.random.default_rng(0)
        >>> Head.random(NORMALIZERS["rms"], 16, 4, rng).bound(np.eye(4))
        4.0

        """
        tokens, scale = real_array("X", X, 2), self.normalizer.scaling
        if not self.normalizer.bounds_outputs:
            return None
        square = float(len(self.W_q))
        if scale.shared_by_cases:
            square *= len(tokens) - self.normalizer.centering.shared_by_cases
        elif not scale.shared_by_neurons:
            centered = self.normalizer.over(tokens, len(self.W_q)).X_centered
            square *= float((centered**2).sum(axis=1).max())
        gain = float(np.abs(self.g_q * self.g_k).max())
        return float(gain * square / len(self.W_q) ** 0.5)
