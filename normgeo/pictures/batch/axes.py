"""The pictures of the Batch page: who shares a statistic, and what a small batch costs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.normalizers.batch_statistics import (
    BatchDrift,
    BatchNoise,
    batch_drift,
    batch_noise,
    batch_sizes,
)
from normgeo.normalizers.normalizer import NORMALIZERS
from normgeo.normalizers.shared_statistics import (
    SHARINGS,
    Statistics,
    feature_maps,
    shared_statistics,
)
from normgeo.pictures.batch.axes_figure import Panel, axes_figure
from normgeo.pictures.batch.noise_figure import noise_figure
from normgeo.pictures.model_on_data import model_on_data
from normgeo.pictures.view import DATA, View
from normgeo.settings import Settings
from normgeo.tables.table import Table

# The arrays of the picture: cases, neurons, and the entry whose z is told.
CASES = NEURONS = 8
FLAT_MARK, MAP_MARK = (0, 2), (0, 1, 2, 2)
SIZES = (1, 2, 4, 8)


class AxesPicture(NamedTuple):
    """Who shares a statistic, in batches of several sizes.

    Attributes:
        flat: cases × neurons, (8, 8). maps: cases × channels × pixels, (8, 4, 6, 6).
        panels: by the size of the batch, then by method. start: the size at which it opens.
        data: what the flat array is of.

    """

    flat: Array
    maps: Array
    panels: dict[int, dict[str, Panel]]
    start: int
    data: str


def _axes(settings: Settings) -> AxesPicture:
    data = DATASETS[settings.dataset].load(standardize=settings.features != "raw")
    rng = np.random.default_rng(settings.seed)
    W = rng.standard_normal((NEURONS, data.D)) / data.D**0.5
    flat = data.X[:CASES] @ W.T
    digits = DATASETS["digits"].load()
    maps = feature_maps(digits.raw[:CASES].reshape(-1, *(digits.image_shape or ())))
    sizes = sorted({*SIZES, min(settings.batch_size, CASES)})
    panels = {
        m: {
            key: Panel(
                SHARINGS[key],
                _statistics(key, flat[:m], settings.groups),
                _statistics(key, maps[:m], settings.groups),
                FLAT_MARK,
                MAP_MARK,
            )
            for key in SHARINGS
        }
        for m in sizes
    }
    start = min(settings.batch_size, CASES)
    return AxesPicture(flat, maps, panels, start, data.title)


def _statistics(key: str, values: Array, groups: int) -> Statistics | str:
    """Return the statistics, or why there are none."""
    try:
        return shared_statistics(key, values, groups if SHARINGS[key].takes_groups else 1)
    except ValueError as error:
        return str(error)


def _axes_table(picture: AxesPicture) -> Table:
    rows: list[tuple[object, ...]] = []
    for m, panels in picture.panels.items():
        for panel in panels.values():
            for name, found, mark in (
                ("cases × neurons", panel.flat, panel.flat_mark),
                ("cases × channels × pixels", panel.maps, panel.map_mark),
            ):
                title = panel.sharing.title
                if isinstance(found, str):
                    rows.append((m, name, title, *(None,) * 7, found))
                    continue
                place = np.unravel_index(found.labels[mark], found.shape)
                mean, sigma = float(found.mean[place]), float(found.sigma[place])
                z = float(found.z[mark]) if sigma else None
                rows.append(
                    (
                        m,
                        name,
                        title,
                        " × ".join(found.axes),
                        found.mean.size,
                        found.entries,
                        float(found.values[mark]),
                        mean,
                        sigma,
                        z,
                        found.problem,
                    )
                )
    columns = (
        "batch",
        "array",
        "method",
        "one statistic for each",
        "statistics",
        "entries each",
        "marked entry",
        "mu",
        "sigma",
        "z",
        "problem",
    )
    return Table(columns, tuple(rows), text("Which entries share a mean and a variance"))


AXES = View(
    "axes",
    text("Which entries share a mean and a variance"),
    ("dataset", "features", "seed", "groups", "batch_size"),
    _axes,
    lambda picture, theme: axes_figure(
        picture.flat, picture.maps, picture.panels, start=picture.start, theme=theme
    ),
    _axes_table,
)


BATCHES = 200  # of each size; fewer where that would sum more than so many numbers
NUMBERS = 3e7


class NoisePicture(NamedTuple):
    """How μ, σ and z of a batch scatter around those of all the cases.

    Attributes:
        noise: of μ and σ. batch, layer: the change of z from frozen to batch statistics.
        predicted: that of batch norm to first order in 1/m, (M,).
        cases: N. data: its title. notes: sentences for the reader.

    """

    noise: BatchNoise
    batch: BatchDrift
    layer: BatchDrift
    predicted: Array
    cases: int
    data: str
    notes: tuple[str, ...]

    @property
    def first_order(self) -> Array:
        """The predicted error of σ over the measured one, root mean squares over neurons, (M,).

        NaN where a batch has no σ, and for all cases, where there is no error.
        """
        noise = self.noise
        predicted = _over_sigma(noise.predicted_sigma_error, noise)
        measured = _over_sigma(noise.sigma_error, noise)
        useful = (noise.sizes > 1) & (noise.sizes < self.cases)
        ratios: Array = np.divide(
            predicted, measured, where=useful, out=np.full(len(useful), np.nan)
        )
        return ratios

    @property
    def first_order_from(self) -> int | None:
        """The size from which on the prediction is within 10 % of what is measured, if any."""
        sizes, ratios = self.noise.sizes, self.first_order
        sizes, off = sizes[~np.isnan(ratios)], np.abs(ratios[~np.isnan(ratios)] - 1) > 0.1
        (places,) = np.nonzero(off)
        after = sizes[places[-1] + 1 :] if len(places) else sizes
        return int(after[0]) if len(after) else None


def _over_sigma(errors: Array, noise: BatchNoise) -> Array:
    """Return the root mean square of errors (M, H) in units of σ over the neurons, (M,)."""
    rms: Array = np.sqrt(((errors / noise.sigma) ** 2).mean(axis=1))
    return rms


def _noise(settings: Settings) -> NoisePicture:
    here = model_on_data(settings, "standardized", NORMALIZERS["standard"])
    W, X = here.model.W, here.X
    rng = np.random.default_rng((settings.seed, 2))
    batches = int(np.clip(NUMBERS / (len(W) * batch_sizes(len(X)).sum()), 20, BATCHES))
    noise = batch_noise(X @ W.T, rng, batches=batches)
    batch, layer = (
        batch_drift(NORMALIZERS[key], W, X, rng, batches=batches // 4) for key in ("batch", "layer")
    )
    # z_B − z ≈ −(μ_B − μ)/σ − z (σ_B − σ)/σ, and z has mean 0 and mean square 1.
    both = np.hypot(noise.predicted_mean_error, noise.predicted_sigma_error)
    predicted = _over_sigma(both, noise)
    return NoisePicture(noise, batch, layer, predicted, len(X), here.dataset.title, here.notes)


def _noise_table(picture: NoisePicture) -> Table:
    """Return a row for each size: root mean squares over the neurons, in units of their σ."""
    noise = picture.noise

    def relative(errors: Array) -> list[float]:
        found: list[float] = _over_sigma(errors, noise).tolist()
        return found

    columns = {
        "batch": noise.sizes.tolist(),
        "mu_error": relative(noise.mean_error),
        "predicted_mu_error": relative(noise.predicted_mean_error),
        "sigma_error": relative(noise.sigma_error),
        "predicted_sigma_error": relative(noise.predicted_sigma_error),
        "sigma_bias": (noise.sigma_bias / noise.sigma).mean(axis=1).tolist(),
        "z_change_batch_norm": [None if np.isnan(c) else float(c) for c in picture.batch.change],
        "predicted_z_change_batch_norm": picture.predicted.tolist(),
        "z_change_layer_norm": [None if np.isnan(c) else float(c) for c in picture.layer.change],
        "reason": list(noise.reasons),
    }
    title = text(
        "Root mean square errors of batch statistics over the neurons, in units of σ; {data}",
        data=picture.data,
    )
    return Table(tuple(columns), tuple(zip(*columns.values(), strict=True)), title)


NOISE = View(
    "noise",
    text("What a small batch knows of μ and σ"),
    DATA,
    _noise,
    lambda picture, theme: noise_figure(
        picture.noise,
        picture.batch,
        picture.layer,
        picture.predicted,
        cases=picture.cases,
        data=picture.data,
        theme=theme,
    ),
    _noise_table,
)
