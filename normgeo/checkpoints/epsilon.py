"""Where ε matters in a layer: how much it shrinks z, for each neuron and each case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.trained_layer import TrainedLayer
from normgeo.normalizers.fixed_cases import TINY

MUCH = 0.01
"""The share by which ε must shrink z to matter."""

KEPT = 10_000
"""How many pairs of a neuron and a case are kept: those that lose most to ε."""

MAP = (32, 64)
"""How many neurons and cases the map shows: those that lose most to ε."""

AT_ONCE = 2**20
"""How many numbers are processed at once."""

_UNKNOWN = 1e-12  # of ε: a smaller v is lost beside it, and so is z without ε


@final
@dataclass(frozen=True, eq=False)
class EpsilonPairs:
    """What z loses to ε, for each pair of a neuron (or feature) and a case, largest first.

        lost = |C|/√v − |C|/√(v + ε)

    Without ε, z has a standard deviation of 1, and 0.1 is a tenth of it. Where v is 0, z without ε
    is undefined, and nothing is lost.

    Attributes:
        neurons, cases: of the pairs, (K,), K at most KEPT. z: with ε. lost: as above. shorter: what
            is lost, as a share of |z| without ε.
        over: how many of all pairs lose more than MUCH of |z|. size: how many pairs there are.
        map: lost, (h, n), for the neurons and the cases that lose most.
        map_neurons, map_cases: their indices, (h,) and (n,).

    """

    neurons: Array
    cases: Array
    z: Array
    lost: Array
    shorter: Array
    over: int
    size: int
    map: Array
    map_neurons: Array
    map_cases: Array


@final
@dataclass(frozen=True, eq=False)
class EpsilonShare:
    """The share by which ε shrinks z, 1 − √(v/(v + ε)).

    Attributes:
        shortened: this share of each case, each neuron, or both, (N or 1, channels or 1).
        source: what v was computed from. pairs: what is lost; None without activations.

    """

    shortened: Array
    source: str
    pairs: EpsilonPairs | None = None

    @property
    def of_neurons(self) -> Array | None:
        """The largest share of each neuron (or feature), (channels,); None if they share v."""
        most: Array = self.shortened.max(axis=0)
        return most if len(most) > 1 else None

    @property
    def of_cases(self) -> Array | None:
        """The largest share of each case, (N,); None if the cases share v."""
        most: Array = self.shortened.max(axis=1)
        return most if len(most) > 1 else None


def epsilon_share(layer: TrainedLayer) -> EpsilonShare | None:
    """Return where ε matters, from X or else from the running variance; None without either.

    Raises:
        ValueError: summed inputs or squares beyond the largest float.

    """
    eps = float(layer.normalizer.added_eps)
    if not eps:
        return None
    moments = layer.moments()
    if moments is not None:
        C, v = moments
        if not (np.isfinite(C).all() and np.isfinite(v).all()):
            raise Refusal(
                "The summed inputs of the layer, or their squares, exceed the largest float. "
                "Use smaller activations X."
            )
        before = np.maximum(v - eps, 0)  # `moments` has added it
        shortened = _shortened(before, eps)
        return EpsilonShare(shortened, text("the activations X"), _pairs(C, before, eps, shortened))
    if layer.running_var is None:
        return None
    shortened = _shortened(layer.running_var[None], eps)
    return EpsilonShare(shortened, text("the running variance of training"))


def _shortened(v: Array, eps: float) -> Array:
    with np.errstate(over="ignore"):
        shortened: Array = 1 - 1 / np.sqrt(1 + eps / np.maximum(v, TINY))
    return shortened


class _Worst(NamedTuple):
    """The pairs that lose most so far, by their positions in C."""

    lost: Array
    places: Array

    def with_more(self, lost: Array, first: int) -> _Worst:
        values, places = lost.ravel(), np.arange(lost.size) + first
        if lost.size > KEPT:
            most = np.argpartition(values, -KEPT)[-KEPT:]
            values, places = values[most], places[most]
        values, places = np.append(self.lost, values), np.append(self.places, places)
        order = np.lexsort((places, -values))[:KEPT]
        return _Worst(values[order], places[order])


def _pairs(C: Array, v: Array, eps: float, shortened: Array) -> EpsilonPairs:
    N, channels = C.shape
    known = v > _UNKNOWN * eps
    factor = np.where(known, 1 / np.sqrt(np.where(known, v, 1)) - 1 / np.sqrt(v + eps), 0)
    of_neurons, of_cases = np.zeros(channels), np.zeros(N)
    worst, step = _Worst(np.zeros(0), np.zeros(0, int)), max(1, AT_ONCE // channels)
    for first in range(0, N, step):
        rows = slice(first, first + step)
        lost = np.abs(C[rows]) * (factor[rows] if len(factor) > 1 else factor)
        of_neurons = np.maximum(of_neurons, lost.max(axis=0))
        of_cases[rows] = lost.max(axis=1)
        worst = worst.with_more(lost, first * channels)
    cases, neurons = np.divmod(worst.places, channels)

    def at(values: Array, cases: Array, neurons: Array) -> Array:
        found: Array = values[
            cases if len(values) > 1 else 0, neurons if values.shape[1] > 1 else 0
        ]
        return found

    first_neurons = np.argsort(-of_neurons, kind="stable")[: MAP[0]]
    first_cases = np.argsort(-of_cases, kind="stable")[: MAP[1]]
    n, c = first_neurons[:, None], first_cases[None]
    return EpsilonPairs(
        neurons,
        cases,
        C[cases, neurons] / np.sqrt(at(v, cases, neurons) + eps),
        worst.lost,
        np.broadcast_to(at(shortened, cases, neurons), cases.shape),
        int((shortened > MUCH).sum()) * (C.size // shortened.size),
        C.size,
        np.abs(C[c, n]) * at(factor, c, n),
        first_neurons,
        first_cases,
    )
