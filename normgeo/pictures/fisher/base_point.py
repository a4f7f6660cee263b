"""A point in parameter space, and three directions from it: along its weights and across them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.fisher.contours import NO_CURVATURE, block_directions
from normgeo.fisher.neighborhood import Neighborhood
from normgeo.fisher.which import WhichFisher
from normgeo.normalizers.blocks import Blocks
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.fisher.beside_standard import (
    BesideStandard,
    cost_beside_standard,
    sizes_beside_standard,
)
from normgeo.pictures.model_on_data import ModelOnData
from normgeo.settings import Settings

DIRECTIONS = (text("along ŵ"), text("steepest"), text("at random"))


@final
@dataclass(frozen=True, eq=False)
class BasePoint:
    """A model as a point in parameter space, and directions from there.

    Attributes:
        data: the model and its data. around: KL and quadratic form.
        norm: ‖w‖ of the block. directions: ŵ, the steepest across it, one at random, (k, P).

    """

    data: ModelOnData
    around: Neighborhood
    norm: float
    directions: Array

    @classmethod
    def of(cls, data: ModelOnData, neurons: Array, seed: int) -> Self:
        """The point of a model, with directions among the weights of some neurons."""
        around = Neighborhood.of(data.model, data.X)
        rng = np.random.default_rng((seed, 3))  # the weights were drawn from the seed itself
        norm = float(np.linalg.norm(data.model.W[neurons]))
        return cls(data, around, norm, block_directions(around, neurons, rng))

    @property
    def normalizer(self) -> Normalizer:
        """The method of the model."""
        return self.data.model.normalizer

    @property
    def steps(self) -> Array:
        """Steps as long as w in each of the directions, (k, P)."""
        return self.norm * self.directions


@final
@dataclass(frozen=True, eq=False)
class BasePoints:
    """The points of both models, the standard one first, and what is said of them.

    Attributes:
        points: theirs. name, letter: of the weights, w of one neuron and W of several.
        caption: data, family, sizes.
        which: the Fisher information. notes: sentences for the reader.

    """

    points: tuple[BasePoint, ...]
    name: str
    letter: str
    caption: str
    which: WhichFisher
    notes: tuple[str, ...]

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The points of both models; raises what `BesideStandard.of` and the directions do."""
        both = BesideStandard.of(settings)
        blocks = Blocks.of(settings.normalizer, len(both.normalized.model.W))
        block = blocks.holding(settings.neuron)
        neurons = blocks.neurons[block]
        points = tuple(BasePoint.of(it, neurons, settings.seed) for it in both.models)
        letter = "w" if len(neurons) == 1 else "W"
        return cls(points, blocks.name(block), letter, both.caption, both.which, both.notes)


def cost_of_base_points(settings: Settings, evaluations: float) -> Cost:
    """What a matrix and evaluations of each model take; raises as `BasePoints.of` for its sizes."""
    sizes = sizes_beside_standard(settings)
    Blocks.of(settings.normalizer, sizes.H).holding(settings.neuron)
    if not sizes.sees_weights(settings.normalizer):
        raise Refusal(NO_CURVATURE)
    return cost_beside_standard(settings, matrices=1, evaluations=evaluations)
