"""The memory of a recurrence: the norm of ∂h^T/∂h^t, by products of Jacobians over time.

    ∂h^t/∂h^{t−1} = diag(f'(s^t)) ∂s^t/∂h^{t−1},    ∂h^T/∂h^t = J^T J^{T−1} … J^{t+1}

J^t = ∂h^t/∂h^{t−1} comes from the derivative of the layer in its inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from normgeo.base.arguments import instance_of, whole_number
from normgeo.base.arrays import Array
from normgeo.base.progress import Progress, Report
from normgeo.base.text import text
from normgeo.models.recurrence import Run

SIGN_NOTE = text(
    "With two neurons in a group z is only a sign, so no small change of a state reaches the next: "
    "its norm is 0, and the logarithm −∞. Use more neurons or fewer groups."
)


@final
@dataclass(frozen=True, eq=False)
class JacobianNorms:
    """The effect of a change of an earlier state on the last one, h^T.

    Attributes:
        times: the t of ∂h^T/∂h^t, ascending up to T, (K,).
        log10_norms: log₁₀ of its spectral norm, (K, S); −∞ if no change reaches h^T, as when
            every ReLU is off.
        notes: sentences on the numbers.

    """

    times: Array
    log10_norms: Array
    notes: tuple[str, ...]


def jacobian_norms(
    past: Run, *, points: int = 200, progress: Report | Progress | None = None
) -> JacobianNorms:
    """Return ‖∂h^T/∂h^t‖ (spectral norm) for t up to T = `past.steps`, for each sequence.

    The product is scaled after each factor and the logarithm of the scale is kept, so that norms
    far beyond the range of floating point keep their digits. It costs O(H³) per step and sequence.

    Args:
        past: the run. points: the largest number of times to report, evenly spread, at least 2.
        progress: called with (step, steps), backward from T; a stop keeps the times so far.

    Raises:
        ValueError: points below 2.

    """
    instance_of("past", past, Run)
    points = whole_number("points", points, 2)
    T, S, H = past.summed_inputs.shape
    layer = past.recurrence.layer
    if layer.normalizer.leaves_only_signs(len(layer.W)):
        times = np.array(sorted(_reported(T, points)))
        return JacobianNorms(
            times, np.where(times[:, None] < T, -np.inf, np.zeros(S)), (SIGN_NOTE,)
        )
    return norms_of_products(
        lambda product, t: product @ jacobian(past, t), (T, S, H), points, progress
    )


def norms_of_products(
    times_jacobian: Callable[[Array, int], Array],
    shape: tuple[int, int, int],
    points: int,
    progress: Report | Progress | None,
) -> JacobianNorms:
    """Return log₁₀‖J^T J^{T−1} … J^{t+1}‖ for t from T down to 0, and what is lost on the way.

    Args:
        times_jacobian: (product (S, K, K), t) → the product times J^t.
        shape: T, S and the length K of a state. points: how many times to report.
        progress: called with (step, steps), backward from T; a stop keeps the times so far.

    """
    T, S, K = shape
    wanted = _reported(T, points)
    product, exponent = np.broadcast_to(np.eye(K), (S, K, K)), np.zeros(S)
    reached, norms = [T], [np.zeros(S)]
    for t in Progress.of(progress).over(range(T - 1, -1, -1)):
        product, grown = rescaled(times_jacobian(product, t + 1))
        exponent = exponent + grown
        if t in wanted:
            with np.errstate(divide="ignore"):
                log = np.log10(np.linalg.norm(product, 2, axis=(1, 2)))
            reached.append(t)
            norms.append(exponent * np.log10(2) + log)
    logs = np.array(norms[::-1])
    return JacobianNorms(np.array(reached[::-1]), logs, _lost_notes(logs))


def _reported(steps: int, points: int) -> set[int]:
    """The times from 0 to T that are reported."""
    return set(np.linspace(0, steps, min(points, steps + 1)).round().astype(int).tolist())


def _lost_notes(logs: Array) -> tuple[str, ...]:
    """Say in how many sequences a change does not reach the last state; log₁₀ norms are (K, S)."""
    lost = int(np.isneginf(logs).any(axis=0).sum())
    note = text(
        "In {lost} of {S} sequences a change of some earlier state does not reach the last one "
        "at all: the product of the Jacobians is 0, for example where every neuron is off. Its "
        "logarithm is −∞.",
        lost=lost,
        S=logs.shape[1],
    )
    return (note,) if lost else ()


def jacobian(past: Run, t: int) -> Array:
    """Return ∂h^t/∂h^{t−1} of every sequence, (S, H, H), for t from 1 to `past.steps`."""
    layer, H = past.recurrence.layer, past.recurrence.neurons
    at = layer.linearize(past.step_inputs(t))
    # H directions for each case: cases and directions get an axis each.
    cases = replace(at.normalized, z=at.normalized.z[:, None], sigma=at.normalized.sigma[:, None])
    directions = past.factors[t - 1] * np.eye(H, layer.W.shape[1])
    columns = replace(at, normalized=cases).jvp_inputs(directions[None])
    rows: Array = layer.activation.slope(at.s)[:, :, None] * columns.swapaxes(1, 2)
    return rows


def rescaled(product: Array) -> tuple[Array, Array]:
    """Return matrices (S, H, H) scaled by powers of 2 to order one, and the powers."""
    _, exponent = np.frexp(np.abs(product).max(axis=(1, 2)))
    return np.ldexp(product, -exponent[:, None, None]), exponent
