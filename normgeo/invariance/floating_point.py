"""The change of z in floating point as a change grows, beside an exact verdict of yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from normgeo.base.arguments import instance_of, shown
from normgeo.base.arrays import Array, real_array, weights_and_inputs
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.invariance.transforms import Transform
from normgeo.normalizers.named import normalizer_of
from normgeo.normalizers.normalizer import Normalizer

FLOATS = tuple(map(np.dtype, (np.float16, np.float32, np.float64)))


@final
@dataclass(frozen=True, eq=False)
class Sweep:
    """The relative change of z in floating point, by the strength of a change.

    Attributes:
        strengths: δ of a re-scaling, or the factor on γ of a shift, (S,).
        change: max|z' − z| / max|z|, (S,); NaN if it is undefined.
        reasons: S sentences: why it is undefined, or "".
        dtype: the floating-point type.

    """

    strengths: Array
    change: Array
    reasons: tuple[str, ...]
    dtype: str


def sweep(
    normalizer: Normalizer | str,
    transform: Transform,
    W: ArrayLike,
    X: ArrayLike,
    strengths: Sequence[float] | Array,
    *,
    gamma: ArrayLike | None = None,
    index: int = 0,
    dtype: DTypeLike = np.float64,
) -> Sweep:
    """Measure max|z' − z| / max|z| for every strength of a change, in one floating-point type.

    Args:
        normalizer: with the ε in use; frozen statistics refer to (W, X) themselves.
        transform: a re-scaling by `strengths`, or a shift by `strengths` × `gamma`.
        W: (H, D); X: (N, D). gamma: of `transform.gamma_shape`. index: the row.
        dtype: float16, float32 or float64.

    Raises:
        ValueError: bad shapes or numbers, parameters that do not fit the change, or a z that is
            undefined or 0 everywhere before any change.

    """
    normalizer = normalizer_of(normalizer)
    instance_of("transform", transform, Transform)
    W64, X64 = weights_and_inputs(W, X)
    steps = real_array("strengths", strengths, 1).astype(np.float64)
    if not normalizer.normalize(W64, X64, (W64, X64)).z.any():
        raise Refusal(
            "A sweep compares z' with z, so z must not be 0 everywhere; all summed inputs "
            "equal their means here. Use other weights or inputs."
        )
    kind = _float_type(dtype)
    with np.errstate(all="ignore"):
        W0, X0 = W64.astype(kind), X64.astype(kind)
        before, gap = _standardized(normalizer, W0, X0, (W0, X0))
        largest = np.abs(before.astype(np.float64)).max()
        gap = gap or ("" if largest else text("underflow: z is 0 everywhere in {kind}", kind=kind))

        def measured(strength: float) -> tuple[float, str]:
            delta, shift = None, gamma
            if transform.rescales:
                delta = np.asarray(strength).astype(kind)[()]
                if strength and not (delta and np.isfinite(delta)):
                    if delta:
                        return np.nan, text("overflow: δ is no {kind}", kind=kind)
                    return np.nan, text("underflow: δ is no {kind}", kind=kind)
            elif gamma is not None:
                shift = (strength * real_array("gamma", gamma, 1)).astype(kind)
            changed = transform(W0, X0, delta=delta, gamma=shift, index=index)
            after, reason = _standardized(normalizer, *changed, (W0, X0))
            if gap or reason:
                return np.nan, gap or reason
            moved = np.abs(after.astype(np.float64) - before).max() / largest
            return (moved, "") if np.isfinite(moved) else (np.nan, text("overflow: of z' itself"))

        change, reasons = zip(*map(measured, steps), strict=True)
    return Sweep(steps, np.array(change), reasons, str(kind))


def _float_type(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError, RuntimeError):  # NumPy raises any of these for what is no type
        kind = np.dtype(object)
    if kind not in FLOATS:
        raise Refusal(
            "`dtype` must be float16, float32 or float64; got {dtype}.", dtype=shown(dtype)
        )
    return kind


def _standardized(
    normalizer: Normalizer, W: Array, X: Array, reference: tuple[Array, Array]
) -> tuple[Array, str]:
    """Return z, and why it is not finite, or ''.

    v is computed in the type itself, because the sweep is about the limits of that type.
    """
    kind = np.result_type(W, X)
    limits = np.finfo(kind)
    try:
        C, v = normalizer.moments(W, X, reference)
    except Refusal:
        tiny = limits.tiny
        return W, text(
            "underflow: σ² is below the smallest normal {kind}, {tiny:.3g}", kind=kind, tiny=tiny
        )
    if not (np.isfinite(C).all() and np.isfinite(v).all()):
        return C, text(
            "overflow: σ² or a − μ exceeds the largest {kind}, {largest:.3g}",
            kind=kind,
            largest=limits.max,
        )
    if not np.all(v > 0):
        return C, text("σ = 0: rounded to {kind}, a = μ wherever σ is shared", kind=kind)
    z: Array = C / np.sqrt(v)
    return z, ""
