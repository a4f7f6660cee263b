"""The normalized generalized linear model (Eq. 10): family ∘ gain and bias ∘ normalizer ∘ linear.

    s = g z + b,    z = (A − μ)/σ,    log P(y|x) = (s·y − A(s))/φ + c(y, φ)

Parameters are ordered as in the paper, θ = vec([W, b, g]ᵀ): neuron by neuron [w_h, b_h, g_h].
The standard model, (none, none), has no g.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, whole_number
from normgeo.base.arrays import Array, real_array, require_room
from normgeo.base.constant import Constant
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.models.families import Family, family_of
from normgeo.normalizers.fixed_cases import FixedCases
from normgeo.normalizers.linearization import Linearization, OwnNeuronLinearization
from normgeo.normalizers.normalizer import Normalizer


@final
@dataclass(frozen=True)
class ParameterLayout:
    """Where W (H, D), b (H,) and g (H,) stand in θ (P,)."""

    neurons: int
    features: int
    has_gain: bool

    @property
    def per_neuron(self) -> int:
        """D + 2, or D + 1 without a gain."""
        return self.features + 1 + self.has_gain

    @property
    def size(self) -> int:
        """P, the number of parameters."""
        return self.neurons * self.per_neuron

    @property
    def weights(self) -> Array:
        """The places of W in θ, (H·D,), neuron by neuron."""
        return self._places()[:, : self.features].reshape(-1)

    @property
    def biases(self) -> Array:
        """The places of b in θ, (H,)."""
        return self._places()[:, self.features]

    @property
    def gains(self) -> Array:
        """The places of g in θ, (H,), or none of them (0,)."""
        return self._places()[:, self.features + 1 :].reshape(-1)

    def pack(self, W: Array, b: Array, g: Array | None) -> Array:
        """Return θ (P,)."""
        columns = [W, b[:, None]] + ([g[:, None]] if self.has_gain and g is not None else [])
        return np.concatenate(columns, axis=1).reshape(-1)

    def split(self, theta: Array) -> tuple[Array, Array, Array | None]:
        """Return views (W, b, g) of θ (P,); g is None without a gain."""
        theta = np.asarray(theta)
        if theta.shape != (self.size,):
            raise Refusal(
                text(
                    "`theta` must have shape ({size},): {neurons} neurons of {each} "
                    "parameters; got {shape}.",
                    size=self.size,
                    neurons=self.neurons,
                    each=self.per_neuron,
                    shape=theta.shape,
                )
            )
        rows = theta.reshape(self.neurons, self.per_neuron)
        D = self.features
        return rows[:, :D], rows[:, D], rows[:, D + 1] if self.has_gain else None

    def _places(self) -> Array:
        return np.arange(self.size).reshape(self.neurons, self.per_neuron)


@final
@dataclass(frozen=True, eq=False)
class ModelLinearization:
    """The derivative of the natural parameter s = g z + b in θ at one (θ, X).

        ds = g dz + z dg + db

    Attributes:
        normalized: the linearization of z in W (and X).
        s: (N, H). z: (N, H). gain: g (H,), None for the standard model. layout: of θ.

    """

    normalized: Linearization | OwnNeuronLinearization
    s: Array
    z: Array
    gain: Array | None
    layout: ParameterLayout

    def jvp(self, dtheta: Array) -> Array:
        """Return ds (N, H) for a change dθ (P,)."""
        dW, db, dg = self.layout.split(dtheta)
        ds = self._scaled(self.normalized.jvp(dW)) + db
        return ds if dg is None else ds + self.z * dg

    def vjp(self, U: Array) -> Array:
        """Return the adjoint of `jvp` at U (N, H), (P,)."""
        dg = None if self.gain is None else np.einsum("nh,nh->h", self.z, U)
        dW = self.normalized.vjp_weights(self._scaled(U))
        return self.layout.pack(dW, U.sum(axis=0), dg)

    def own_neuron(self) -> ModelLinearization:
        """Return the part in which each s_h answers to its own w_h, b_h, g_h only (Eq. 13, 14)."""
        if isinstance(self.normalized, OwnNeuronLinearization):
            return self
        return replace(self, normalized=self.normalized.own_neuron())

    def _scaled(self, U: Array) -> Array:
        return U if self.gain is None else self.gain * U


@final
@dataclass(init=False, eq=False)
class NormalizedGLM(Constant):
    """A generalized linear model of normalized summed inputs (Eq. 10).

    Attributes:
        normalizer: what makes z of (W, X). family: a `Family` or its key.
        W: (H, D). b: (H,), zeros where None. g: (H,), ones where None; the standard model has none.
        phi: φ, the dispersion (noise variance) of the Gaussian; 1 otherwise.
        reference: the batch (W₀, X₀) of frozen statistics.
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
    reference: Final[tuple[Array, Array] | None]
    takes_stream: Final[bool]

    def __init__(
        self,
        normalizer: Normalizer,
        family: Family | str,
        W: ArrayLike,
        b: ArrayLike | None = None,
        g: ArrayLike | None = None,
        *,
        phi: float = 1.0,
        reference: tuple[Array, Array] | None = None,
        takes_stream: bool = False,
    ) -> None:
        instance_of("normalizer", normalizer, Normalizer)
        weights = real_array("W", W, 2)
        H = len(weights)
        has_gain = not normalizer.is_standard
        if g is not None and not has_gain:
            raise Refusal(
                text(
                    "The standard model (none, none) has no gain: w carries the scale "
                    "already. Leave g out, or multiply it into W."
                )
            )
        self.normalizer = normalizer
        self.family = family_of(family)
        self.W = weights
        self.b = _per_neuron("b", np.zeros(H) if b is None else b, H)
        self.g = _per_neuron("g", np.ones(H) if g is None else g, H) if has_gain else None
        self.phi = self.family.dispersion(phi)
        self.reference = reference
        self.takes_stream = takes_stream

    @classmethod
    def random(
        cls,
        normalizer: Normalizer,
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
        """Where W, b and g stand in θ."""
        H, D = self.W.shape
        return ParameterLayout(H, D, has_gain=self.g is not None)

    def pack(self) -> Array:
        """Return θ = vec([W, b, g]ᵀ), (P,)."""
        return self.layout.pack(self.W, self.b, self.g)

    def unpack(self, theta: Array) -> NormalizedGLM:
        """Return the model of the same kind with parameters θ (P,)."""
        W, b, g = self.layout.split(theta)
        return NormalizedGLM(
            self.normalizer,
            self.family,
            W,
            b,
            g,
            phi=self.phi,
            reference=self.reference,
            takes_stream=self.takes_stream,
        )

    def natural_parameter(self, X: ArrayLike) -> Array:
        """Return s = g z + b, (N, H)."""
        return self.linearize(X).s

    def mean(self, X: ArrayLike) -> Array:
        """Return E[y|x] = f(s), (N, H)."""
        return self.family.mean(self.natural_parameter(X))

    def log_likelihood(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the mean of log P(y_n|x_n) over the N cases, in nats per case."""
        return float(np.mean(self.family.log_likelihood(y, self.natural_parameter(X), self.phi)))

    def gradient(self, X: ArrayLike, y: ArrayLike) -> Array:
        """Return the gradient in θ of the mean log-likelihood, (P,): E[Jᵀ (y − f(s))]/φ."""
        at = self.linearize(X)
        return at.vjp(self.residual(at.s, y))

    def residual(self, s: Array, y: ArrayLike) -> Array:
        """Return the gradient in s (N, H) of the mean log-likelihood, (y − f(s))/(Nφ)."""
        point = self.family.likelihood(y, len(self.W), self.phi).at(s)
        difference: Array = point.residual / (len(s) * self.phi)
        return difference

    def linearize(self, X: ArrayLike) -> ModelLinearization:
        """Return the derivative of s in θ at this model, over the cases X (N, D)."""
        return self._linearized(self.normalizer.linearize(self._all_weights, X, self.reference))

    def over(self, X: ArrayLike) -> FixedCases:
        """Return the normalizer over fixed cases X (N, D), for `linearize_over`."""
        inputs = real_array("X", X, 2)
        wide = inputs.astype(np.result_type(inputs, self.W), copy=False)
        return self.normalizer.over(wide, len(self.W), self.reference)

    def linearize_over(self, cases: FixedCases) -> ModelLinearization:
        """Return `linearize` over cases that `over` prepared, for a model of the same kind."""
        return self._linearized(cases.linearize(self._all_weights))

    @property
    def _all_weights(self) -> Array:
        """Those of all inputs: (W, 1) where they are (x, r)."""
        W = self.W
        return (
            np.concatenate([W, np.eye(len(W), dtype=W.dtype)], axis=1) if self.takes_stream else W
        )

    def _linearized(self, normalized: Linearization) -> ModelLinearization:
        if self.takes_stream:
            normalized = normalized.of_first(self.layout.features)
        z = normalized.z
        with np.errstate(over="ignore", invalid="ignore"):
            s = z + self.b if self.g is None else self.g * z + self.b
        if not np.isfinite(s).all():
            raise Refusal(
                text(
                    "The natural parameter g z + b exceeds the largest {kind}. Use smaller gains, "
                    "biases, weights or inputs.",
                    kind=s.dtype,
                )
            )
        return ModelLinearization(normalized, s, z, self.g, self.layout)


def _per_neuron(name: str, values: ArrayLike, neurons: int) -> Array:
    array = real_array(name, values, 1)
    if len(array) != neurons:
        raise Refusal(
            text(
                "`{name}` must hold one number for each of the {neurons} neurons; got {count}.",
                name=name,
                neurons=neurons,
                count=len(array),
            )
        )
    return array
