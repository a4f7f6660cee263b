"""Which changes of weights or data leave z unchanged, decided exactly.

At ε = 0 the numerator C and the squared denominator v of z = C/√v are polynomials, so z' = z
for every W, X and δ > 0 exactly if C'²v = C²v' identically and CC' ≥ 0. The identity is
evaluated at random integers in exact arithmetic, at one shape:

- if it fails, "not invariant" is proved at that shape, and the draw is a counterexample;
- if it holds, it has been *checked*, not proved: a false identity passes with probability at most
  degree/2⁶¹ (Schwartz 1980, Zippel 1979). The sign of C'/C is constant on
  {v, v' > 0, δ > 0}, which is connected if N ≥ 3, H/G ≥ 3 and D ≥ 3, so one draw decides it.

That a ✓ holds at every shape follows from algebra, for centers that subtract means and scales that
are means of C² or ‖w̃‖², and so does a ✗ of their current statistics at N, H/G and D of 3 or more:
docs/mathematics.md, section 2. The draw checks that the code agrees with the algebra.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple, TypeVar, final

import numpy as np

from normgeo.base.arguments import instance_of, seed_number, whole_numbers
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.invariance import exact
from normgeo.invariance.transforms import TRANSFORMS, Transform
from normgeo.normalizers.named import NORMALIZERS, normalizer_of
from normgeo.normalizers.normalizer import Normalizer

DRAWS = 1
SMALLEST_SHAPE = (3, 3, 3)
LARGEST_LENGTH = 1000
"""Limit on N, H and D: exact numbers are thousands of times slower than floats."""

Key = TypeVar("Key", bound=Hashable)


class Shape(NamedTuple):
    """The size of a certificate: N cases, H neurons, D features."""

    N: int
    H: int
    D: int


@final
@dataclass(frozen=True, eq=False)
class Parameters:
    """The parameters of a change: δ or γ, and the row if only one changes."""

    delta: Fraction | None = None
    gamma: Array | None = None
    row: int = 0

    def apply(self, transform: Transform, W: Array, X: Array) -> tuple[Array, Array]:
        """Return (W', X')."""
        return transform(W, X, delta=self.delta, gamma=self.gamma, index=self.row)


@final
@dataclass(frozen=True, eq=False)
class Counterexample:
    """Exact numbers at which a change changes z.

    Attributes:
        W, X: fractions, (H, D) and (N, D). parameters: δ or γ, and the row.
        place: the entry (n, h) at which z' ≠ z.
        ratio: z'²/z² there, exact; None if z = 0. A ratio of 1 means that only the sign changed.

    """

    W: Array
    X: Array
    parameters: Parameters
    place: tuple[int, int]
    ratio: Fraction | None


@final
@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether z is invariant to a change, and the evidence.

    Attributes:
        normalizer, transform: the question, the normalizer with the ε in use.
        invariant: True if z' = z at a random W, X and δ > 0 or γ of this shape, at the ε in use;
            the probability that it is false for others is at most `error_bound`. False is proved.
        sign_flip: for δ < 0, z' = −z (in one row: of that neuron or case); None without a δ.
        only_without_eps: certified at ε = 0 and refuted at the ε in use.
        witness: the counterexample of a "no", at the ε in use.
        error_bound: a bound on the share of draws that would say "yes" if it were false,
            degree/2⁶¹; 0 for a "no".
        degree: a bound on the degree of the polynomial identity. draws: number of evaluations.
        shape: N, H, D. seed: of the draw; None if the caller passed a generator.

    """

    normalizer: Normalizer
    transform: Transform
    invariant: bool
    sign_flip: bool | None
    only_without_eps: bool
    witness: Counterexample | None
    error_bound: float
    degree: int
    draws: int
    shape: Shape
    seed: int | None = 0

    @property
    def symbol(self) -> str:
        """✓ invariant, ✗ not, ≈ only at ε = 0."""
        return "✓" if self.invariant else "≈" if self.only_without_eps else "✗"

    @property
    def word(self) -> str:
        """The verdict in words."""
        if self.invariant:
            return text("invariant")
        if self.only_without_eps:
            return text("invariant only at ε = 0")
        return text("not invariant")


