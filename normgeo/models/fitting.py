"""Penalized maximum likelihood of a normalized generalized linear model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import isfinite
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from normgeo.base.arguments import instance_of, real_number, whole_number
from normgeo.base.arrays import Array
from normgeo.base.progress import Progress, Report
from normgeo.base.refusal import Refusal
from normgeo.models.glm import NormalizedGLM
from normgeo.models.objective import Objective


@final
@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model and how the fit ended.

    Attributes:
        model: the model. loss: −mean log-likelihood, nats per case. penalty: the ridge term.
        iterations: of L-BFGS. converged: whether it met its tolerance. message: L-BFGS's own.

    """

    model: NormalizedGLM
    loss: float
    penalty: float
    iterations: int
    converged: bool
    message: str


def fit(
    start: NormalizedGLM,
    X: ArrayLike,
    y: ArrayLike,
    *,
    ridge: float = 1e-2,
    progress: Report | Progress | None = None,
    max_iterations: int = 500,
) -> Fit:
    """Fit a model by penalized maximum likelihood (scipy's L-BFGS), from the model `start`.

        minimize  −mean log P(y|x) + (λ/2) (‖g‖² + ‖W_free‖²)

    W_free are the weights outside the homogeneous blocks. A penalty on weights whose norm z
    ignores would only drive them to zero; without any penalty, separable classes have no maximum.

    Args:
        start: the normalizer, family and first parameters. X: (N, D). y: as the family takes.
        ridge: λ ≥ 0.
        progress: called with (iteration, max_iterations); a stop ends the fit early.
        max_iterations: of L-BFGS.

    Raises:
        ValueError: a negative λ, or what the model and the family refuse.

    """
    instance_of("start", start, NormalizedGLM)
    ridge = real_number("ridge", ridge, least=0)
    max_iterations = whole_number("max_iterations", max_iterations, 1)
    objective, penalized = Objective.of(start, X, y), _penalized(start)

    def penalized_loss(theta: Array) -> tuple[float, Array]:
        with np.errstate(over="ignore", invalid="ignore"):
            point, shrunk = objective.at(theta), penalized * theta
            loss = point.loss + ridge / 2 * float(shrunk @ theta)
            gradient = point.gradient() + ridge * shrunk
        if not (isfinite(loss) and np.isfinite(gradient).all()):
            raise Refusal(
                "The loss with its penalty, or its gradient, exceeds the largest float. Start "
                "from smaller weights and gains, or ask for a smaller `ridge`."
            )
        return loss, gradient

    watched, iterations = Progress.of(progress), count(1)

    def tell(intermediate_result: optimize.OptimizeResult) -> None:
        if not watched.tell(next(iterations), max_iterations):
            raise StopIteration  # scipy's own word for it

    result = optimize.minimize(
        penalized_loss,
        start.pack(),
        jac=True,
        method="L-BFGS-B",
        callback=tell,
        options={"maxiter": max_iterations, "gtol": 1e-7, "ftol": 1e-13},
    )
    penalty = ridge / 2 * float((penalized * result.x) @ result.x)
    return Fit(
        start.unpack(result.x),
        float(result.fun) - penalty,
        penalty,
        int(result.nit),
        bool(result.success),
        str(result.message),
    )


def _penalized(model: NormalizedGLM) -> Array:
    """Return 1 where the ridge acts on θ and 0 elsewhere, (P,)."""
    W = np.ones(model.W.shape)
    for block in model.normalizer.homogeneous_blocks(len(W)):
        W[block] = 0.0
    gain = None if model.g is None else np.ones(len(W))
    return model.layout.pack(W, np.zeros(len(W)), gain)
