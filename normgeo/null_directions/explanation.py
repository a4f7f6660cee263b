"""Reasons for each null direction of the Fisher information.

A direction v is null because some link of this chain maps it to zero:

    dθ  →  dC = X̃ dW̃ᵀ  →  dz  →  ds = g dz + z dg + db  →  (A''/φ)^½ ds

Up to ds: a change of the weights that z ignores, gains, biases, data, or too few cases. The last
link: the softmax, which ignores s ↦ s + c(x) 1, or saturated outputs. The reasons are applied in
the order of `REASONS`; each is credited with the dimensions that the earlier ones left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, word_of
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.subspaces import without
from normgeo.models.glm import NormalizedGLM
from normgeo.null_directions.null_chain import NullChain
from normgeo.null_directions.null_space import INSIDE, NullSpace
from normgeo.null_directions.reasons import REASONS


@final
@dataclass(frozen=True, eq=False)
class Reason:
    """One possible reason for null directions.

    Attributes:
        key, title: its names. sentence: its meaning here.
        span: the dimension of all tangents of the change, for reasons that are changes.
        null: how many of these dimensions are null.
        angles: the principal angles of the tangents to the null space in radians, ascending, with
            every parameter in its unit of `Equilibrated`; else empty.
        held: the dimension of the null directions that it explains.
        added: how many of these no earlier reason explains.
        basis: (P, added), orthonormal, of the added ones in θ.

    """

    key: str
    title: str
    sentence: str
    span: int
    null: int
    angles: Array
    held: int
    added: int
    basis: Array

    @property
    def overlap(self) -> int:
        """The number of its dimensions that earlier reasons explain."""
        return self.held - self.added

    @property
    def angle(self) -> float | None:
        """The largest principal angle in radians; None for a reason that is not a change."""
        return float(self.angles[-1]) if len(self.angles) else None


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """The reasons for a null space.

    Attributes:
        null: the null space. reasons: in the order in which they are credited.
        rest: (P, k), an orthonormal basis in θ of the unexplained null directions.

    """

    null: NullSpace
    reasons: tuple[Reason, ...]
    rest: Array

    @property
    def explained(self) -> int:
        """The number of null directions with a reason."""
        return sum(reason.added for reason in self.reasons)

    @property
    def unexplained(self) -> int:
        """The number of null directions without a known reason."""
        return self.null.dimension - self.explained

    def reason(self, key: str) -> Reason:
        """Return one reason by its key.

        Raises:
            ValueError: no reason has this key.

        """
        found = {reason.key: reason for reason in self.reasons}
        return found[word_of("key", key, found)]


def explain(model: NormalizedGLM, X: ArrayLike, null: NullSpace) -> Explanation:
    """Explain the null directions of a model's Fisher information over X (N, D).

    Raises:
        ValueError: the null space of a model of another size.

    Source: section 5.2.2 with Table 1: along a change that z ignores the KL stays 0.

    >>> from normgeo import NORMALIZERS, NormalizedGLM
    >>> from normgeo.fisher.operator import fisher
    >>> from normgeo.null_directions.null_space import null_space
    >>> X = np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 1.0]])
    >>> model = NormalizedGLM(NORMALIZERS["batch"], "gaussian", [[1.0, 0.0], [2.0, 1.0]])
    >>> found = explain(model, X, null_space(fisher(model, X)))
    >>> [(reason.key, reason.added) for reason in found.reasons if reason.added]
    [('weight_matrix_rescaling', 1), ('weight_vector_rescaling', 1)]

    """
    instance_of("model", model, NormalizedGLM)
    if model.layout != instance_of("null", null, NullSpace).layout:
        raise Refusal(
            "`null` must be a null space of this model, with {layout}; got one with {other}.",
            layout=model.layout,
            other=null.layout,
        )
    at = model.linearize(X)
    chain = NullChain(model, at.own_neuron() if null.which.coupling == "paper" else at, null)
    reasons: list[Reason] = []
    credited = np.zeros((null.dimension, 0))
    for find in REASONS:
        for found in find(chain, credited):
            # In coordinates of the null space, so that no more than its dimension is credited.
            part = without(null.coordinates.T @ found.part, credited[:, :0], INSIDE)
            new = without(part, credited, chain.independent)
            credited = np.concatenate([credited, new], axis=1)
            reasons.append(
                Reason(
                    found.key,
                    found.title,
                    found.sentence,
                    found.span,
                    found.null,
                    found.angles,
                    part.shape[1],
                    new.shape[1],
                    chain.theta(null.coordinates @ new),
                )
            )
    return Explanation(null, tuple(reasons), chain.theta(chain.left(credited)))
