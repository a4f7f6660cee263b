"""The standard model beside a normalized one, on the same data from the same weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.fisher.operator import Fisher
from normgeo.normalizers.blocks import Blocks
from normgeo.normalizers.normalizer import NORMALIZERS, Normalizer
from normgeo.pictures.model_on_data import ModelOnData, independent, model_on_data
from normgeo.pictures.view import DATA
from normgeo.settings import Settings
from normgeo.symmetry.null_space import NullSpace

LARGEST = 2048  # parameters: the matrix and its eigenvectors in about a second
USES = (*DATA, "method", "groups", "eps", "statistics")


class Pair(NamedTuple):
    """Two models on the same data; the standard one alone where it is the method.

    Attributes:
        scenes: by the key of the method, the standard model first.
        notes: sentences for the reader.

    """

    scenes: Mapping[str, ModelOnData]
    notes: tuple[str, ...]

    @property
    def normalized(self) -> ModelOnData:
        """The scene of the method itself."""
        return list(self.scenes.values())[-1]


def pair(settings: Settings) -> Pair:
    """Return the standard model and that of the method.

    Raises:
        ValueError: settings that fit no model, or more parameters than can be drawn at once.

    """
    chosen = independent(settings)
    methods = {"standard": NORMALIZERS["standard"], settings.method: settings.normalizer}
    scenes = {key: model_on_data(chosen, "standardized", each) for key, each in methods.items()}
    model = list(scenes.values())[-1].model
    if model.layout.size > LARGEST:
        raise ValueError(
            text(
                "The Fisher information is drawn for up to {most:,} parameters; H = {H} neurons "
                "with D = {D} features have {count:,}. Use fewer neurons.",
                most=LARGEST,
                H=len(model.W),
                D=model.W.shape[1],
                count=model.layout.size,
            )
        )
    notes = []
    if chosen is not settings:
        notes.append(
            text(
                "The outputs are independent, each class against the rest. Choose “categorical” "
                "under Settings for a softmax, whose classes meet in every block."
            )
        )
    return Pair(scenes, tuple(dict.fromkeys([*notes, *scenes[settings.method].notes])))


def neurons_of(normalizer: Normalizer, H: int, neuron: int) -> Array:
    """Return the neurons whose weights grow together with those of one: its homogeneous block.

    Raises:
        ValueError: there is no such neuron.

    """
    if neuron >= H:
        raise ValueError(
            text(
                "Neurons are numbered from 0 to {last} here; got neuron={neuron}. Choose another.",
                last=H - 1,
                neuron=neuron,
            )
        )
    blocks = Blocks.of(normalizer, H).neurons
    return np.asarray(next(block for block in blocks if neuron in block))


def about(it: ModelOnData) -> str:
    """Return what a model is of: data, family and sizes."""
    H, D = it.model.W.shape
    return text(
        "{data}, {family} outputs, H = {H}, D = {D}",
        data=it.dataset.title,
        family=it.model.family.title,
        H=H,
        D=D,
    )


def which_fisher(F: Fisher | NullSpace) -> str:
    """Return which Fisher information it is, or a null space is of, and its scale."""
    return text("{which}", which=F.which)


def unusual(normalizer: Normalizer) -> str:
    """Return what is unusual about a normalizer, to follow other words, or ""."""
    eps = text(", ε = {eps:g}", eps=normalizer.eps) if normalizer.eps else ""
    return eps + (text(", frozen statistics") if normalizer.statistics == "frozen" else "")
