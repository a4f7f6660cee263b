"""The data and weights of a picture, from its settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import MEGABYTE
from normgeo.base.cache import cached
from normgeo.base.numbers import number
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.dataset import Dataset
from normgeo.datasets.datasets import DATASETS
from normgeo.models.families import FAMILIES
from normgeo.models.fitting import fit
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.normalizer import Normalizer
from normgeo.settings import Settings

SMALLEST_RANDOM_LAYER = 4


@final
@dataclass(frozen=True, eq=False)
class ModelOnData:
    """Real data under a model.

    Attributes:
        dataset: as loaded. X: (N, D). y: targets for the model's family.
        model: the normalized GLM. notes: what a reader should know, in sentences.

    """

    dataset: Dataset
    X: Array
    y: Array
    model: NormalizedGLM
    notes: tuple[str, ...]


def model_on_data(
    settings: Settings, features: str, normalizer: Normalizer | None = None
) -> ModelOnData:
    """Return the data and weights that the settings ask for.

    Args:
        settings: of the picture. features: "raw" or "standardized", where the settings say "auto".
        normalizer: of the model; the settings' method where it is None.

    Raises:
        ValueError: settings that do not fit each other or the data.

    """
    dataset = data_of(settings, features)
    notes = []
    if dataset.dropped:
        notes.append(
            text(
                "The constant features {names!s} are left out of the computation.",
                names=", ".join(dataset.dropped),
            )
        )
    family, y = targets_of(dataset, settings)
    H = neurons_of(dataset, settings)
    if not FAMILIES[family].coupled and y.shape[1] != H:
        notes.append(_shared_outputs(H, y.shape[1]))
        y = y[:, np.arange(H) % y.shape[1]]
    method = settings.normalizer if normalizer is None else normalizer
    learning = replace(method, statistics="current")
    if settings.weights == "fitted":
        model = _fitted(
            dataset.key,
            dataset.standardized,
            family,
            learning,
            ridge=settings.ridge,
            seed=settings.seed,
        )
        notes.append(
            text("Weights fitted with a ridge penalty, λ = {ridge}.", ridge=number(settings.ridge))
        )
    else:
        rng = np.random.default_rng(settings.seed)
        model = NormalizedGLM.random(learning, family, H, dataset.D, rng)
    if method.statistics == "frozen":
        reference = model.W, dataset.X
        model = NormalizedGLM(method, family, model.W, model.b, model.g, reference=reference)
    return ModelOnData(dataset, dataset.X, y, model, tuple(notes))


def data_of(settings: Settings, features: str) -> Dataset:
    """Return the data of a picture: raw or standardized as it says, where the settings do not."""
    kind = features if settings.features == "auto" else settings.features
    return DATASETS[settings.dataset].load(standardize=kind == "standardized")


def independent(settings: Settings) -> Settings:
    """Return the settings with classes one against the rest, where the family is left open."""
    dataset = DATASETS[settings.dataset].load()
    if settings.family == "auto" and dataset.labelled:
        return replace(settings, family=dataset.one_against_rest().family)
    return settings


def targets_of(dataset: Dataset, settings: Settings) -> tuple[str, Array]:
    """Return the family's key and the targets it takes; raises where it takes none of these."""
    key = dataset.family if settings.family == "auto" else settings.family
    family = FAMILIES[key]
    if dataset.labelled and not family.coupled:
        return key, dataset.one_against_rest().y
    if family.coupled and not dataset.labelled:
        raise Refusal(
            "A {family} family needs class labels; the targets of {data!s} are {own}. "
            "Choose the automatic family, or data with classes, such as the digits.",
            family=family.title,
            data=dataset.title,
            own=FAMILIES[dataset.family].title,
        )
    family.encode(dataset.y, dataset.H)
    return key, dataset.y


def _shared_outputs(neurons: int, outputs: int) -> str:
    """Say which neuron predicts which output, where their numbers differ."""
    if neurons == 1:
        return text("The one neuron predicts the first of {n} outputs.", n=outputs)
    if neurons < outputs:
        return text("The {H} neurons predict the first {H} of {n} outputs.", H=neurons, n=outputs)
    if outputs == 1:
        return text("All {H} neurons predict the one output.", H=neurons)
    return text("The {H} neurons predict the {n} outputs in turn.", H=neurons, n=outputs)


def neurons_of(dataset: Dataset, settings: Settings) -> int:
    """Return H: as asked for, or the number of outputs, at least 4 for random weights."""
    outputs = dataset.H
    if settings.weights == "fitted":
        if settings.neurons not in (0, outputs):
            raise Refusal(
                "Fitted weights have one neuron for each output of {data!s}, {outputs} in all, "
                "not {neurons}. Use random weights to choose.",
                outputs=outputs,
                data=dataset.title,
                neurons=settings.neurons,
                way_out={"weights": "random"},
            )
        return outputs
    return settings.neurons or max(outputs, SMALLEST_RANDOM_LAYER)


@cached(bytes=8 * MEGABYTE)
def _fitted(
    key: str, standardized: bool, family: str, normalizer: Normalizer, *, ridge: float, seed: int
) -> NormalizedGLM:
    dataset = DATASETS[key].load(standardized)
    _, y = targets_of(dataset, Settings(dataset=key, family=family))
    rng = np.random.default_rng(seed)
    start = NormalizedGLM.random(normalizer, family, dataset.H, dataset.D, rng)
    return fit(start, dataset.X, y, ridge=ridge).model
