"""The metric along the gains against the scale of the inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.fisher.gain_metric import GainMetric, gain_metric
from normgeo.fisher.which import WhichFisher
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.captions import USES, caption, listed, variant
from normgeo.pictures.model_on_data import independent, model_on_data
from normgeo.pictures.picture import Study
from normgeo.pictures.work import BYTES, PRODUCTS, Sizes, weights
from normgeo.settings import Settings
from normgeo.tables.table import Table

DELTAS = np.logspace(-1, 1, 17)
LEVEL, RISES = text("The same at every scale"), text("Rising with the scale")
RISES_AND_FALLS = text("Rising with the scale, then falling")
CHANGES = text("Rising and falling with the scale")
EXACT = 1e-6  # of 1: a formula that is off by less is right, up to rounding


@final
@dataclass(frozen=True, eq=False)
class MethodMetric:
    """The metric along the gains under one method.

    Attributes:
        normalizer: the method. deltas: the scales of the inputs, (n,).
        total: the trace for every scale, (n,). problems: why there is none, or "", for every scale.
        changes: whether the metric depends on the scale.
        printed_total: the trace as the appendix prints it; None for a method it leaves out.
        printed_over_exact: that over the exact one. off: the same over the inputs as they are.

    """

    normalizer: Normalizer
    deltas: Array
    total: Array
    problems: tuple[str, ...]
    changes: bool
    printed_total: Array | None
    printed_over_exact: Array | None
    off: float | None

    @classmethod
    def of(cls, normalizer: Normalizer, metric: GainMetric) -> MethodMetric:
        """The metric, and what the appendix makes of it."""
        printed, ratio, off = metric.printed_total, None, None
        if printed is not None:
            one = int(np.abs(metric.deltas - 1).argmin())
            with np.errstate(invalid="ignore", divide="ignore"):
                ratio = printed / metric.total
            off = float(printed[one] / np.trace(metric.unscaled))
        about = metric.deltas, metric.total, metric.problems, metric.changes
        return cls(normalizer, *about, printed, ratio, off)

    @property
    def misprinted(self) -> bool:
        """Whether the appendix's formula is off over the inputs as they are."""
        return self.off is not None and abs(self.off - 1) > EXACT


@final
@dataclass(frozen=True, eq=False)
class Magnitude:
    """The metric along the gains when the inputs are re-scaled.

    Attributes:
        methods: every named method that has a metric here; fewer where it was stopped.
        caption: data, family, sizes. which: the Fisher information. notes: for the reader.

    """

    methods: tuple[MethodMetric, ...]
    caption: str
    which: WhichFisher
    notes: tuple[str, ...]


def compute(settings: Settings, progress: Progress) -> Magnitude:
    """The metric under every named method; raises where the chosen one has none."""
    chosen = independent(settings)
    own = model_on_data(chosen, "standardized")
    methods: list[MethodMetric] = []
    notes = list(own.notes)
    for place, known in enumerate(NORMALIZERS.values()):
        method, part = settings.adapt(known), progress.part(place, len(NORMALIZERS))
        try:
            it = model_on_data(chosen, "standardized", method)
            metric = gain_metric(it.model, it.X, DELTAS, progress=part)
        except Refusal as error:
            if method == settings.normalizer:
                raise
            notes.append(text("{method}: {error}", method=method.title, error=error.args[0]))
            continue
        if progress.stopped:
            break
        methods.append(MethodMetric.of(method, metric))
    # ε and frozen statistics are those of the methods that have any.
    more = max((variant(each.normalizer) for each in methods), key=len, default="")
    about = text("{model}{variant}", model=caption(own), variant=more)
    which = WhichFisher("exact", len(own.X), own.model.phi)
    return Magnitude(tuple(methods), about, which, tuple(notes))


def table(result: Magnitude) -> Table:
    """The trace of every metric at every scale, and why there is none."""
    rows: list[tuple[object, ...]] = []
    for each in result.methods:
        printed = each.printed_total
        for i, delta in enumerate(each.deltas.tolist()):
            found = None if each.problems[i] else float(each.total[i])
            claim = None if printed is None or each.problems[i] else float(printed[i])
            rows.append((each.normalizer.title, delta, found, claim, each.problems[i]))
    columns = ("method", "delta", "trace", "trace_as_printed", "problem")
    title = text("Trace of the metric along the gains, inputs × δ; {about}", about=result.caption)
    return Table(columns, tuple(rows), title, notes=(str(result.which),))


def observed(result: Magnitude) -> str:
    """Say of each method how its metric answers a larger scale of the inputs."""
    courses: dict[str, list[str]] = {}
    for each in result.methods:
        courses.setdefault(_course(each), []).append(each.normalizer.title)
    sentences = [
        text("{course}: {methods}.", course=text(course), methods=listed(methods))
        for course, methods in courses.items()
    ]
    return " ".join(map(str, sentences))


def _course(method: MethodMetric) -> str:
    if not method.changes:
        return LEVEL
    trace = method.total[np.isfinite(method.total)]
    steps = np.diff(trace) / trace.max()
    if (steps >= -EXACT).all():
        return RISES
    top = int(trace.argmax())
    rises, falls = (steps[:top] >= -EXACT).all(), (steps[top:] <= EXACT).all()
    return RISES_AND_FALLS if top and rises and falls else CHANGES


def _cost(settings: Settings) -> Cost:
    """The metric of every method at every scale of the inputs."""
    sizes = Sizes.of(settings, "standardized", apart=True)
    count = len(NORMALIZERS) * (len(DELTAS) + 2)
    meeting = 2 * count * sizes.N * sizes.H**2 / PRODUCTS if sizes.coupled else 0.0
    held = Cost(2 * len(DELTAS) * BYTES * sizes.H**2, meeting)
    fits = weights(settings, sizes, len(NORMALIZERS))
    return fits + held + sizes.evaluations(count)


STUDY = Study(
    "magnitude",
    title=text("The metric along the gains against the scale of the inputs"),
    source=text("section 5.2.2; appendix"),
    alt=text(
        "Left: the trace of the metric along the gains against the scale of the inputs, solid as "
        "it is, dotted as the appendix prints it. Right: the printed one over the exact one."
    ),
    uses=USES,
    compute=compute,
    table=table,
    observed=observed,
    cost=_cost,
)
