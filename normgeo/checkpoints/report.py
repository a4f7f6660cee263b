"""What a layer and its norm decide: lengths, learning rates, angles, and where ε matters."""

from __future__ import annotations

from dataclasses import dataclass
from math import radians
from typing import final

import numpy as np

from normgeo.base.arguments import flag, instance_of, real_number, whole_number
from normgeo.base.arrays import Array
from normgeo.base.progress import Progress, Report, Stop
from normgeo.base.refusal import Refusal
from normgeo.checkpoints.basis import sentence
from normgeo.checkpoints.epsilon import EpsilonShare, epsilon_share
from normgeo.checkpoints.gradient_lengths import GradientLengths, gradient_lengths
from normgeo.checkpoints.missing import missing
from normgeo.checkpoints.trained_layer import TrainedLayer
from normgeo.dynamics.optimizer import Equilibrium, Optimizer
from normgeo.dynamics.optimizers import optimizer_of
from normgeo.fisher.operator import fisher
from normgeo.fisher.spectrum import Spectrum, spectrum_among
from normgeo.models.families import Family
from normgeo.normalizers.blocks import Blocks, lengths
from normgeo.null_directions.explanation import Explanation, explain
from normgeo.null_directions.null_space import null_space

FROZEN = 0.01
"""A block that turns by fewer degrees in a step is called frozen, by default."""

LARGEST = 20
"""How many eigenvalues of F_WW are computed by default."""

COUNTED = 1000
"""The most parameters for which null directions are counted: the cost grows as their cube."""


@final
@dataclass(frozen=True, eq=False)
class LayerReport:
    """A layer, a stated optimizer, and what follows for its B blocks and H neurons.

    Attributes:
        layer: the layer.
        optimizer: the rule. rate: η, None where none is stated. decay: λ. batch_size: m.
        frozen_below: degrees a step.
        norms: ‖w̃‖ of each block, (B,). row_norms: of each neuron's centered row, (H,).
        gains: how long the norm lets each row be, (H,). gain_shares: of their sum, (H,).
        effective_rates: the learning rate on the unit sphere, (B,); None without a homogeneous
            block or a rate.
        gradients: ‖G‖ of each block, and how it is known; None if it is not.
        angles: expected of a step, radians, (B,), by `Optimizer.expected_angles`, for gradient
            descent arctan(η‖G‖/((1 − ηλ)‖w‖)); None without rate, gradients or a law.
        balance: the norm and angle at which decay and growth would balance, (B,); NaN of a block
            without a gradient, which does not grow; None without one.
        epsilon: None where v is not known.
        spectrum, explanation: of F_WW, None without X and a family, the latter also for many
            parameters.
        missing: sentences on what is not shown, and what that needs.

    """

    layer: TrainedLayer
    optimizer: Optimizer
    rate: float | None
    decay: float
    batch_size: int | None
    frozen_below: float
    norms: Array
    row_norms: Array
    gains: Array
    gain_shares: Array
    effective_rates: Array | None
    gradients: GradientLengths | None
    angles: Array | None
    balance: Equilibrium | None
    epsilon: EpsilonShare | None
    spectrum: Spectrum | None
    explanation: Explanation | None
    missing: tuple[str, ...]

    @property
    def standing(self) -> str:
        """Where the norm stands, and which changes the layer then ignores, in words."""
        return sentence(self.layer.place, self.layer.normalizer, self.layer.basis)

    @property
    def blocks(self) -> Blocks:
        """The homogeneous blocks; if there are none, each row is a block."""
        return self.layer.blocks

    @property
    def block_of(self) -> Array:
        """The block of each neuron, (H,)."""
        found = np.empty(len(self.layer.W), dtype=int)
        found[self.blocks.neurons] = np.arange(len(self.blocks.neurons))[:, None]
        return found

    @property
    def off(self) -> Array:
        """Which neurons have a gain of 0 after W, and so an output that W does not change, (H,)."""
        gain = None if self.layer.place.over_features else self.layer.gain
        return np.zeros(len(self.layer.W), dtype=bool) if gain is None else gain == 0

    @property
    def without_gradient(self) -> Array | None:
        """Which blocks have a gradient of exactly 0 though not all their gains are 0, (B,).

        None if gradients are unknown.
        """
        return None if self.gradients is None else (self.gradients.norms == 0) & ~self._blocks_off

    @property
    def frozen(self) -> Array | None:
        """Which blocks are too long to turn as much as stated, (B,); None without angles.

        They have a gradient and a gain: without these a block stands still at any length.
        """
        if self.angles is None or self.gradients is None:
            return None
        turning = (self.norms > 0) & (self.gradients.norms > 0) & ~self._blocks_off
        return turning & (self.angles < radians(self.frozen_below))

    @property
    def over_balance(self) -> Array | None:
        """‖w̃‖ of each block over that of its balance, (B,); NaN where nothing balances."""
        return None if self.balance is None else self.norms / self.balance.norm

    @property
    def _blocks_off(self) -> Array:
        """Which blocks have no neuron whose gain is not 0, (B,)."""
        return np.asarray(self.off[self.blocks.neurons].all(axis=1))


