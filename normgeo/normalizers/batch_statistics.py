"""Batch statistics as estimates: the errors of a batch's μ and σ against those of all cases.

For a neuron with summed inputs of mean μ, standard deviation σ and kurtosis κ = E[(a − μ)⁴]/σ⁴
over all N cases, a batch of m of them has, to first order in 1/m,

    √E(μ_B − μ)² = σ √(f/m),    √E(σ_B − σ)² = σ √((κ − 1) f/(4m)),    f = (N − m)/(N − 1)

f is the finite-population correction for batches drawn without replacement; with replacement it
is 1. The first is exact. The second linearizes the square root (delta method): for small m it
overestimates if κ is large, and underestimates if κ is small. A layer statistic does not depend on
the batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import flag, instance_of, whole_number, whole_numbers
from normgeo.base.arrays import Array, real_array, weights_and_inputs
from normgeo.base.progress import Progress, Report
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.normalizers.means import mean_along, without
from normgeo.normalizers.named import normalizer_of
from normgeo.normalizers.normalizer import Normalizer

ONE_CASE = text(
    "A batch of one case is its own mean, so a − μ = 0 and σ = 0: z = 0/0 for every neuron, "
    "whatever the case. Use at least 2 cases, or the statistics of other cases."
)

TWO_CASES = text(
    "Of two cases one is as far above their mean as the other is below it, so z = ±1 for every "
    "neuron, whatever the cases: z only tells which of the two summed inputs is larger."
)


@final
@dataclass(frozen=True, eq=False)
class BatchNoise:
    """The scatter of μ and σ of batches around those of all cases.

    Attributes:
        sizes: m, (M,). batches: the number drawn of each size.
        replacement: whether batches are drawn with replacement.
        mean, sigma, kurtosis: μ, σ and κ of each neuron over all cases, (H,).
        mean_error: √E(μ_B − μ)² over the batches, (M, H). sigma_error: of σ_B, (M, H).
        sigma_bias: E(σ_B) − σ over the batches, (M, H): small batches underestimate σ.
        predicted_mean_error, predicted_sigma_error: by the formulas above, (M, H).
        reasons: for each size why its σ_B is useless, or "", (M,).

    """

    sizes: Array
    batches: int
    replacement: bool
    mean: Array
    sigma: Array
    kurtosis: Array
    mean_error: Array
    sigma_error: Array
    sigma_bias: Array
    predicted_mean_error: Array
    predicted_sigma_error: Array
    reasons: tuple[str, ...]


def batch_noise(
    A: ArrayLike,
    rng: np.random.Generator,
    *,
    sizes: ArrayLike | None = None,
    batches: int = 500,
    replacement: bool = False,
    progress: Report | Progress | None = None,
) -> BatchNoise:
    """Draw batches of every size from the cases, and measure the errors of their μ and σ.

    Args:
        A: the summed inputs of all cases, (N, H). rng: draws the batches.
        sizes: m from 1 to N; None for `batch_sizes(N)`.
        batches: their number for each size, at least 2.
        replacement: whether to draw with replacement.
        progress: called with (sizes done, sizes); a stop keeps the sizes done.

    Raises:
        ValueError: bad numbers, fewer than 2 cases, sizes outside 1 to N, or a neuron with the
            same summed input in every case.

    """
    values = real_array("A", A, 2).astype(np.float64)
    N = len(values)
    asked = _checked_sizes(sizes, N)
    batches = whole_number("batches", batches, 2)
    instance_of("rng", rng, np.random.Generator)
    replacement = flag("replacement", replacement)
    same = (values == values[0]).all(axis=0)
    if same.any():
        raise Refusal(
            "Neuron {h} has the same summed input in every case, so σ = 0 and there is no "
            "noise to measure. Leave it out.",
            h=np.flatnonzero(same)[0],
        )
    # Scaled by a power of two near the largest value, squares neither overflow nor underflow.
    exponent = np.frexp(np.abs(values).max(axis=0))[1]
    scaled = np.ldexp(values, -exponent)
    centered = without(scaled, lambda M: mean_along(M, 0))
    deviation = np.sqrt((centered**2).mean(axis=0))
    mean, sigma = (np.ldexp(unit, exponent) for unit in (scaled.mean(axis=0), deviation))
    unit = centered / deviation
    kurtosis = np.maximum((unit**4).mean(axis=0), 1.0)  # values below 1 are rounding (Jensen)
    rows = []
    for m in Progress.of(progress).over(asked.tolist()):
        moments = np.array([_moments(unit[_draw(rng, N, m, replacement)]) for _ in range(batches)])
        means, deviations = moments[:, 0], moments[:, 1] - 1
        rows.append([_rms(means), _rms(deviations), deviations.mean(axis=0)])
    done = asked[: len(rows)]
    measured = np.reshape(rows, (len(rows), 3, -1)).swapaxes(0, 1) * sigma
    share = _variance_of_mean(done, N, replacement)[:, None]
    return BatchNoise(
        sizes=done,
        batches=batches,
        replacement=replacement,
        mean=mean,
        sigma=sigma,
        kurtosis=kurtosis,
        mean_error=measured[0],
        sigma_error=measured[1],
        sigma_bias=measured[2],
        predicted_mean_error=sigma * np.sqrt(share),
        predicted_sigma_error=sigma * np.sqrt((kurtosis - 1) / 4 * share),
        reasons=tuple(ONE_CASE if m == 1 else "" for m in done),
    )


@final
@dataclass(frozen=True, eq=False)
class BatchDrift:
    """The difference of z in a batch (training) from z of the same cases at test time.

    Attributes:
        normalizer: the method. sizes: m, (M,). batches: the number drawn of each size.
        change: root mean square of z_batch − z_frozen over that of z_frozen, (M,); NaN if there is
            a reason. reasons: why z is undefined for a size, or "", (M,).

    """

    normalizer: Normalizer
    sizes: Array
    batches: int
    change: Array
    reasons: tuple[str, ...]


def batch_drift(
    normalizer: Normalizer | str,
    W: ArrayLike,
    X: ArrayLike,
    rng: np.random.Generator,
    *,
    sizes: ArrayLike | None = None,
    batches: int = 50,
    progress: Report | Progress | None = None,
) -> BatchDrift:
    """Compare z in batches with z of the same cases under the statistics of all N cases.

    Statistics frozen on all cases give the z of the whole data set. A method without a batch
    statistic shows no difference.

    Args:
        normalizer: with current statistics. W: (H, D). X: all cases, (N, D).
        rng: draws the batches, without replacement.
        sizes: m from 1 to N; None for `batch_sizes(N)`. batches: their number for each size.
        progress: called with (sizes done, sizes); a stop keeps the sizes done.

    Raises:
        ValueError: bad arguments, frozen statistics, or z undefined or 0 on all cases.

    """
    normalizer = normalizer_of(normalizer)
    if normalizer.statistics == "frozen":
        raise Refusal(
            "Training computes with the statistics of its batch; got a normalizer with frozen "
            "ones, which have no drift. Use statistics='current'."
        )
    batches = whole_number("batches", batches, 1)
    instance_of("rng", rng, np.random.Generator)
    weights, inputs = weights_and_inputs(W, X)
    asked = _checked_sizes(sizes, len(inputs))
    over = normalizer.over(inputs, len(weights))
    at = over.linearize(weights)
    frozen, scale = at.z, _rms(at.z.ravel())
    if scale <= over.rounding * _rms((over.sizes(weights) / at.sigma).ravel()):
        raise Refusal(
            "The change of z is measured against z, which must not be 0 everywhere; all summed "
            "inputs equal their means here, to within rounding. Use other cases or weights."
        )
    change, reasons = [], []
    for m in Progress.of(progress).over(asked.tolist()):
        squares, reason = [], ""
        for _ in range(batches):
            cases = _draw(rng, len(inputs), m, replacement=False)
            try:
                z = normalizer.linearize(weights, inputs[cases]).z
            except Refusal as error:
                reason = error.args[0]
                break
            squares.append((((z - frozen[cases]) / scale) ** 2).mean())
        change.append(np.nan if reason else np.sqrt(np.mean(squares)))
        reasons.append(reason)
    done = asked[: len(change)]
    return BatchDrift(normalizer, done, batches, np.array(change), tuple(reasons))


def batch_sizes(N: int) -> Array:
    """Return 1, 2, 4, … below N, and N."""
    return np.array([2**k for k in range(max(N - 1, 0).bit_length())] + [N])


def _checked_sizes(sizes: ArrayLike | None, N: int) -> Array:
    if N < 2:
        raise Refusal("A batch is a part of the cases, so there must be 2 or more; got {N}.", N=N)
    if sizes is None:
        return batch_sizes(N)
    asked = np.array(whole_numbers("sizes", sizes, 1, N), dtype=int)
    if not asked.size:
        raise Refusal("`sizes` must name a size or more; got none.")
    return asked


def _draw(rng: np.random.Generator, N: int, m: int, replacement: bool) -> Array:
    cases: Array = rng.choice(N, m, replace=replacement, shuffle=False)
    return cases


def _moments(batch: Array) -> Array:
    """Return μ_B and σ_B of each neuron of a batch (m, H), (2, H)."""
    return np.stack([batch.mean(axis=0), batch.std(axis=0)])


def _variance_of_mean(sizes: Array, N: int, replacement: bool) -> Array:
    """Return the variance of a mean of m unit-variance cases out of N."""
    correction = 1.0 if replacement else (N - sizes) / (N - 1)
    variance: Array = correction / sizes
    return variance


def _rms(deviations: Array) -> Array:
    largest = np.abs(deviations).max(axis=0)
    unit = deviations / np.where(largest > 0, largest, 1)  # scaled so that squares do not overflow
    rms: Array = largest * np.sqrt((unit**2).mean(axis=0))
    return rms
