"""Where a model stands, and three directions from there: along its weights and across them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.fisher.contours import block_directions
from normgeo.fisher.neighborhood import Neighborhood
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.fisher.pair import about, neurons_of, pair, unusual, which_fisher
from normgeo.pictures.model_on_data import ModelOnData
from normgeo.settings import Settings

DIRECTIONS = ("along ŵ", "steepest", "at random")


class Stand(NamedTuple):
    """A model, where it stands, and the directions from there.

    Attributes:
        normalizer, unusual: its method. around: KL and quadratic form.
        norm: ‖w‖ of the block. directions: ŵ, the steepest across it, one at random, (k, P).

    """

    normalizer: Normalizer
    unusual: str
    around: Neighborhood
    norm: float
    directions: Array


class Standing(NamedTuple):
    """Both models of a picture, the standard one first, and what is said of them."""

    stands: tuple[Stand, ...]
    name: str
    about: str
    which: str
    notes: tuple[str, ...]


def standing(settings: Settings) -> Standing:
    """Return where both models stand, and the directions from there."""
    both = pair(settings)
    W = both.normalized.model.W
    neurons = neurons_of(settings.normalizer, len(W), settings.neuron)
    stands = tuple(_stand(it, neurons, settings.seed) for it in both.scenes.values())
    name = (
        text("weights of neuron {h}", h=neurons[0])
        if len(neurons) == 1
        else text("weights of neurons {a} to {b}, one vector", a=neurons[0], b=neurons[-1])
    )
    here = about(both.normalized)
    return Standing(stands, name, here, which_fisher(stands[-1].around.F), both.notes)


def _stand(it: ModelOnData, neurons: Array, seed: int) -> Stand:
    around = Neighborhood.of(it.model, it.X)
    rng = np.random.default_rng((seed, 3))  # the weights were drawn from the seed itself
    norm = float(np.linalg.norm(it.model.W[neurons]))
    return Stand(
        it.model.normalizer,
        unusual(it.model.normalizer),
        around,
        norm,
        block_directions(around, neurons, rng),
    )