def certify(
    normalizer: Normalizer | str,
    transform: Transform,
    eps: float | Fraction | None = None,
    *,
    shape: tuple[int, int, int] | None = None,
    seed: int = 0,
    rng: np.random.Generator | None = None,
) -> Verdict:
    """Check in exact arithmetic whether `normalizer` is invariant to `transform`.

    Args:
        normalizer: computes z. transform: changes W or X.
        eps: the ε in use; None for the normalizer's own.
        shape: (N, H, D) of the random draw, at least 3 each (H/G for G groups).
        seed: of the draw. rng: a generator for the draw, instead of a seed.

    Raises:
        ValueError: a shape that is too small to decide, since there z may be only a sign; a bad ε
            or seed; a draw that decides nothing (σ = 0 or A = μ everywhere).
        TypeError: a float or a NumPy integer entered the exact evaluation.

    >>> from normgeo import NORMALIZERS, TRANSFORMS
    >>> certify(NORMALIZERS["layer"], TRANSFORMS["case_rescaling"]).word
    'invariant'
    >>> certify(NORMALIZERS["layer"], TRANSFORMS["case_rescaling"], eps=1e-5).word
    'invariant only at ε = 0'

    """
    normalizer = normalizer_of(normalizer)
    instance_of("transform", transform, Transform)
    if rng is not None:
        instance_of("rng", rng, np.random.Generator)
    asked = normalizer if eps is None else replace(normalizer, eps=eps)
    size = _certificate_shape(normalizer, shape)
    seed = seed_number(seed)
    drawn = _Draw.drawn(transform, size, np.random.default_rng(seed) if rng is None else rng)
    ideal = replace(normalizer, eps=Fraction(0))
    actual = replace(normalizer, eps=asked.exact_eps)

    without_eps = drawn.moved(ideal, transform)
    witness = drawn.moved(actual, transform) if asked.eps else without_eps
    degree = _degree(ideal, transform, size)
    sign_flip = None
    if transform.rescales:
        flipped = replace(drawn, parameters=Parameters(delta=-drawn.delta))
        sign_flip = flipped.moved(actual, transform, flip=True) is None
    return Verdict(
        asked,
        transform,
        invariant=witness is None,
        sign_flip=sign_flip,
        only_without_eps=witness is not None and without_eps is None,
        witness=witness,
        error_bound=degree / 2**exact.FIELD_BITS if witness is None else 0.0,
        degree=degree,
        draws=DRAWS,
        shape=size,
        seed=seed if rng is None else None,
    )


def invariance_table(
    normalizers: Mapping[Key, Normalizer] | None = None,
    transforms: Mapping[str, Transform] = TRANSFORMS,
    eps: float | Fraction | None = None,
    seed: int = 0,
) -> dict[tuple[Key, str], Verdict]:
    """Return the verdict of every normalizer on every transform, keyed by both names.

    Each draw uses `seed`.
    """
    rows: Mapping[Key, Normalizer] = NORMALIZERS if normalizers is None else normalizers  # type: ignore[assignment]
    instance_of("normalizers", rows, Mapping)
    instance_of("transforms", transforms, Mapping)
    return {
        (name, key): certify(normalizer, transform, eps, seed=seed)
        for name, normalizer in rows.items()
        for key, transform in transforms.items()
    }


