"""The empirical Fisher: outer products of gradients at labels, against the expected Fisher.

    F = E_x E_{y∼P(y|x)}[ ∇log P(y|x) ∇log P(y|x)ᵀ ]    (Eq. 9)

With labels drawn from the model, their mean is a Monte Carlo estimate of Eq. 9. With the labels of
the data it is another matrix, the empirical Fisher, which describes the fit and not the KL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arrays import Array
from normgeo.fisher.operator import fisher
from normgeo.models.glm import NormalizedGLM


@final
@dataclass(frozen=True, eq=False)
class EmpiricalCurvatures:
    """vᵀFv in some directions v, for each choice of labels in the outer product; nats, per case.

    Attributes:
        expected: of the Fisher information, (k,).
        sampled: the mean over sets of labels drawn from the model, (k,). error: the standard error
            of that mean, (k,). draws: the number of sets.
        observed: with the labels of the data, (k,).

    """

    expected: Array
    sampled: Array
    error: Array
    draws: int
    observed: Array


def empirical_curvatures(
    model: NormalizedGLM,
    X: ArrayLike,
    y: ArrayLike,
    directions: Array,
    *,
    draws: int,
    rng: np.random.Generator,
) -> EmpiricalCurvatures:
    """Compare the three in some directions.

        vᵀ(∇log P ∇log Pᵀ)v = ( (J v)·(y − f(s))/φ )²

    Args:
        model: where in θ. X: (N, D). y: as the family takes it. directions: (k, P).
        draws: sets of labels, 2 or more. rng: draws them.

    Source: section 5.2.1, Eq. 9.

    """
    at = model.linearize(X)
    changes = at.jvp(directions)  # (k, N, H)
    f = model.family.mean(at.s)

    def outer(labels: Array) -> Array:
        slopes = np.einsum("knh,nh->kn", changes, (labels - f) / model.phi)
        curvature: Array = (slopes**2).mean(axis=1)
        return curvature

    sets = np.stack([outer(model.family.sample(at.s, rng, model.phi)) for _ in range(draws)])
    F = fisher(model, X)
    return EmpiricalCurvatures(
        expected=np.array([F.quad(v) for v in directions]),
        sampled=sets.mean(axis=0),
        error=sets.std(axis=0, ddof=1) / np.sqrt(draws),
        draws=draws,
        observed=outer(model.family.encode(y, len(model.W))),
    )
