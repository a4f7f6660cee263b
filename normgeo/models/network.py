"""A small multi-layer network of normalized layers, and its derivative in all parameters.

    h_0 = x,    h_l = f(g_l z_l + b_l),    s = W h_L + b,    log P(y|x) = s·y − A(s) + …

The derivative is the chain of those of the layers (`linearization`), forward and backward. θ holds
the layers one after the other, each in the order of the paper, θ_l = vec([W, b, g]ᵀ).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, whole_number, whole_numbers
from normgeo.base.arrays import Array, real_array, require_room
from normgeo.base.refusal import Refusal
from normgeo.models.activations import Activation, activation_of
from normgeo.models.families import Family
from normgeo.models.glm import NormalizedGLM
from normgeo.models.layers import Layer, UnitsLinearization, undefined_for_one_case
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer


@final
@dataclass(frozen=True, eq=False)
class NetworkLinearization:
    """The derivative of the natural parameter s of the output in θ at one (θ, X).

    Attributes:
        layers: those of the hidden layers before their activation, then of the output.
        slopes: f' of the hidden layers, (N, H_l) each. hidden: their h_l, (N, H_l) each.

    """

    layers: tuple[UnitsLinearization, ...]
    slopes: tuple[Array, ...]
    hidden: tuple[Array, ...]

    @property
    def s(self) -> Array:
        """The natural parameter of the output, (N, H)."""
        return self.layers[-1].s

    def jvp(self, dtheta: Array) -> Array:
        """Return ds (N, H) for a change dθ (P,)."""
        sizes = [at.parameters.layout.size for at in self.layers]
        parts = np.split(dtheta, np.cumsum(sizes)[:-1])
        ds = self.layers[0].jvp(parts[0])
        for at, slope, part in zip(self.layers[1:], self.slopes, parts[1:], strict=True):
            ds = at.jvp(part, slope * ds)
        return ds

    def vjp(self, U: Array) -> Array:
        """Return the adjoint of `jvp` at U (N, H), (P,)."""
        parts = [self.layers[-1].parameters.vjp(U)]
        for place in range(len(self.slopes) - 1, -1, -1):
            U = self.slopes[place] * self.layers[place + 1].vjp_inputs(U)
            parts.append(self.layers[place].parameters.vjp(U))
        return np.concatenate(parts[::-1])


@final
@dataclass(frozen=True, eq=False)
class Network:
    """Hidden layers, each with its normalizer, and a generalized linear model on the last one.

    Attributes:
        hidden: the layers, from the inputs to the output. output: the model of y; its normalizer
            must be defined for a single case.

    Raises:
        ValueError: layers that do not fit each other, or an output that needs a batch.

    """

    hidden: tuple[Layer, ...]
    output: NormalizedGLM

    def __post_init__(self) -> None:
        for layer in instance_of("hidden", self.hidden, tuple):
            instance_of("hidden", layer, Layer)
        instance_of("output", self.output, NormalizedGLM)
        shapes = [units.W.shape for units in self.units]
        for place, ((H, _), (_, D)) in enumerate(pairwise(shapes)):
            if H != D:
                raise Refusal(
                    "Each layer must have one feature for each neuron of the layer below; "
                    "got weights of shape {shape} above {H} neurons.",
                    shape=shapes[place + 1],
                    H=H,
                )
        if reason := undefined_for_one_case(self.output):
            raise Refusal(
                "The output of a network must be defined for a single case. {reason}", reason=reason
            )

    @classmethod
    def random(
        cls,
        normalizer: Normalizer | str,
        family: Family | str,
        widths: Sequence[int],
        features: int,
        outputs: int,
        rng: np.random.Generator,
        *,
        activation: str | Activation = "relu",
    ) -> Network:
        """Return a network with Gaussian weights of variance c/D: c = 2 for ReLU, else 1.

        Every hidden layer has the normalizer; the output is the standard model.
        """
        chosen = activation_of(activation)
        outputs = whole_number("outputs", outputs, 1)
        instance_of("rng", rng, np.random.Generator)
        hidden, D = [], whole_number("features", features, 1)
        for H in whole_numbers("widths", widths, 1):
            require_room("W", H, D)
            W = rng.standard_normal((H, D)) * (chosen.weight_variance / D) ** 0.5
            hidden.append(Layer(normalizer, W, activation=chosen))
            D = H
        output = NormalizedGLM.random(NORMALIZERS["standard"], family, outputs, D, rng)
        return cls(tuple(hidden), output)

    @property
    def units(self) -> tuple[NormalizedGLM, ...]:
        """All layers as normalized linear models, the output last."""
        return (*(layer.units for layer in self.hidden), self.output)

    def pack(self) -> Array:
        """Return θ (P,), layer after layer."""
        return np.concatenate([units.pack() for units in self.units])

    @property
    def is_weight(self) -> Array:
        """Which parameters of θ are weights, not gains or biases, (P,)."""
        parts = [np.zeros(units.layout.size, dtype=bool) for units in self.units]
        for part, units in zip(parts, self.units, strict=True):
            part[units.layout.weights] = True
        return np.concatenate(parts)

    def unpack(self, theta: Array) -> Network:
        """Return the network of the same kind with parameters θ (P,).

        Raises:
            ValueError: another number of parameters, or one that is not finite.

        """
        sizes = [units.layout.size for units in self.units]
        if np.shape(theta) != (sum(sizes),):
            raise Refusal(
                "`theta` must have shape ({size},), {sizes} parameters of {layers} "
                "layers; got {shape}.",
                size=sum(sizes),
                sizes=" + ".join(map(str, sizes)),
                layers=len(sizes),
                shape=np.shape(theta),
            )
        *parts, last = np.split(theta, np.cumsum(sizes)[:-1])
        hidden = (layer.unpack(part) for layer, part in zip(self.hidden, parts, strict=True))
        return Network(tuple(hidden), self.output.unpack(last))

    def linearize(self, X: ArrayLike) -> NetworkLinearization:
        """Return the derivative of s in θ, over the cases X (N, D), with current statistics.

        Raises:
            ValueError: bad inputs, or a layer where z is undefined.

        """
        inputs = real_array("X", X, 2)
        layers, slopes, hidden = [], [], []
        for layer in self.hidden:
            at = layer.linearize(inputs)
            inputs = layer.activation.value(at.s)
            layers.append(at)
            slopes.append(layer.activation.slope(at.s))
            hidden.append(inputs)
        layers.append(UnitsLinearization.of(self.output, inputs))
        return NetworkLinearization(tuple(layers), tuple(slopes), tuple(hidden))

    def natural_parameter(self, X: ArrayLike) -> Array:
        """Return s (N, H) of the output, with current statistics."""
        return self.linearize(X).s

    def loss(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return −mean log P(y|x), in nats per case."""
        return self.loss_at(self.natural_parameter(X), y)

    def loss_and_gradient(self, X: ArrayLike, y: ArrayLike) -> tuple[float, Array]:
        """Return −mean log P(y|x) in nats per case, and its gradient in θ, (P,)."""
        at = self.linearize(X)
        return self.loss_at(at.s, y), self.gradient_at(at, y)

    def loss_at(self, s: Array, y: ArrayLike) -> float:
        """Return −mean log P(y|s) for natural parameters s (N, H) of the output, nats per case."""
        return -float(np.mean(self.output.family.log_likelihood(y, s, self.output.phi)))

    def gradient_at(self, at: NetworkLinearization, y: ArrayLike) -> Array:
        """Return the gradient in θ of −mean log P(y|x), (P,), from the linearization there."""
        return -at.vjp(self.output.residual(at.s, y))
