"""The contrast of one picture, and who notices: its z under batch norm and under layer norm."""

from __future__ import annotations

from dataclasses import replace

from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.pictures.invariance import effect
from normgeo.pictures.invariance.effect import EffectOnData, movement
from normgeo.pictures.picture import DATA, Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

CELL = "layer.case_rescaling"
METHODS = ("batch", "layer")
NOTICES = {
    False: text("{method} notices"),
    True: text("{method} does not"),
}


def compute(settings: Settings, progress: Progress) -> EffectOnData:
    """The effect of a factor δ on one case, under both methods."""
    found = effect.compute(_of_one_case(settings), progress)
    return found.only(METHODS, range(len(found.effect.strengths)))._replace(hidden={})


def _of_one_case(settings: Settings) -> Settings:
    return replace(settings, cell=CELL)


def frames(settings: Settings) -> tuple[float, ...]:
    """The contrasts that have a frame whatever is asked for."""
    return effect.frames(_of_one_case(settings))


def notices(result: EffectOnData, key: str, step: int) -> str:
    """Whether a method notices a contrast, in words."""
    method = result.effect.methods[key]
    name = text(method.normalizer.title)
    if problem := method.after[step].problem:
        return text("{method}: {problem}", method=name, problem=problem)
    if result.effect.strengths[step] == 1:
        return text("{method}: no change", method=name)
    if result.effect.strengths[step] < 0 and method.verdict.invariant:
        return text("{method}: sign flip", method=name)
    return text(NOTICES[method.verdict.invariant], method=name)


def _observed(result: EffectOnData) -> str:
    step = result.opening
    return " ".join(
        f"{notices(result, key, step)}: {movement(method, step)}."
        for key, method in result.effect.methods.items()
    )


def _table(result: EffectOnData) -> Table:
    return effect.STUDY.table(result)


def _cost(settings: Settings) -> Cost:
    return effect.STUDY.cost(_of_one_case(settings))


STUDY = Study(
    name="contrast",
    title=text("The contrast of one picture: who notices?"),
    source=text("section 5.1, Table 1: single training case re-scaling"),
    alt=text(
        "Left: one case, with its contrast multiplied by δ. Right: its z of all neurons before and "
        "after, under batch norm and under layer norm."
    ),
    uses=(*DATA, "delta", "index"),
    slider="delta",
    frames=frames,
    compute=compute,
    table=_table,
    cost=_cost,
    observed=_observed,
)
