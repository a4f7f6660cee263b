"""What pictures cost, counted in a few kinds of operations.

Operations are counted from the sizes of the data and the model, and divided by rates: those of
one processor of a small rented server of 2020, about half of what an ordinary laptop reaches.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Self, final

from normgeo.base.budget import MEGABYTE, Cost
from normgeo.base.refusal import Refusal
from normgeo.models.families import FAMILIES
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.statistic import group_size
from normgeo.null_directions.dimension import expected_dimension
from normgeo.pictures.model_on_data import data_of, independent, neurons_of, targets_of
from normgeo.settings import Settings

PRODUCTS = 4e9  # multiplications with an addition in matrix products, a second
ENTRIES = 2e8  # entries of arrays that an operation goes through, a second
CALLS = 4e-4  # seconds of Python for an evaluation of a model
PASSES = 12  # operations that go through the (N, H) entries in an evaluation of a model
BYTES = 8  # of a number
HELD = 12  # arrays of (N, H) that an evaluation holds at once
BASE = Cost(bytes=16 * MEGABYTE, seconds=0.05)
FITTED = 600  # evaluations until a fit has ended


@final
class Sizes(NamedTuple):
    """The sizes of a picture's model: N cases, D features, H neurons; whether outputs meet."""

    N: int
    D: int
    H: int
    coupled: bool

    @classmethod
    def of(
        cls,
        settings: Settings,
        features: str,
        apart: bool = False,
        normalizer: Normalizer | None = None,
    ) -> Self:
        """The sizes that settings ask for; raises as `model_on_data` does.

        Args:
            settings: of the picture. features: as of `model_on_data`.
            normalizer: whose groups must divide the neurons.
            apart: whether outputs are taken one against the rest where the family is open.

        """
        chosen = independent(settings) if apart else settings
        data = data_of(chosen, features)
        family, _ = targets_of(data, chosen)
        H = neurons_of(data, chosen)
        group_size(H, normalizer.groups if normalizer else 1)
        return cls(data.N, data.D, H, FAMILIES[family].coupled)

    def require_z(self, normalizer: Normalizer) -> None:
        """Raise where a normalizer has no z at these sizes, whatever the weights."""
        # What is frozen is of all cases.
        current = replace(normalizer, statistics="current")
        if reason := current.undefined(self.N, self.H, self.D):
            raise Refusal(reason)

    def sees_weights(self, normalizer: Normalizer) -> bool:
        """Whether outputs change with the weights at all, as long as those are generic."""
        family = "categorical" if self.coupled else "gaussian"
        weights = self.H * self.D
        return expected_dimension(normalizer, self.H, self.D, family) < weights

    @property
    def parameters(self) -> int:
        """P, with a bias and a gain for each neuron."""
        return self.H * (self.D + 2)

    def of_cases(self, N: int | None) -> Self:
        """The sizes with another number of cases; None leaves it."""
        return self if N is None else self._replace(N=N)

    def evaluations(self, count: float, passes: float = PASSES) -> Cost:
        """So many evaluations of the loss and its gradient, or of the KL, one after the other."""
        N, D, H, _ = self
        seconds = 2 * N * D * H / PRODUCTS + (passes * N * H + 20 * H * D) / ENTRIES + CALLS
        return Cost(HELD * BYTES * N * H, count * seconds)

    def fisher(self, mixed: bool) -> Cost:
        """One Fisher information as a matrix; `mixed` where neurons share a statistic."""
        c = self.H if mixed or self.coupled else 1
        clusters, portion = self.H / c, min(self.N, 1024, 2**22 // c**2)
        pairs = c * (c + 1) / 2  # of neurons: the matrix is symmetric
        products = self.N * clusters * (pairs * self.D**2 + c**2 * (4 * self.D + 4 * c))
        copies = self.N * clusters * (pairs * self.D + 20 * c**2)
        held = 6 * portion * c**2 + 4 * self.parameters**2
        return Cost(BYTES * held, products / PRODUCTS + copies / ENTRIES)


def eigenvalues(size: int) -> Cost:
    """All eigenvalues and eigenvectors of a symmetric matrix."""
    return Cost(4 * BYTES * size**2, 5 * size**3 / PRODUCTS)


def certificate_seconds(groups: int) -> float:
    """What a certificate of layers with so many groups takes, at an ε and without."""
    return 0.01 + 0.005 * groups


def weights(settings: Settings, sizes: Sizes, models: int = 1) -> Cost:
    """Random weights, or a fit of each of some models."""
    fitted = settings.weights == "fitted"
    return BASE + (sizes.evaluations(models * FITTED) if fitted else Cost())


def times(count: float, cost: Cost) -> Cost:
    """The same so often, one after the other, with nothing kept of it."""
    return Cost(cost.bytes, count * cost.seconds)