def layer_report(
    layer: TrainedLayer,
    *,
    optimizer: str | Optimizer = "gradient_descent",
    rate: float | None = None,
    decay: float = 0.0,
    batch_size: int | None = None,
    family: str | Family | None = None,
    frozen_below: float = FROZEN,
    eigenvalues: int | None = LARGEST,
    null_directions: bool = True,
    seed: int = 0,
    progress: Report | Progress | None = None,
) -> LayerReport:
    """Return what a layer and a stated optimizer decide; what is unknown stays None.

    Args:
        layer: as `load_layer` reads it. optimizer: one of OPTIMIZERS, or its key.
        rate: η > 0. decay: λ ≥ 0. batch_size: m; None for all cases of X.
        family: of a model whose natural parameters the outputs of the layer are: with X it gives
            the Fisher information, with X and labels the gradient.
        frozen_below: degrees a step.
        eigenvalues: how many of F_WW; 0 for none; None for all of up to COUNTED parameters, and
            for LARGEST of more.
        null_directions: whether to count and explain them as well, which takes seconds with
            hundreds of parameters.
        seed: of the mini-batches.
        progress: called with (products with F, products expected) while eigenvalues are computed;
            a report that is stopped there has none.

    Raises:
        ValueError: bad arguments, or numbers at which the norm is undefined.

    >>> from normgeo import NORMALIZERS
    >>> from normgeo.checkpoints.place import PLACES
    >>> layer = TrainedLayer("w", np.array([[3.0, 4.0]]), NORMALIZERS["weight"], PLACES["after"])
    >>> layer_report(layer, rate=0.5).effective_rates
    array([0.02])

    """
    instance_of("layer", layer, TrainedLayer)
    rule = optimizer_of(optimizer)
    rate = None if rate is None else real_number("rate", rate, above=0)
    decay = real_number("decay", decay, least=0)
    if rate is not None and rate * decay >= 1:
        raise Refusal(
            "The product of the learning rate η and the weight decay λ must be below 1, so "
            "that decay keeps the direction; got {rate} × {decay}. Use smaller ones.",
            rate=rate,
            decay=decay,
        )
    if batch_size is not None:
        batch_size = whole_number("batch_size", batch_size, 1)
    frozen_below = real_number("frozen_below", frozen_below, above=0, below=180)
    null_directions = flag("null_directions", null_directions)
    if eigenvalues is not None:
        eigenvalues = whole_number("eigenvalues", eigenvalues)
    blocks = layer.blocks
    vectors = blocks.vectors(layer.W)
    norms, size = lengths(vectors), int(layer.sizes.sum()) // len(blocks.neurons)
    rows = lengths(vectors.reshape(*blocks.neurons.shape, -1))
    row_norms = np.empty(len(layer.W))
    row_norms[blocks.neurons] = rows
    gains = layer.full_gain

    effective = None
    if rate is not None and blocks.homogeneous:
        with np.errstate(all="ignore"):
            effective = rule.effective_rates(np.array([[rate]]), decay, norms[None])[0]
        effective = np.where(norms > 0, effective, np.nan)
    gradients = gradient_lengths(layer, family, batch_size, seed)
    angles = balance = None
    if rate is not None and gradients is not None:
        angles = _expected_angles(rule, rate, decay, norms, gradients.norms, size)
        if decay and blocks.homogeneous:
            with np.errstate(all="ignore"):
                balance = rule.equilibrium(rate, decay, norms * gradients.norms, size)
            balance = _of_growing(balance, gradients.norms > 0)
    found, explanation = _of_fisher(
        layer, family, eigenvalues, null_directions, Progress.of(progress)
    )
    epsilon = epsilon_share(layer)
    total = gains.sum()
    return LayerReport(
        layer,
        rule,
        rate,
        decay,
        batch_size,
        frozen_below,
        norms,
        row_norms,
        gains,
        gains / total if total else np.zeros_like(gains),
        effective,
        gradients,
        angles,
        balance,
        epsilon,
        found,
        explanation,
        tuple(missing(layer, rule, rate, family, gradients, angles, epsilon is not None)),
    )


def _expected_angles(
    rule: Optimizer, rate: float, decay: float, norms: Array, gradient_norms: Array, size: int
) -> Array | None:
    """The angle of a step, (B,), 0 without a direction or a gradient; None without a law."""
    turning = (norms > 0) & (gradient_norms > 0)
    one = np.where(turning, norms, 1.0), np.where(turning, gradient_norms, 1.0)
    with np.errstate(under="ignore", over="ignore"):
        found = rule.expected_angles(rate, decay, *one, size)
    return None if found is None else np.where(turning, found, 0.0)


def _of_growing(balance: Equilibrium | None, growing: Array) -> Equilibrium | None:
    """The balance of the blocks that grow, NaN for the others; None where none does."""
    if balance is None or not growing.any():
        return None
    return Equilibrium(*(np.where(growing, of, np.nan) for of in balance))


def _of_fisher(
    layer: TrainedLayer,
    family: str | Family | None,
    count: int | None,
    null_directions: bool,
    progress: Progress,
) -> tuple[Spectrum | None, Explanation | None]:
    if count == 0 or family is None or not layer.knows_inputs:
        return None, None
    model, X = layer.model(family)
    F = fisher(model, X)
    places = F.layout.weights if layer.seen is None else F.layout.weights[layer.seen.ravel()]
    size = len(places)
    if count is None:
        count = size if size <= COUNTED else LARGEST
    try:
        found = spectrum_among(F, places, min(count, size), progress=progress)
    except Stop:
        return None, None
    if size > COUNTED or not null_directions or layer.seen is not None:
        return found, None
    return found, explain(model, X, null_space(F))
