"""The derivative of the outputs in units of its own: a null space that does not depend on units.

    F v = 0  ⟺  J v = 0,  for outputs with a softmax up to its constants,    J = ∂s/∂θ

A'' and φ do not affect the null space, so s is 0 here. Nor do the sizes of rows and columns of J,
so a weight is measured in units of 1/(the size of its input), an output in units of g/σ: no column
is longer than 1, and all have similar rounding errors (Stewart, Rank degeneracy, 1984). Sizes are
those before a center, as are rounding errors.

Some centers and scales mix parameters with different units. These are replaced by coordinates with
conditions: for a center, W̃ with the conditions of a centered W̃ (1·w̃ = 0, or Σ_h w̃_h = 0), and
separately the part that the center removes, which has no effect; for a weight scale, in
ds = g X̃ dw̃/σ + z (dg − g r·dw̃/σ), the term in parentheses instead of dg.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.subspaces import graded_null_space
from normgeo.fisher.operator import MAX_BYTES, Fisher
from normgeo.models.families import Family
from normgeo.models.linearization import ModelLinearization
from normgeo.models.rows import Linearized
from normgeo.normalizers.centers import Center, NoCenter
from normgeo.normalizers.linearization import Linearization
from normgeo.null_directions.center_losses import CenterLosses
from normgeo.null_directions.deciding import deciding_scale, likeliest_at_zero
from normgeo.null_directions.units import Units

ROUNDING = 16.0
"""Below this many units of rounding, times the root of the number of columns, all is rounding."""


class Change(NamedTuple):
    """k changes of the parameters.

    Attributes:
        weights: dW̃ (k, H, D), centered. offsets: coordinates (k, m) of the part that the center
            removes.
        b, g: db and dg − g r·dw̃/σ, (k, H).

    """

    weights: Array
    offsets: Array
    b: Array
    g: Array


@final
@dataclass(frozen=True, eq=False)
class NeuronCenter(Center):
    """The part of a center that acts between neurons and removes none of their dimensions."""

    of: Center

    def project_neurons(self, W: Array, groups: int = 1) -> Array:
        return self.of.project_neurons(W, groups)


def _beyond_float64(size: float) -> Refusal:
    """The error for directions along which one unit of the outputs exceeds the range of float64."""
    return Refusal(
        "Directions in weight space must be numbers of float64, below 1.8e308; the outputs "
        "change by {size:.2g} for a change of a parameter by 1, so that theirs are larger. "
        "Multiply the inputs and weights by a factor that brings them nearer to 1.",
        size=float(size),
    )


@final
@dataclass(frozen=True, eq=False)
class Equilibrated:
    """The derivative of a model's outputs in its parameters, equilibrated.

    Coordinates e (P + m,) are those of θ, with W̃ for W and dg − g r·dw̃/σ for dg, then the m
    of `losses`.

    Attributes:
        fisher: of the equilibrated model, over the first P coordinates.
        center: of the model. losses: the part that it removes.
        input_sizes: the root mean squares of the features (D,), cases weighted as in E.
        weight_sizes, row_sizes, gain_sizes: a unit of w (H, D), b and g (H,) in e.
        radial: g r/σ of a weight scale (H, D), else None. weights_only: whether b and g are fixed.
        condition: rounding errors of z relative to those of its size.
        saturated: whether an output is so certain that its A'' is 0 in floating point.
        variance: the mean of A''.

    """

    fisher: Fisher
    center: Center
    losses: CenterLosses
    input_sizes: Array
    weight_sizes: Array
    row_sizes: Array
    gain_sizes: Array
    radial: Array | None
    weights_only: bool
    condition: float
    unit: float
    saturated: bool
    variance: float

    @classmethod
    def of(
        cls,
        at: Linearized,
        family: Family,
        weights_only: bool,
        max_bytes: float = MAX_BYTES,
    ) -> Equilibrated:
        """Equilibrate the linearization of a model.

        Raises:
            ValueError: outputs that change, per unit of a weight, by less than float64 resolves.

        """
        units, layout = Units.of(at, family, weights_only), at.layout
        part = next(at.parts()).at
        it, H = part.whole, layout.neurons
        radial = it.scale.unit_rows(it.point)
        scale = deciding_scale(at, family, weights_only, units.saturated)
        mixes = scale.shared_by_neurons or it.center.neuron_dimensions_lost > 0
        rates = np.ones(H) if part.gain is None else part.gain.astype(np.float64)
        if not units.by_case:
            rates = rates / it.sigma[0].astype(np.float64)
        # Each output may have its own unit, but those of a softmax share one.
        sizes = np.where(rates == 0, 1.0, np.abs(rates))
        if family.coupled:
            sizes = np.full_like(sizes, sizes[rates != 0].max(initial=0) or 1.0)
        left = rates / sizes
        own = np.ones_like(left) if mixes else np.where(left == 0, 1.0, np.abs(left))
        z_sizes = units.z
        if scale.radial(it.centered_inputs, it.point) is not None:
            z_sizes = np.ones(H)  # ds/dw also contains z
        uses_z = scale.divides or (part.gain is not None and not (weights_only and radial is None))
        equal = scale.of_equal_sizes(it.sigma, units.inputs)

        def equilibrated(part: ModelLinearization) -> ModelLinearization:
            it, sigma = part.whole, np.ones((1, 1))
            if equal.shared_by_neurons:
                sigma = it.sigma.astype(np.float64)
                if units.by_case:
                    sigma = sigma * units.steepness(it)
            z = it.z.astype(np.float64)
            linear = Linearization(
                NoCenter() if it.center.neuron_dimensions_lost else NeuronCenter(it.center),
                equal,
                z,
                sigma,
                it.centered_weights,
                units.scaled(it.centered_inputs, it) / units.inputs,
                it.inputs,
                it.groups,
            )
            s = np.zeros_like(part.s)
            if units.saturated:
                certain = family.covariance_diagonal(part.s) <= 0
                s = np.where(certain, likeliest_at_zero(part.s, family), 0.0)
            return ModelLinearization(
                linear,
                s,
                z / z_sizes,
                None if part.gain is None else left / own,
                layout,
            )

        weight_sizes, row_sizes = own[:, None] * units.inputs, 1 / sizes
        gain_sizes = z_sizes / sizes
        smallest = min(weight_sizes.min(), row_sizes.min(), gain_sizes.min())
        if smallest < np.finfo(np.float64).tiny:
            raise _beyond_float64(smallest)
        middle = family.covariance_diagonal(np.zeros((1, layout.neurons))).max()
        return cls(
            Fisher(at.map(equilibrated), family, float(middle) or 1.0, max_bytes=max_bytes),
            it.center,
            CenterLosses.of(it.center, H, layout.features, it.groups),
            units.inputs,
            weight_sizes,
            row_sizes,
            gain_sizes,
            None if radial is None else rates[:, None] * radial,
            weights_only,
            max(1.0, float((units.sums / z_sizes).max())) if uses_z else 1.0,
            float(np.finfo(it.z.dtype).eps),
            units.saturated,
            units.variance,
        )

    @cached_property
    def at(self) -> ModelLinearization:
        """The equilibrated model; if its rows are in blocks, at the first block."""
        return next(self.fisher.structure.at.parts()).at

    @property
    def rounding(self) -> float:
        """A bound on the rounding error of the outputs' change, for a change of e of length 1."""
        return ROUNDING * self.unit * float(np.sqrt(self.columns))

    @property
    def columns(self) -> int:
        """The number of independent changes of the parameters: H·D, or P."""
        layout = self.at.layout
        return layout.weights.size if self.weights_only else layout.size

    @cached_property
    def changing(self) -> Array:
        """The indices of the coordinates that may change, offsets excluded, (n,)."""
        layout = self.at.layout
        if not self.weights_only:
            return np.arange(layout.size)
        ties = layout.gains if self.radial is not None else layout.gains[:0]
        return np.sort(np.concatenate([layout.weights, ties]))

    @cached_property
    def conditions(self) -> Array:
        """Rows (m, n) whose product with coordinates is 0 for changes of the parameters."""
        layout, lost = self.at.layout, self.losses.conditions(self.weight_sizes)
        radial = self.radial if self.weights_only else None
        ties = np.zeros((0, layout.features)) if radial is None else radial
        rows = np.zeros((len(lost) + len(ties), layout.size))
        rows[: len(lost), layout.weights] = lost
        for h, along in enumerate(ties):
            tie = np.zeros_like(self.weight_sizes)
            tie[h] = self.gain_sizes[h] * along
            rows[len(lost) + h, layout.weights] = (self._between(tie) / self.weight_sizes).reshape(
                -1
            )
            rows[len(lost) + h, layout.gains[h]] = 1.0
        return rows[:, self.changing]

    @cached_property
    def _allowed(self) -> Array | None:
        """An orthonormal basis (n, n − m) of the solutions of the conditions; None without any."""
        return graded_null_space(self.conditions) if len(self.conditions) else None

    @property
    def growth(self) -> Array:
        """Coordinates e (P + m, k) of W̃ itself: of all of it, of each group, and of each row."""
        it = self.at.whole
        W, member = it.centered_weights.astype(np.float64), np.arange(self.at.layout.neurons)
        K = len(W) // it.groups
        parts = np.concatenate(
            [member // size == np.arange(len(W) // size)[:, None] for size in (len(W), K, 1)]
        )
        grown = parts[:, :, None] * W
        return self.pack(self.of_centered(grown, np.zeros((len(grown), len(self._offset_sizes)))))

    @property
    def offsets(self) -> Array:
        """Coordinates e (P + m, m) of the part of W that the center removes: all null."""
        P = self.at.layout.size
        return np.eye(P + len(self._offset_sizes))[:, P:]

    def spread(self, V: Array) -> Array:
        """Map free coordinates V (n − m, k) to coordinates e, with offsets 0."""
        e = np.zeros((self.at.layout.size + len(self._offset_sizes), V.shape[1]))
        e[self.changing] = V if self._allowed is None else self._allowed @ V
        return e

    def gram(self) -> Array:
        """EᵀE (n − m, n − m) in the free coordinates."""
        G: Array = self.fisher.to_dense()[np.ix_(self.changing, self.changing)]
        if self._allowed is not None:
            G = self._allowed.T @ G @ self._allowed
        return G

    def normal(self, V: Array) -> Array:
        """EᵀE V for free coordinates V (n − m, k), without the rounding errors of `gram`."""
        packed = self.fisher.structure.packed(self.spread(V)[: self.at.layout.size])
        product = packed.unpacked(self.fisher.matmat(packed.V))[self.changing]
        return product if self._allowed is None else self._allowed.T @ product

    def triangle(self, e: Array) -> Array:
        """The R of `effects` = QR, with at most k rows, (k, k), without an array over all cases."""
        return self.fisher.structure.factor_triangle(e[: self.at.layout.size])

    def root(self, e: Array) -> Array:
        """An R like `triangle`, faster, accurate to the root of rounding of the largest effect."""
        return self.fisher.structure.factor_root(e[: self.at.layout.size])

    def effects(self, e: Array) -> Array:
        """The change of the outputs (N·H, k) for changes e (P + m, k)."""
        return self.fisher.factor_times(e[: self.at.layout.size])

    def pack(self, change: Change) -> Array:
        """Return changes of parameters as coordinates e (P + m, k)."""
        layout, weights = self.at.layout, change.weights
        columns = [weights * self.weight_sizes, (change.b * self.row_sizes)[:, :, None]]
        if layout.has_gain:
            columns.append((change.g * self.gain_sizes)[:, :, None])
        theta = np.concatenate(columns, axis=2).reshape(len(weights), layout.size)
        return np.concatenate([theta, change.offsets * self._offset_sizes], axis=1).T

    def unpack(self, e: Array) -> Change:
        """Return coordinates e (P + m, k) as changes of parameters."""
        layout = self.at.layout
        D, k = layout.features, e.shape[1]
        parts = e[: layout.size].T.reshape(k, layout.neurons, layout.per_neuron)
        weights, b = parts[:, :, :D] / self.weight_sizes, parts[:, :, D] / self.row_sizes
        g = np.zeros_like(b)
        if layout.has_gain:
            g = parts[:, :, D + 1] / self.gain_sizes
        return Change(weights, e[layout.size :].T / self._offset_sizes, b, g)

    def change(self, dW: Array) -> Change:
        """Return changes dW (k, H, D) of the weights only."""
        seen = self.center.project_features(dW)
        if self.losses.rows.size:
            seen = self.center.project_neurons(seen, self.at.whole.groups)
        return self.of_centered(seen, self.losses.coordinates(dW))

    def of_centered(self, weights: Array, offsets: Array) -> Change:
        """Return changes dW̃ (k, H, D), and offsets (k, m), of the weights only."""
        rest = np.zeros(weights.shape[:2])
        return Change(weights, offsets, rest, rest - self._grown(weights))

    def theta(self, change: Change) -> Array:
        """Return changes of parameters in θ (P, k).

        Raises:
            ValueError: changes that overflow.

        """
        with np.errstate(over="ignore", invalid="ignore"):
            dW = change.weights + self.losses.weights(change.offsets)
            g = np.zeros_like(change.b)
            if not self.weights_only:
                g = change.g + self._grown(change.weights)
        parts = [dW, change.b[:, :, None], g[:, :, None]][: 2 + self.at.layout.has_gain]
        theta: Array = np.concatenate(parts, axis=2).reshape(len(dW), self.at.layout.size).T
        if not np.isfinite(theta).all():
            raise _beyond_float64(self.weight_sizes.min())
        return theta

    @cached_property
    def _offset_sizes(self) -> Array:
        return self.losses.sizes(self.weight_sizes)

    def _grown(self, weights: Array) -> Array:
        """The change g r·dw̃/σ (k, H) of a gain that cancels a weight scale's; 0 for others."""
        if self.radial is None:
            return np.zeros(weights.shape[:2])
        grown: Array = np.einsum("hd,khd->kh", self.radial, self._between(weights))
        return grown

    def _between(self, W: Array) -> Array:
        """The part of W (…, H, D) shared between neurons, without the removed part."""
        at = self.at.whole
        return at.center.project_neurons(W, at.groups)
