"""The pictures of the Invariance page: what a change does to z, in numbers and in floats."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from normgeo.base.text import text
from normgeo.datasets.datasets import Dataset
from normgeo.invariance.certificate import Sweep, sweep
from normgeo.invariance.effect import Effect, effect, shift_pattern
from normgeo.invariance.transforms import Transform
from normgeo.normalizers.normalizer import NORMALIZERS, Normalizer
from normgeo.pictures.invariance.effect_figure import effect_figure
from normgeo.pictures.invariance.floating_point_figure import floating_point_figure
from normgeo.pictures.model_on_data import ModelOnData, model_on_data
from normgeo.pictures.style.template import Figure
from normgeo.pictures.view import DATA, View
from normgeo.settings import Settings
from normgeo.tables.table import Table

CHANGE = ("cell", "groups", "eps", "statistics", "delta", "index")

FACTORS = (-3.0, -2.0, -1.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)
SHIFTS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
SWEPT_CASES = 200


class EffectPicture(NamedTuple):
    """An effect, on which data, and the strength at which its slider opens."""

    effect: Effect
    dataset: Dataset
    start: float
    notes: tuple[str, ...]


def _effect(settings: Settings) -> EffectPicture:
    chosen, transform = settings.selected
    here = model_on_data(settings, "raw", chosen)
    methods, notes = _compared(settings, chosen, here)
    strengths = FACTORS if transform.rescales else SHIFTS
    result = effect(
        methods,
        transform,
        here.model.W,
        here.X,
        sorted({*strengths, settings.delta}),
        gamma=_shift(settings, transform, here),
        index=settings.index,
    )
    return EffectPicture(result, here.dataset, settings.delta, (*here.notes, *notes))


def _compared(
    settings: Settings, chosen: Normalizer, here: ModelOnData
) -> tuple[dict[str, Normalizer], list[str]]:
    """Return batch and layer norm, whose contrast teaches, and the chosen one; what is missing."""
    methods, notes = {}, []
    for key in ("batch", "layer"):
        normalizer = settings.adapt(NORMALIZERS[key])
        try:
            normalizer.normalize(here.model.W, here.X, (here.model.W, here.X))
        except ValueError as error:
            if normalizer == chosen:
                raise
            notes.append(text("No {name} here: {why}", name=normalizer.title, why=str(error)))
            continue
        methods[key] = normalizer
    if chosen not in methods.values():
        methods[settings.cell.partition(".")[0]] = chosen
    return methods, notes


def _shift(settings: Settings, transform: Transform, here: ModelOnData) -> Any:
    if transform.rescales:
        return None
    # Not the generator that drew the weights: its first row would be the first weight vector.
    rng = np.random.default_rng((settings.seed, 1))
    return shift_pattern(transform, here.model.W, here.X, rng)


def _effect_table(picture: EffectPicture) -> Table:
    rows = []
    for name, method in picture.effect.methods.items():
        for strength, after in zip(picture.effect.strengths, method.after, strict=True):
            for h in range(len(after.z)):
                values = (after.summed_inputs, after.mu, after.sigma, after.z)
                numbers = [None if after.problem else float(value[h]) for value in values]
                rows.append(
                    (
                        name,
                        float(strength),
                        picture.effect.case,
                        h,
                        *numbers,
                        float(method.before.z[h]),
                        after.problem,
                    )
                )
    columns = (
        "method",
        "strength",
        "case",
        "neuron",
        "a",
        "mu",
        "sigma",
        "z",
        "z_before",
        "problem",
    )
    return Table(columns, tuple(rows), title=picture.effect.transform.label)


class SweepPicture(NamedTuple):
    """Sweeps of one cell, by number type and ε."""

    normalizer: Normalizer
    transform: Transform
    sweeps: dict[str, Sweep]


def _floating_point(settings: Settings) -> SweepPicture:
    chosen, transform = settings.selected
    here = model_on_data(settings, "standardized", chosen)
    W, X = here.model.W, here.X[:SWEPT_CASES]
    reach = 24 if transform.rescales else 8
    strengths = np.logspace(-reach, reach, 4 * reach + 1)
    gamma = _shift(settings, transform, here)
    if gamma is not None:
        gamma = gamma[: transform.gamma_shape(W, X)[0]]
    ideal = replace(chosen, eps=0.0)
    curves = {
        text("{dtype}, ε = 0", dtype=dtype): (ideal, dtype)
        for dtype in ("float16", "float32", "float64")
    }
    if chosen.scale in ("batch", "layer"):
        eps = chosen.eps or 1e-5
        curves[text("float64, ε = {eps:g}", eps=eps)] = (replace(chosen, eps=eps), "float64")
    sweeps = {
        name: sweep(
            normalizer,
            transform,
            W,
            X,
            strengths,
            gamma=gamma,
            index=min(settings.index, len(X) - 1),
            dtype=dtype,
        )
        for name, (normalizer, dtype) in curves.items()
    }
    return SweepPicture(chosen, transform, sweeps)


def _floating_point_figure(picture: SweepPicture, theme: str) -> Figure:
    title = f"{picture.normalizer.title}: {picture.transform.label}"
    return floating_point_figure(picture.sweeps, title, picture.transform.rescales, theme)


def _floating_point_table(picture: SweepPicture) -> Table:
    rows = tuple(
        (name, result.dtype, float(strength), None if reason else float(change), reason)
        for name, result in picture.sweeps.items()
        for strength, change, reason in zip(
            result.strengths, result.change, result.reasons, strict=True
        )
    )
    return Table(("curve", "dtype", "strength", "change", "reason"), rows)


EFFECT = View(
    "effect",
    text("What a change does to z"),
    (*DATA, *CHANGE),
    _effect,
    lambda picture, theme: effect_figure(picture.effect, picture.dataset, picture.start, theme),
    _effect_table,
)

FLOATING_POINT = View(
    "floating_point",
    text("Invariance in floating point"),
    (*DATA, *CHANGE),
    _floating_point,
    _floating_point_figure,
    _floating_point_table,
)
