"""Recurrence with normalized summed inputs, Eq. 4 of the paper.

    a^t = W_hh h^{t−1} + W_xh x^t,    h^t = f( g (a^t − μ^t)/σ^t + b )

A step is one layer with inputs [h^{t−1}, x^t] and weights [W_hh, W_xh], so any normalizer that
treats each case separately may be used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, real_number, whole_number
from normgeo.base.arrays import Array, real_array, require_room
from normgeo.base.constant import Constant
from normgeo.base.progress import Ended, Progress, Report
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.dataset import Dataset
from normgeo.models.activations import Activation
from normgeo.models.layers import Layer, undefined_for_one_case
from normgeo.normalizers.normalizer import Normalizer


@final
@dataclass(init=False, eq=False)
class Recurrence(Constant):
    """A recurrent layer of H neurons that reads F features at each step.

    Attributes:
        layer: the step as a layer with D = H + F inputs, W = [W_hh, W_xh].

    Raises:
        ValueError: bad shapes or numbers, or a normalizer that is undefined for a single case.

    """

    layer: Final[Layer]

    def __init__(
        self,
        normalizer: Normalizer | str,
        W_hh: ArrayLike,
        W_xh: ArrayLike,
        b: ArrayLike | None = None,
        g: ArrayLike | None = None,
        activation: str | Activation = "tanh",
    ) -> None:
        recurrent, inputs = real_array("W_hh", W_hh, 2), real_array("W_xh", W_xh, 2)
        if recurrent.shape != (len(inputs), len(inputs)):
            raise Refusal(
                "`W_hh` (H, H) and `W_xh` (H, F) must have one row for each of the H "
                "neurons, and W_hh one column; got shapes {recurrent} and {inputs}.",
                recurrent=recurrent.shape,
                inputs=inputs.shape,
            )
        layer = Layer(normalizer, np.hstack([recurrent, inputs]), b, g, activation)
        if reason := undefined_for_one_case(layer.units):
            raise Refusal(
                "A recurrence takes its statistics from one sequence at one step, a "
                "single case, and {method} has none there. {reason}",
                method=layer.units.normalizer.title,
                reason=reason,
            )
        self.layer = layer

    @classmethod
    def random(
        cls,
        normalizer: Normalizer | str,
        neurons: int,
        features: int,
        rng: np.random.Generator,
        *,
        spectral_radius: float = 1.0,
        activation: str | Activation = "tanh",
    ) -> Recurrence:
        """Return a recurrence with Gaussian weights, W_hh scaled to a spectral radius.

        W_hh is the same matrix at every radius, up to its scale, and W_xh ~ N(0, 1/F).

        Raises:
            ValueError: a radius that is not a finite number above 0.

        """
        radius = real_number("spectral_radius", spectral_radius, above=0)
        neurons = whole_number("neurons", neurons, 1)
        features = whole_number("features", features, 1)
        require_room("W", neurons, neurons + features)
        instance_of("rng", rng, np.random.Generator)
        W_hh = rng.standard_normal((neurons, neurons))
        with np.errstate(over="ignore"):
            W_hh *= radius / np.abs(np.linalg.eigvals(W_hh)).max()
        W_xh = rng.standard_normal((neurons, features)) / features**0.5
        return cls(normalizer, W_hh, W_xh, activation=activation)

    @property
    def neurons(self) -> int:
        """H."""
        return len(self.layer.W)

    @property
    def spectral_radius(self) -> float:
        """The largest |eigenvalue| of W_hh."""
        return float(np.abs(np.linalg.eigvals(self.layer.W[:, : self.neurons])).max())


@final
@dataclass(frozen=True, eq=False)
class Run:
    """A recurrence over T steps of S sequences.

    Attributes:
        recurrence: the layer. inputs: X (S, L, F), repeated after L steps.
        factors: of all summed inputs of each requested step, (steps,).
        summed_inputs: a^t with its factor, (T, S, H), t from 1. hidden: h^t, (T+1, S, H), t from 0.
        ended: the step that left the range of floating point or has no z, or None.

    """

    recurrence: Recurrence
    inputs: Array
    factors: Array
    summed_inputs: Array
    hidden: Array
    ended: Ended | None

    @property
    def steps(self) -> int:
        """T, the number of steps taken: fewer than requested if the run ended early."""
        return len(self.summed_inputs)

    @property
    def rms_summed_inputs(self) -> Array:
        """The root mean square of a^t over the neurons, (T, S), t from 1."""
        return _rms(self.summed_inputs)

    @property
    def rms_hidden(self) -> Array:
        """The root mean square of h^t over the neurons, (T+1, S), t from 0."""
        return _rms(self.hidden)

    def step_inputs(self, t: int) -> Array:
        """Return [h^{t−1}, x^t] of step t, from 1, with its factor, (S, H + F)."""
        return _step_inputs(self.hidden[t - 1], self.inputs, t, self.factors)


def run_recurrence(
    recurrence: Recurrence,
    X: ArrayLike,
    h0: ArrayLike | None = None,
    *,
    steps: int | None = None,
    factors: ArrayLike | None = None,
    progress: Report | Progress | None = None,
) -> Run:
    """Run a recurrence over sequences for a number of steps.

    A run that leaves the range of floating point, or meets an undefined z, ends there and keeps the
    steps so far (`Run.ended`).

    Args:
        recurrence: the layer. X: S sequences of L steps of F features, (S, L, F).
        h0: the first state, (S, H); None for zeros.
        steps: T ≥ 1, None for L. A longer run repeats the sequences.
        factors: δ_t > 0, multiplies all summed inputs of step t, (steps,).
        progress: called with (step, steps) after each step; a stop ends the run early.

    Raises:
        ValueError: bad shapes or numbers, or a first step without z (h⁰ = x¹ = 0).

    >>> from normgeo import NORMALIZERS
    >>> layer = Recurrence(NORMALIZERS["layer"], np.eye(2), [[1.0], [0.0]], activation="identity")
    >>> run_recurrence(layer, [[[3.0]]], [[0.0, 1.0]]).hidden[1]
    array([[ 1., -1.]])

    """
    instance_of("recurrence", recurrence, Recurrence)
    inputs = real_array("X", X, 3).astype(np.float64)
    H, F = recurrence.neurons, recurrence.layer.W.shape[1] - recurrence.neurons
    S, L = inputs.shape[:2]
    if inputs.shape[2] != F:
        raise Refusal(
            "`X` (S, L, F) must have {F} features at each step, one for each column of "
            "W_xh; got an array of shape {inputs}.",
            F=F,
            inputs=inputs.shape,
        )
    state = np.zeros((S, H)) if h0 is None else real_array("h0", h0, 2).astype(np.float64)
    if state.shape != (S, H):
        raise Refusal(
            "`h0` must hold a state for each of the {S} sequences, shape {expected}; got {shape}.",
            S=S,
            expected=(S, H),
            shape=state.shape,
        )
    T = L if steps is None else whole_number("steps", steps, 1)
    require_room(text("The states of all steps"), T, S, 2 * H)
    scale = np.ones(T) if factors is None else real_array("factors", factors, 1)
    if scale.shape != (T,) or (scale <= 0).any():
        raise Refusal(
            "`factors` must hold a number above 0 for each of the {T} steps; got {count} "
            "numbers, the least {least:g}.",
            T=T,
            count=len(scale),
            least=scale.min(),
        )

    summed, hidden = np.empty((T, S, H)), np.empty((T + 1, S, H))
    hidden[0] = state
    taken, ended = 0, None
    for t in Progress.of(progress).over(range(1, T + 1)):
        step_inputs = _step_inputs(hidden[t - 1], inputs, t, scale)
        try:
            summed[t - 1], hidden[t] = _step(recurrence.layer, step_inputs)
        except Refusal as error:
            reason = _reason(recurrence, step_inputs, t, error)
            if t == 1:
                raise Refusal(reason) from error
            ended = Ended(t, reason)
            break
        taken = t
    return Run(recurrence, inputs, scale, summed[:taken], hidden[: taken + 1], ended)


def digit_rows(digits: Dataset, cases: ArrayLike) -> Array:
    """Return images as sequences of their rows from top to bottom, ink from 0 to 1, (S, 8, 8).

    Raises:
        ValueError: a data set without images.

    """
    if digits.image_shape is None:
        raise Refusal(
            "Only images are read row by row; those of {data!s} are not. Use the digits.",
            data=digits.title,
        )
    images = digits.raw[np.asarray(cases)].reshape(-1, *digits.image_shape)
    rows: Array = images / digits.raw.max()
    return rows


def _step_inputs(state: Array, X: Array, t: int, factors: Array) -> Array:
    with np.errstate(over="ignore"):  # the layer raises for inputs that it refuses
        joined: Array = np.hstack([state, X[:, (t - 1) % X.shape[1]]]) * factors[t - 1]
    return joined


def _step(layer: Layer, step_inputs: Array) -> tuple[Array, Array]:
    """Return a and h, (S, H); raises where z is undefined or s leaves floating point."""
    units = layer.units
    hidden = layer.activation.value(units.linearize(step_inputs).s)
    return step_inputs @ units.W.T, hidden


def _reason(recurrence: Recurrence, step_inputs: Array, t: int, error: Refusal) -> str:
    """Return why step t has no state, with a sentence of its own for h = x = 0."""
    normalizer = recurrence.layer.normalizer
    still = ~step_inputs.any(axis=1)
    if still.any() and normalizer.scaling.takes_eps and not normalizer.eps:
        return text(
            "At step {t} sequence {sequence} has h = 0 and x = 0, so its summed inputs are all 0 "
            "and σ = 0: there is nothing to divide by. Start from a non-zero state or input.",
            t=t,
            sequence=np.flatnonzero(still)[0],
        )
    reason: str = error.args[0]
    return reason


def _rms(values: Array) -> Array:
    """Return the root mean square over the last axis; its squares do not overflow."""
    largest = np.abs(values).max(axis=-1, keepdims=True)
    unit = values / np.where(largest > 0, largest, 1)
    rms: Array = largest[..., 0] * np.sqrt((unit * unit).mean(axis=-1))
    return rms
