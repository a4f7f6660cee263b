"""What a small batch knows of μ and σ, and what that does to z."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.normalizers.batch_statistics import BatchNoise, batch_drift, batch_noise, batch_sizes
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.model_on_data import model_on_data
from normgeo.pictures.picture import DATA, Study
from normgeo.pictures.work import CALLS, ENTRIES, PRODUCTS, Sizes, weights
from normgeo.settings import Settings
from normgeo.tables.table import Table

BATCHES = 200  # of each size; fewer where that would sum more than so many numbers
NUMBERS = 3e7
COMPARED = ("batch", "layer")  # and the chosen method
NEAR = 0.1  # a prediction within 10%


class Errors(NamedTuple):
    """Errors of a statistic by size of the batch, in units of σ, each (M,).

    Attributes:
        measured, predicted: root mean squares over the neurons.
        least, most: of the neurons, measured.

    """

    measured: Array
    predicted: Array
    least: Array
    most: Array

    @classmethod
    def of(cls, measured: Array, predicted: Array, sigma: Array) -> Errors:
        """Errors of each neuron (M, H), over its σ (H,)."""
        relative = measured / sigma
        rms, expected = _rms(relative), _rms(predicted / sigma)
        return cls(rms, expected, relative.min(axis=1), relative.max(axis=1))


class Drift(NamedTuple):
    """How far z of a method moves from training to test, (M,); NaN where there is no number."""

    normalizer: Normalizer
    change: Array


class Noise(NamedTuple):
    """How μ, σ and z of a batch scatter around those of all the cases.

    Attributes:
        noise: as measured. mean, scale: the errors of μ and of σ.
        drifts: of batch norm, layer norm and the chosen method.
        predicted: the drift of batch norm to first order in 1/m, (M,).
        cases: N. data: its title. notes: sentences for the reader.

    """

    noise: BatchNoise
    mean: Errors
    scale: Errors
    drifts: tuple[Drift, ...]
    predicted: Array
    cases: int
    data: str
    notes: tuple[str, ...]

    @property
    def first_order(self) -> Array:
        """The predicted error of σ over the measured one, (M,).

        NaN where a batch has no σ, and for all cases, where there is no error.
        """
        sizes = self.noise.sizes
        useful = (sizes > 1) & (sizes < self.cases)
        ratios = np.full(len(useful), np.nan)
        ratios[useful] = self.scale.predicted[useful] / self.scale.measured[useful]
        return ratios

    @property
    def four_times(self) -> dict[int, float]:
        """By what factor the error of μ changes from m to 4m cases, as measured, by m."""
        error = dict(zip(self.noise.sizes.tolist(), self.mean.measured.tolist(), strict=True))
        return {m: error[4 * m] / error[m] for m in error if 4 * m in error}

    @property
    def first_order_from(self) -> int | None:
        """The size from which on the prediction is within 10% of what is measured, if any."""
        known = ~np.isnan(self.first_order)
        sizes, off = self.noise.sizes[known], np.abs(self.first_order[known] - 1) > NEAR
        (places,) = np.nonzero(off)
        after = sizes[places[-1] + 1 :] if len(places) else sizes
        return int(after[0]) if len(after) else None


def compute(settings: Settings, progress: Progress) -> Noise:
    """Batches of every size, drawn from the data under random or fitted weights."""
    here = model_on_data(settings, "standardized", NORMALIZERS["standard"])
    W, X = here.model.W, here.X
    rng = np.random.default_rng((settings.seed, 2))
    batches = int(np.clip(NUMBERS / (len(W) * batch_sizes(len(X)).sum()), 20, BATCHES))
    keys = tuple(dict.fromkeys((*COMPARED, settings.method)))
    parts = 1 + len(keys)
    noise = batch_noise(X @ W.T, rng, batches=batches, progress=progress.part(0, parts))
    drifts, notes = [], list(here.notes)
    for place, key in enumerate(keys, start=1):
        try:
            drift = batch_drift(
                NORMALIZERS[key],
                W,
                X,
                rng,
                sizes=noise.sizes,
                batches=batches // 4,
                progress=progress.part(place, parts),
            )
        except Refusal as error:
            if key in COMPARED:
                raise
            notes.append(text("No {name} here: {why}", name=NORMALIZERS[key].title, why=error))
            continue
        change = np.full(len(noise.sizes), np.nan)
        change[: len(drift.change)] = drift.change
        drifts.append(Drift(drift.normalizer, change))
    # z_B − z ≈ −(μ_B − μ)/σ − z (σ_B − σ)/σ, and z has mean 0 and mean square 1.
    both = np.hypot(noise.predicted_mean_error, noise.predicted_sigma_error)
    return Noise(
        noise,
        Errors.of(noise.mean_error, noise.predicted_mean_error, noise.sigma),
        Errors.of(noise.sigma_error, noise.predicted_sigma_error, noise.sigma),
        tuple(drifts),
        _rms(both / noise.sigma),
        len(X),
        here.dataset.title,
        tuple(notes),
    )


def _rms(errors: Array) -> Array:
    """The root mean square of errors (M, H) over the neurons, (M,)."""
    rms: Array = np.sqrt((errors**2).mean(axis=1))
    return rms


def _table(result: Noise) -> Table:
    """A row for each size: root mean squares over the neurons, in units of their σ."""
    noise = result.noise
    batch, *others = result.drifts
    columns = {
        "batch": noise.sizes.tolist(),
        "mu_error": result.mean.measured.tolist(),
        "predicted_mu_error": result.mean.predicted.tolist(),
        "sigma_error": result.scale.measured.tolist(),
        "predicted_sigma_error": result.scale.predicted.tolist(),
        "sigma_bias": (noise.sigma_bias / noise.sigma).mean(axis=1).tolist(),
        _column(batch): _numbers(batch),
        f"predicted_{_column(batch)}": result.predicted.tolist(),
        **{_column(drift): _numbers(drift) for drift in others},
        "reason": list(noise.reasons),
    }
    title = text(
        "Root mean square errors of batch statistics over the neurons, in units of σ; {data!s}",
        data=result.data,
    )
    return Table(tuple(columns), tuple(zip(*columns.values(), strict=True)), title)


def _column(drift: Drift) -> str:
    return "z_change_" + drift.normalizer.name.replace(" ", "_")


def _numbers(drift: Drift) -> list[float | None]:
    return [None if np.isnan(change) else float(change) for change in drift.change]


def _cost(settings: Settings) -> Cost:
    """Batches of all sizes for the statistics, and a quarter as many for z of each method."""
    sizes, methods = Sizes.of(settings, "standardized"), 1 + len(COMPARED)
    drawn = min(NUMBERS, BATCHES * 4 * sizes.N * sizes.H) + 20 * 4 * sizes.N * sizes.H
    drawn += methods * drawn / 4
    calls = (1 + methods / 4) * BATCHES * len(batch_sizes(sizes.N)) * CALLS / 4
    seconds = 1.5 * drawn / ENTRIES + drawn * sizes.D / PRODUCTS + calls
    return weights(settings, sizes) + sizes.evaluations(1) + Cost(seconds=seconds)


STUDY = Study(
    name="noise",
    title=text("How well a small batch measures μ and σ"),
    source=text("sections 2 and 3"),
    alt=text(
        "On logarithmic axes against the size m of the batch: the errors of the mean and of "
        "the scale, measured and predicted, and the change of z between training and test. The "
        "batches are drawn without replacement: the lines have slope −½ while m is far below "
        "the number of cases N, then fall faster, and at m = N the errors are 0. A method that "
        "treats each case by itself has no such errors."
    ),
    uses=(
        *DATA,
        "method",
    ),
    compute=compute,
    table=_table,
    cost=_cost,
)
