"""The number of null directions in exact arithmetic: those of float64 may be only nearly null.

For given weights and inputs, z ignores dW if dC/σ = C dσ/σ², and with dv = 2σ dσ

    dz = (2v dC − C dv)/(2vσ),    C linear in W,    v quadratic,

so up to a factor for each row the change of the outputs is rational in W and X, and its rank is
computed modulo a prime. The factor is g/σ in float64.
"""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.residues import Residues, rank, residues
from normgeo.base.subspaces import SAME
from normgeo.models.families import Family
from normgeo.models.linearization import ModelLinearization
from normgeo.models.rows import Linearized
from normgeo.normalizers.fixed_cases import FixedCases
from normgeo.null_directions.dimension import generic_terms

MOST_ENTRIES = 2e6
"""Entries of J above which only float64 decides ranks."""


def least_dimension(at: Linearized, family: Family, weights_only: bool) -> int:
    """Return the smallest dimension of the null space for this center and scale, 0 if not known."""
    if not weights_only:
        return 0
    it = next(at.parts()).at.whole
    shape, alone = (at.layout.neurons, at.layout.features), it.stream is None
    narrowed = it.added > 0 or not alone  # with a residual stream W cannot grow freely
    coupled = family.coupled and alone
    terms = generic_terms(it.center, it.scale, it.groups, narrowed, shape, coupled)
    return sum(terms.values())


def exact_dimension(over: Linearized, family: Family, weights_only: bool) -> int | None:
    """Return the dimension of the null space of F_WW or of F; None if it cannot be counted.

    It cannot for Eq. 13 of a layer statistic, which is no derivative; for certain outputs of a
    softmax; for custom statistics that need more than + − × ÷; if a bias cancels a gain under a
    layer scale, since they differ by a factor of σ; and for too many cases, neurons and features.
    """
    layout = over.layout
    columns = layout.weights.size if weights_only else layout.size
    entries = over.cases * layout.neurons * columns
    if over.coupling != "exact" or entries > MOST_ENTRIES:
        return None
    at = over.in_memory()
    it, variance = at.whole, family.covariance_diagonal(at.s)
    traded = not weights_only and it.scale.shared_by_neurons and (np.ptp(it.z, axis=0) < SAME).any()
    if traded or (family.coupled and not variance.all()):
        return None
    try:
        J = _jacobian(at, family, weights_only)
    except TypeError:  # residues support only + − × ÷
        return None
    return columns - rank(J)


def _jacobian(at: ModelLinearization, family: Family, weights_only: bool) -> Residues:
    """∂s/∂θ up to a factor for each row, (rows, P or H·D)."""
    it, layout = at.whole, at.layout
    X, weights, each = it.inputs, it.centered_weights, np.eye(layout.weights.size, dtype=np.int64)
    each = each.reshape(-1, *weights.shape)
    if it.stream is not None:
        X = np.concatenate([X, it.stream], axis=1)
        weights = np.concatenate([weights, np.eye(layout.neurons)], axis=1)
        each = np.pad(each, ((0, 0), (0, 0), (0, layout.neurons)))
    cases = FixedCases.of(it.center, it.scale, it.groups, it.added, layout.neurons, residues(X))
    W = it.center.project_weights(residues(weights), it.groups)
    C, v = (residues(M) for M in cases.moments(W))
    each = residues(each)
    dW = it.center.project_weights(each, it.groups)
    (up, v_up), (down, v_down) = (cases.moments(M) for M in (W + dW, W - dW))
    dC, dv = (up - down) / 2, (residues(v_up) - residues(v_down)) / 2
    gain = np.ones(layout.neurons) if at.gain is None else at.gain
    rates = residues(gain) / (residues(it.sigma) * 2 * v)
    ds = [rates * (2 * v * dC - C * dv)]
    if not weights_only:
        one_neuron = np.eye(layout.neurons, dtype=np.int64)[:, None, :]
        ds.append(residues(np.broadcast_to(one_neuron, (layout.neurons, *C.shape))))
        if at.gain is not None:
            ds.append(one_neuron * (C / it.sigma))
    J: Array = np.concatenate([np.asarray(part) for part in ds])
    seen = family.covariance_diagonal(at.s) > 0
    J = J[:, :, 1:] - J[:, :, :1] if family.coupled else J * seen
    return J.reshape(len(J), -1).T.view(Residues)
