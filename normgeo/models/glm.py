"""The normalized generalized linear model (Eq. 10): family ∘ gain and bias ∘ normalizer ∘ linear.

    s = g z + b,    z = (A − μ)/σ,    log P(y|x) = (s·y − A(s))/φ + c(y, φ)

Parameters are ordered as in the paper, θ = vec([W, b, g]ᵀ): neuron by neuron [w_h, b_h, g_h].
The standard model, (none, none), has no g.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import add
from typing import Any, Final, cast, final, overload

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import flag, instance_of, whole_number
from normgeo.base.arrays import Array, real_array, require_room
from normgeo.base.constant import Constant
from normgeo.base.refusal import Refusal
from normgeo.datasets.rows import Rows, as_rows
from normgeo.models.families import Family, family_of
from normgeo.models.linearization import ModelLinearization, ParameterLayout, Part
from normgeo.models.rows import (
    Linearized,
    RowsLinearization,
    checked_blocks,
    gathering,
    over_labelled,
)
from normgeo.normalizers.fixed_cases import FixedCases
from normgeo.normalizers.linearization import Linearization
from normgeo.normalizers.named import normalizer_of
from normgeo.normalizers.normalizer import Normalizer


@final
@dataclass(init=False, eq=False)
class NormalizedGLM(Constant):
    """A generalized linear model of normalized summed inputs (Eq. 10).

    Attributes:
        normalizer: computes z from (W, X). family: a `Family` or its key.
        W: (H, D). b: (H,), None for zeros. g: (H,), None for ones; the standard model has none.
        phi: φ, the dispersion (noise variance) of the Gaussian; 1 otherwise.
        reference: the batch (W₀, X₀) of frozen statistics; X₀ may be `Rows`.
        takes_stream: whether the last H inputs are a residual stream r, added to the summed inputs:
            z = N(x Wᵀ + r). They have no weights.

    Raises:
        ValueError: bad shapes or numbers, a gain for the standard model, or φ the family lacks.

    """

    normalizer: Final[Normalizer]
    family: Final[Family]
    W: Final[Array]
    b: Final[Array]
    g: Final[Array | None]
    phi: Final[float]
    reference: Final[tuple[Array, Array | Rows] | None]
    takes_stream: Final[bool]

    def __init__(
        self,
        normalizer: Normalizer | str,
        family: Family | str,
        W: ArrayLike,
        b: ArrayLike | None = None,
        g: ArrayLike | None = None,
        *,
        phi: float = 1.0,
        reference: tuple[Array, Array | Rows] | None = None,
        takes_stream: bool = False,
    ) -> None:
        normalizer = normalizer_of(normalizer)
        weights = real_array("W", W, 2)
        H = len(weights)
        has_gain = not normalizer.is_standard
        if g is not None and not has_gain:
            raise Refusal(
                "The standard model (none, none) has no gain: w carries the scale "
                "already. Leave g out, or multiply it into W."
            )
        self.normalizer = normalizer
        self.family = family_of(family)
        self.W = weights
        self.b = _per_neuron("b", np.zeros(H) if b is None else b, H)
        self.g = _per_neuron("g", np.ones(H) if g is None else g, H) if has_gain else None
        self.phi = self.family.dispersion(phi)
        self.reference = reference
        self.takes_stream = flag("takes_stream", takes_stream)

    @classmethod
    def random(
        cls,
        normalizer: Normalizer | str,
        family: Family | str,
        neurons: int,
        features: int,
        rng: np.random.Generator,
        *,
        phi: float = 1.0,
    ) -> NormalizedGLM:
        """Return a model with w_hd ~ N(0, 1/D), so that a has variance 1 on standardized data."""
        shape = whole_number("neurons", neurons, 1), whole_number("features", features, 1)
        require_room("W", *shape)
        instance_of("rng", rng, np.random.Generator)
        return cls(normalizer, family, rng.standard_normal(shape) / features**0.5, phi=phi)

    @property
    def layout(self) -> ParameterLayout:
        """The places of W, b and g in θ."""
        H, D = self.W.shape
        return ParameterLayout(H, D, has_gain=self.g is not None)

    @property
    def batch(self) -> tuple[Array, Array] | None:
        """The reference, if it is in memory; raises ValueError for rows in blocks."""
        if self.reference is None:
            return None
        W, X = self.reference
        return W, np.asarray(X) if isinstance(X, Rows) else X

    def pack(self) -> Array:
        """Return θ = vec([W, b, g]ᵀ), (P,)."""
        return self.layout.pack(self.W, self.b, self.g)

    def unpack(self, theta: Array) -> NormalizedGLM:
        """Return the model of the same kind with parameters θ (P,)."""
        W, b, g = self.layout.split(real_array("theta", theta, 1))
        return self._like(W, b, g, self.reference)

    def natural_parameter(self, X: ArrayLike) -> Array:
        """Return s = g z + b, (N, H)."""
        return self._in_memory(X).s

    def mean(self, X: ArrayLike) -> Array:
        """Return E[y|x] = f(s), (N, H)."""
        return self.family.mean(self.natural_parameter(X))

    def log_likelihood(self, X: ArrayLike | Rows, y: ArrayLike | Rows) -> float:
        """Return the mean of log P(y_n|x_n) over the N cases, in nats per case."""
        family, phi = self.family, self.phi

        def step(parts: Iterator[tuple[Part, ArrayLike]]) -> float:
            return sum(
                share * float(np.mean(family.log_likelihood(targets, at.s, phi)))
                for (share, at), targets in parts
            )

        return float(over_labelled(self.linearize(X), y, step, add))

    def gradient(self, X: ArrayLike | Rows, y: ArrayLike | Rows) -> Array:
        """Return the gradient in θ of the mean log-likelihood, (P,): E[Jᵀ (y − f(s))]/φ."""
        family, phi, size = self.family, self.phi, self.layout.size

        def step(parts: Iterator[tuple[Part, ArrayLike]]) -> Array:
            gradient = np.zeros(size)
            for (share, at), targets in parts:
                gradient += share * at.vjp(_residual(family, phi, at.s, targets))
            return gradient

        gradient: Array = over_labelled(self.linearize(X), y, step, add)
        return gradient

    def residual(self, s: Array, y: ArrayLike) -> Array:
        """Return the gradient in s (N, H) of the mean log-likelihood, (y − f(s))/(Nφ)."""
        return _residual(self.family, self.phi, s, y)

    @overload
    def linearize(self, X: Rows) -> RowsLinearization: ...
    @overload
    def linearize(self, X: ArrayLike) -> ModelLinearization: ...
    @overload
    def linearize(self, X: ArrayLike | Rows) -> Linearized: ...
    def linearize(self, X: ArrayLike | Rows) -> Linearized:
        """Return the derivative of s in θ at this model, over the cases X (N, D).

        For `Rows`, that of each block, after one pass that gathers the shared statistics.
        """
        rows: Any = as_rows(X)
        return self._over_rows(rows) if isinstance(rows, Rows) else self._in_memory(rows)

    def over(self, X: ArrayLike) -> FixedCases:
        """Return the normalizer over fixed cases X (N, D), for `linearize_over`."""
        inputs = real_array("X", X, 2)
        wide = inputs.astype(np.result_type(inputs, self.W), copy=False)
        return self.normalizer.over(wide, len(self.W), self.batch)

    def linearize_over(self, cases: FixedCases) -> ModelLinearization:
        """Return `linearize` over cases that `over` prepared, for a model of the same kind."""
        return self._linearized(cases.linearize(self._all_weights))

    @property
    def _all_weights(self) -> Array:
        """The weights of all inputs: (W, 1) for inputs (x, r)."""
        W = self.W
        return (
            np.concatenate([W, np.eye(len(W), dtype=W.dtype)], axis=1) if self.takes_stream else W
        )

    def _in_memory(self, X: ArrayLike) -> ModelLinearization:
        return self._linearized(self.normalizer.linearize(self._all_weights, X, self.batch))

    def _over_rows(self, rows: Rows) -> RowsLinearization:
        model = self if rows.dtype is None else self._of_type(rows.dtype)
        W, reference = model._all_weights, cast(Any, model.reference)
        if reference is not None and isinstance(reference[1], Rows):
            reference = reference[0], gathering(reference[1], W)
        cases = model.normalizer.over_rows(W, gathering(rows, W), reference)
        bare, kind = model._like(model.W, model.b, model.g, None), rows.dtype

        def linearize(X: Array) -> ModelLinearization:
            wide = X.astype(np.result_type(X, W, np.float32), copy=False)
            at = bare._linearized(cases.block(wide).linearize(W))
            return at if kind is None else replace(at, kind=kind)

        def in_memory() -> ModelLinearization:
            X = np.concatenate(list(checked_blocks(rows, W)))
            frozen = model.normalizer.statistics == "frozen"
            return linearize(X) if frozen else model._in_memory(X)

        return RowsLinearization(rows, cases.cases, model.layout, linearize, in_memory)

    def _of_type(self, kind: np.dtype[Any]) -> NormalizedGLM:
        """The same with its numbers in another floating-point type."""
        reference = self.reference
        if reference is not None:
            W0, X0 = reference
            X0 = replace(X0, dtype=kind) if isinstance(X0, Rows) else X0.astype(kind)
            reference = W0.astype(kind), X0
        g = None if self.g is None else self.g.astype(kind)
        return self._like(self.W.astype(kind), self.b.astype(kind), g, reference)

    def _like(
        self, W: Array, b: Array, g: Array | None, reference: tuple[Array, Array | Rows] | None
    ) -> NormalizedGLM:
        """The model of the same kind with these numbers."""
        return NormalizedGLM(
            self.normalizer,
            self.family,
            W,
            b,
            g,
            phi=self.phi,
            reference=reference,
            takes_stream=self.takes_stream,
        )

    def _linearized(self, normalized: Linearization) -> ModelLinearization:
        if self.takes_stream:
            normalized = normalized.of_first(self.layout.features)
        z = normalized.z
        with np.errstate(over="ignore", invalid="ignore"):
            s = z + self.b if self.g is None else self.g * z + self.b
        if not np.isfinite(s).all():
            raise Refusal(
                "The natural parameter g z + b exceeds the largest {kind}. Use smaller gains, "
                "biases, weights or inputs.",
                kind=s.dtype,
            )
        return ModelLinearization(normalized, s, z, self.g, self.layout)


def _residual(family: Family, phi: float, s: Array, y: ArrayLike) -> Array:
    difference: Array = family.likelihood(y, s.shape[1], phi).at(s).residual / (len(s) * phi)
    return difference


def _per_neuron(name: str, values: ArrayLike, neurons: int) -> Array:
    array = real_array(name, values, 1)
    if len(array) != neurons:
        raise Refusal(
            "`{name}` must hold one number for each of the {neurons} neurons; got {count}.",
            name=name,
            neurons=neurons,
            count=len(array),
        )
    return array
