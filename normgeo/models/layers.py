"""A hidden layer of normalized neurons, h = f(g z + b), for networks and for recurrences.

A layer is a normalized linear model whose natural parameter s = g z + b goes through an
activation instead of a family: Eq. 5 of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from numpy.typing import ArrayLike

from normgeo.base.arrays import Array
from normgeo.base.constant import Constant
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.models.activations import Activation, activation_of
from normgeo.models.glm import NormalizedGLM
from normgeo.models.linearization import ModelLinearization
from normgeo.normalizers.linearization import Linearization
from normgeo.normalizers.named import normalizer_of
from normgeo.normalizers.normalizer import Normalizer


@final
@dataclass(frozen=True, eq=False)
class UnitsLinearization:
    """The derivative of s = g z + b in θ and in the inputs X: ds = g dz + z dg + db.

    Attributes:
        parameters: the derivative in θ. normalized: that of z, in W and X.

    """

    parameters: ModelLinearization
    normalized: Linearization

    @classmethod
    def of(cls, units: NormalizedGLM, X: Array) -> UnitsLinearization:
        """Linearize s at these units and inputs X (N, D); raises where z is undefined."""
        at = units.linearize(X)
        if not isinstance(at.normalized, Linearization):
            raise TypeError(
                text("The units of a layer are linearized whole, not neuron by neuron.")
            )
        return cls(at, at.normalized)

    @property
    def s(self) -> Array:
        """The natural parameter, (N, H)."""
        return self.parameters.s

    def jvp(self, dtheta: Array, dX: Array | None = None) -> Array:
        """Return ds (N, H) for changes dθ (P,) and dX (N, D); None leaves X fixed."""
        ds = self.parameters.jvp(dtheta)
        return ds if dX is None else ds + self.jvp_inputs(dX)

    def jvp_inputs(self, dX: Array) -> Array:
        """Return ds (N, H) for a change dX (N, D) alone."""
        return self._scaled(self.normalized.jvp(dX=dX))

    def vjp_inputs(self, U: Array) -> Array:
        """Return the adjoint of `jvp_inputs` at U (N, H), (N, D)."""
        return self.normalized.vjp_inputs(self._scaled(U))

    def _scaled(self, U: Array) -> Array:
        gain = self.parameters.gain
        return U if gain is None else gain * U


@final
@dataclass(init=False, eq=False)
class Layer(Constant):
    """A hidden layer h = f(g z + b).

    Attributes:
        units: W (H, D), b and g (H,) and their normalizer; its family has no part in it.
        activation: f.

    Raises:
        ValueError: bad shapes or numbers, a gain for the standard layer, an unknown activation,
            or frozen statistics.

    """

    units: Final[NormalizedGLM]
    activation: Final[Activation]

    def __init__(
        self,
        normalizer: Normalizer | str,
        W: ArrayLike,
        b: ArrayLike | None = None,
        g: ArrayLike | None = None,
        activation: str | Activation = "tanh",
    ) -> None:
        normalizer = normalizer_of(normalizer)
        if normalizer.statistics == "frozen":
            raise Refusal(
                "A layer computes with current statistics; got a normalizer with frozen "
                "ones. Training keeps running averages for test time by itself."
            )
        self.units = NormalizedGLM(normalizer, "gaussian", W, b, g)
        self.activation = activation_of(activation)

    @property
    def normalizer(self) -> Normalizer:
        """What makes z of (W, X)."""
        return self.units.normalizer

    @property
    def W(self) -> Array:
        """The weights, (H, D)."""
        return self.units.W

    def linearize(self, X: Array) -> UnitsLinearization:
        """Return the derivative of s, before the activation; raises where z is undefined."""
        return UnitsLinearization.of(self.units, X)

    def unpack(self, theta: Array) -> Layer:
        """Return the layer of the same kind with parameters θ (P,)."""
        W, b, g = self.units.layout.split(theta)
        return Layer(self.normalizer, W, b, g, self.activation)


def undefined_for_one_case(units: NormalizedGLM) -> str:
    """Return why units have no z for a single case, or '' if they have one."""
    H, D = units.W.shape
    return units.normalizer.undefined(1, H, D, units.batch)
