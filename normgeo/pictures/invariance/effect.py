"""What a change does to z, on real data and at growing strength."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.dataset import Dataset
from normgeo.invariance.before_and_after import AppliedChange, apply_change, shift_pattern
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.model_on_data import ModelOnData, model_on_data
from normgeo.pictures.picture import DATA, Study
from normgeo.pictures.work import Sizes, certificate_seconds, weights
from normgeo.settings import Settings
from normgeo.tables.table import Table

CHANGE = ("cell", "groups", "eps", "statistics", "delta", "index")

FACTORS = (-3.0, -2.0, -1.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)
SHIFTS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)


class EffectOnData(NamedTuple):
    """An effect, on which data, and the strength at which its slider opens."""

    effect: AppliedChange
    dataset: Dataset
    start: float
    notes: tuple[str, ...]

    @property
    def opening(self) -> int:
        """The place of the strength at which the slider opens."""
        return int(np.abs(self.effect.strengths - self.start).argmin())


def compute(settings: Settings, progress: Progress) -> EffectOnData:
    """The effect of the selected change on the selected method, and on batch and layer norm."""
    chosen, transform = settings.selected
    here = model_on_data(settings, "raw", chosen)
    methods, notes = _compared(settings, chosen, here)
    strengths = FACTORS if transform.rescales else SHIFTS
    found = apply_change(
        methods,
        transform,
        here.model.W,
        here.X,
        sorted({*strengths, settings.delta}),
        gamma=shift(settings, here),
        index=settings.index,
        seed=settings.seed,
    )
    return EffectOnData(found, here.dataset, settings.delta, (*here.notes, *notes))


def shift(settings: Settings, here: ModelOnData) -> Array | None:
    """γ of unit strength for the selected change, None where it re-scales."""
    _, transform = settings.selected
    if transform.rescales:
        return None
    # Not the generator that drew the weights: its first row would be the first weight vector.
    rng = np.random.default_rng((settings.seed, 1))
    return shift_pattern(transform, here.model.W, here.X, rng)


def _compared(
    settings: Settings, chosen: Normalizer, here: ModelOnData
) -> tuple[dict[str, Normalizer], list[str]]:
    """Batch and layer norm, whose contrast teaches, and the chosen one; what to know of them."""
    methods, notes = {}, []
    for key in ("batch", "layer"):
        normalizer = settings.adapt(NORMALIZERS[key])
        try:
            normalizer.normalize(here.model.W, here.X, (here.model.W, here.X))
        except Refusal as error:
            if normalizer == chosen:
                raise
            notes.append(text("No {name} here: {why}", name=text(normalizer.title), why=error))
            continue
        methods[key] = normalizer
    if chosen not in methods.values():
        methods[settings.cell.partition(".")[0]] = chosen
    notes += [
        text(
            "With two neurons the z of {name} is only a sign: always +1 and −1.",
            name=text(normalizer.title),
        )
        for normalizer in methods.values()
        if normalizer.leaves_only_signs(len(here.model.W))
    ]
    return methods, notes


def _table(result: EffectOnData) -> Table:
    rows = []
    for name, method in result.effect.methods.items():
        for strength, after in zip(result.effect.strengths, method.after, strict=True):
            for h in range(len(after.z)):
                values = (after.summed_inputs, after.mu, after.sigma, after.z)
                rows.append(
                    (
                        name,
                        float(strength),
                        result.effect.case,
                        h,
                        *(None if after.problem else float(value[h]) for value in values),
                        float(method.before.z[h]),
                        after.problem,
                    )
                )
    columns = "method strength case neuron a mu sigma z z_before problem"
    return Table(tuple(columns.split()), tuple(rows), title=result.effect.transform.label)


def _cost(settings: Settings) -> Cost:
    """Every method at every strength, and a certificate for each."""
    sizes, methods = Sizes.of(settings), 3
    strengths = len(FACTORS) + 1
    changed = Cost(8 * strengths * (sizes.N * sizes.D + sizes.H * sizes.D))
    certified = Cost(seconds=methods * certificate_seconds(settings.selected[0].groups))
    return weights(settings, sizes) + sizes.evaluations(methods * strengths) + changed + certified


STUDY = Study(
    name="effect",
    title=text("What a change does to z"),
    alt=text("z before and after the change, method under method."),
    uses=(*DATA, *CHANGE),
    compute=compute,
    table=_table,
    cost=_cost,
)
