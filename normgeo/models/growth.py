"""The growth of a small change of a recurrent state per step, at many spectral radii.

    ‖∂h^T/∂h⁰‖^(1/T),    ∂h^T/∂h⁰ = J^T … J¹,    a^t = W_hh (ρ h^{t−1}) + W_xh x^t

With W_hh of spectral radius 1, multiplying the state by ρ has the effect of multiplying the
weights. If no statistic depends on the weights themselves, all radii run as cases of one layer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, whole_number
from normgeo.base.arrays import Array, real_array
from normgeo.base.progress import Progress, Report
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.models.jacobian_norms import SIGN_NOTE, rescaled
from normgeo.models.recurrence import Recurrence


@final
@dataclass(frozen=True, eq=False)
class Growth:
    """The growth of a small change of the first state.

    Attributes:
        log10_factors: log₁₀ of the factor per step, (R, S); −∞ if no change arrives.
        steps: T, fewer than requested if the run had to end.
        notes: sentences on the numbers.

    """

    log10_factors: Array
    steps: int
    notes: tuple[str, ...] = ()


def growth(
    recurrence: Recurrence,
    X: ArrayLike,
    h0: ArrayLike,
    *,
    factors: ArrayLike = (1.0,),
    steps: int,
    progress: Report | Progress | None = None,
) -> Growth:
    """Return the growth per step of a small change of h⁰, for states multiplied by each factor.

    Args:
        recurrence: the layer. X: S sequences of L steps of F features, (S, L, F), read again from
            their start. h0: the first states, (S, H).
        factors: ρ > 0, multiplies each state before a step, (R,).
        steps: T ≥ 1.
        progress: called with (step, steps); a stop ends the run early.

    Raises:
        ValueError: bad shapes or numbers, or a first step without z.

    """
    layer, H = instance_of("recurrence", recurrence, Recurrence).layer, recurrence.neurons
    inputs, states = real_array("X", X, 3), real_array("h0", h0, 2)
    rho = real_array("factors", factors, 1)
    T = whole_number("steps", steps, 1)
    S, R = len(states), len(rho)
    if inputs.shape != (S, inputs.shape[1], layer.W.shape[1] - H) or states.shape[1] != H:
        raise Refusal(
            "`X` (S, L, F) and `h0` (S, H) must have a row for each of the S sequences, with "
            "the {F} features and {H} neurons of the recurrence; got shapes {X} and {h0}.",
            F=layer.W.shape[1] - H,
            H=H,
            X=inputs.shape,
            h0=states.shape,
        )
    if (rho <= 0).any():
        raise Refusal("`factors` must be above 0; the least is {least:g}.", least=float(rho.min()))
    if layer.normalizer.leaves_only_signs(H):
        return Growth(np.full((R, S), -np.inf), T, (SIGN_NOTE,))
    inputs, state = np.tile(inputs, (R, 1, 1)), np.tile(states, (R, 1))
    scale = np.repeat(rho, S)[:, None]
    # Row k of a product is the derivative of h^t in neuron k of h⁰; the inputs are fixed.
    product, exponent = np.broadcast_to(np.eye(H), (R * S, H, H)), np.zeros(R * S)
    no_input = np.zeros((R * S, H, inputs.shape[2]))
    taken, notes = 0, []
    for t in Progress.of(progress).over(range(T)):
        try:
            at = layer.linearize(np.hstack([scale * state, inputs[:, t % inputs.shape[1]]]))
        except Refusal as error:
            if not taken:
                raise
            notes.append(text("The runs end after {t} steps. {error}", t=taken, error=error))
            break
        cases = replace(
            at.normalized, z=at.normalized.z[:, None], sigma=at.normalized.sigma[:, None]
        )
        moved = np.concatenate([scale[:, None] * product, no_input], axis=2)
        answer = replace(at, normalized=cases).jvp_inputs(moved)
        product, grown = rescaled(layer.activation.slope(at.s)[:, None] * answer)
        exponent, state = exponent + grown, layer.activation.value(at.s)
        taken += 1
    with np.errstate(divide="ignore"):
        logs = exponent * np.log10(2) + np.log10(np.linalg.norm(product, 2, axis=(1, 2)))
    return Growth(logs.reshape(R, S) / max(taken, 1), taken, tuple(notes))