@dataclass(frozen=True, eq=False)
class _Draw:
    """One exact draw of all numbers that a verdict needs."""

    W: Array
    X: Array
    reference: tuple[Array, Array]
    parameters: Parameters

    @classmethod
    def drawn(cls, transform: Transform, size: Shape, rng: np.random.Generator) -> _Draw:
        W, X = exact.draw(rng, (size.H, size.D)), exact.draw(rng, (size.N, size.D))
        reference = exact.draw(rng, (size.H, size.D)), exact.draw(rng, (size.N, size.D))
        if transform.rescales:
            parameters = Parameters(delta=exact.draw_factor(rng))
        else:
            parameters = Parameters(gamma=exact.draw(rng, transform.gamma_shape(W, X)))
        return cls(W, X, reference, parameters)

    @property
    def delta(self) -> Fraction:
        """δ of a re-scaling."""
        return self.parameters.delta or Fraction(1)

    def moved(
        self, normalizer: Normalizer, transform: Transform, flip: bool = False
    ) -> Counterexample | None:
        """Return where z' differs from z or, for `flip`, from z with its changed rows negated."""
        after = self.parameters.apply(transform, self.W, self.X)
        C, v = _exact_moments(normalizer, self.W, self.X, self.reference)
        C1, v1 = _exact_moments(normalizer, *after, self.reference)
        exact.require_fractions(C, C1, v * C, v1 * C1)
        differs = C1 * C1 * v != C * C * v1
        differs |= C * C1 * _expected_sign(transform, C.shape, flip) < 0
        if not differs.any():
            return None
        n, h = (int(i) for i in np.argwhere(differs)[0])
        ratio = (C1 * C1 * v)[n, h] / (C * C * v1)[n, h] if C[n, h] else None
        return Counterexample(self.W, self.X, self.parameters, (n, h), ratio)


def _exact_moments(
    normalizer: Normalizer, W: Array, X: Array, reference: tuple[Array, Array]
) -> tuple[Array, Array]:
    C, v = normalizer.moments(W, X, reference)
    if not np.all(v > 0) or not np.any(C != 0):
        raise Refusal(
            "The draw says nothing about {name}: its σ or its A − μ vanishes at N={N}, H={H}, "
            "D={D}. Use a larger shape.",
            name=normalizer.title,
            N=len(X),
            H=len(W),
            D=W.shape[1],
        )
    return C, v


def _expected_sign(transform: Transform, shape: tuple[int, ...], flip: bool) -> Array:
    """Return +1, or −1 where a negative δ should change the sign of z, (N, H)."""
    sign = np.where(transform.reaches(shape), -1, 1) if flip else np.ones(shape, dtype=int)
    return sign.astype(object)


def _certificate_shape(normalizer: Normalizer, shape: tuple[int, int, int] | None) -> Shape:
    G = normalizer.groups
    lengths: tuple[int, ...] = (5, 4 if G == 1 else 3 * G, 4)
    if shape is not None:
        lengths = whole_numbers("shape", shape, 1, LARGEST_LENGTH)
    if len(lengths) != 3:
        raise Refusal("`shape` must be (N, H, D); got {shape}.", shape=lengths)
    size = Shape(*lengths)
    smallest = (SMALLEST_SHAPE[0], SMALLEST_SHAPE[1] * G, SMALLEST_SHAPE[2])
    if any(have < need for have, need in zip(size, smallest, strict=True)):
        raise Refusal(
            "A certificate needs N ≥ 3, H/G ≥ 3 and D ≥ 3, or z may be only a sign; "
            "got N={N}, H={H}, D={D} with {G} group(s).",
            **size._asdict(),
            G=G,
        )
    return size


def _degree(normalizer: Normalizer, transform: Transform, size: Shape) -> int:
    """Return the degree of C'²v − C²v' in the entries of W, X, the reference, δ and γ."""
    W, X = exact.variables((size.H, size.D)), exact.variables((size.N, size.D))
    if transform.rescales:
        after = transform(W, X, delta=exact.Degree(1))
    else:
        after = transform(W, X, gamma=exact.variables(transform.gamma_shape(W, X)))
    C, v = normalizer.moments(W, X, (W, X))
    C1, v1 = normalizer.moments(*after, (W, X))
    return max(exact.degree(term) for term in np.ravel(C1 * C1 * v - C * C * v1))
