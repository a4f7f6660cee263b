"""The metric along the gains against the scale of the inputs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.text import text
from normgeo.fisher.gain_metric import GainMetric, gain_metric
from normgeo.normalizers.normalizer import NORMALIZERS, Normalizer
from normgeo.pictures.fisher.magnitude_figure import magnitude_figure
from normgeo.pictures.fisher.pair import USES, about, unusual
from normgeo.pictures.model_on_data import independent, model_on_data
from normgeo.pictures.style.template import Figure
from normgeo.pictures.view import Progress, View, progress_of
from normgeo.settings import Settings
from normgeo.tables.table import Table

METHODS = ("standard", "weight", "batch", "layer")
DELTAS = np.logspace(-1, 1, 17)


class MagnitudePicture(NamedTuple):
    """The metric along the gains when the inputs are re-scaled.

    Attributes:
        methods: normalizers with what is unusual about them. metrics: theirs; fewer where stopped.
        about: data, family, sizes. which: the Fisher information. notes: for the reader.

    """

    methods: tuple[tuple[Normalizer, str], ...]
    metrics: tuple[GainMetric, ...]
    about: str
    which: str
    notes: tuple[str, ...]


def _magnitude(settings: Settings, callback: Progress | None = None) -> MagnitudePicture:
    chosen = independent(settings)
    methods = {key: settings.adapt(NORMALIZERS[key]) for key in METHODS}
    methods[settings.method] = settings.normalizer
    metrics: list[GainMetric] = []
    notes: list[str] = []
    words = which = ""
    progress = progress_of(callback)
    for place, method in enumerate(methods.values()):
        part = progress.part(place, len(methods))
        try:
            here = model_on_data(chosen, "standardized", method)
            metric = gain_metric(here.model, here.X, DELTAS, progress=part)
        except ValueError as error:
            if method == settings.normalizer:
                raise
            notes.append(f"{method.title}: {error}")
            continue
        if progress.stopped:
            break
        metrics.append(metric)
        words = about(here)
        which = text("{which}", which=metric.which)
        notes += here.notes
    drawn = {metric.title for metric in metrics}
    named = tuple((m, unusual(m)) for m in methods.values() if m.title in drawn)
    return MagnitudePicture(named, tuple(metrics), words, which, tuple(dict.fromkeys(notes)))


def _figure(picture: MagnitudePicture, theme: str) -> Figure:
    return magnitude_figure(
        picture.methods, picture.metrics, about=picture.about, which=picture.which, theme=theme
    )


def _table(picture: MagnitudePicture) -> Table:
    rows: list[tuple[object, ...]] = []
    for metric in picture.metrics:
        printed = metric.printed_total
        for i, delta in enumerate(metric.deltas.tolist()):
            found = None if metric.problems[i] else float(metric.total[i])
            claim = None if printed is None or metric.problems[i] else float(printed[i])
            rows.append((metric.title, delta, found, claim, metric.problems[i]))
    columns = ("method", "delta", "trace", "trace_as_printed", "problem")
    title = text("Trace of the metric along the gains, inputs × δ; {about}", about=picture.about)
    return Table(columns, tuple(rows), title, notes=(picture.which,))


MAGNITUDE = View(
    "magnitude",
    text("The metric along the gains against the scale of the inputs"),
    USES,
    _magnitude,
    _figure,
    _table,
    watched=_magnitude,
)
