"""Table 1, cell by cell: which method ignores which change."""

from __future__ import annotations

from typing import NamedTuple

from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.invariance.certificate import Verdict, certify
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures.picture import Study
from normgeo.pictures.work import BASE, certificate_seconds
from normgeo.settings import Settings
from normgeo.tables.table import Table
from normgeo.tables.verdicts import COLUMNS, power_above

METHODS = ("batch", "layer", "weight")


class Filled(NamedTuple):
    """The verdicts of Table 1, in the order in which they are filled in: method by method."""

    verdicts: tuple[Verdict, ...]


def compute(settings: Settings, progress: Progress) -> Filled:
    """Certify the cells of Table 1 at ε = 0."""
    cells = [(NORMALIZERS[row], change) for row in METHODS for change in COLUMNS["paper"].values()]
    verdicts = [
        certify(method, change, seed=settings.seed) for method, change in progress.over(cells)
    ]
    progress.require_whole()
    return Filled(tuple(verdicts))


def why(verdict: Verdict) -> str:
    """What a verdict rests on, in a sentence."""
    if not verdict.invariant:
        return text("There are whole numbers at which z changes.")
    return text(
        "Checked at random whole numbers, exactly: a wrong ✓ passes with a probability below "
        "{bound}.",
        bound=power_above(verdict.error_bound),
    )


def _table(result: Filled) -> Table:
    rows = [
        (one.normalizer.title, one.transform.label, one.symbol, one.error_bound)
        for one in result.verdicts
    ]
    return Table(("method", "change", "verdict", "error_bound"), tuple(rows), title=STUDY.title)


def _observed(result: Filled) -> str:
    return "; ".join(
        text(
            "{method}, {change}: {word}",
            method=text(one.normalizer.title),
            change=text(one.transform.label),
            word=text(one.word),
        )
        for one in result.verdicts
    )


def _cost(settings: Settings) -> Cost:
    return BASE + Cost(seconds=len(METHODS) * len(COLUMNS["paper"]) * certificate_seconds(1))


STUDY = Study(
    name="table_1",
    title=text("Table 1, cell by cell"),
    source=text("section 5.1, Table 1"),
    alt=text("Three methods and six changes, with a mark for each pair."),
    uses=("seed",),
    compute=compute,
    table=_table,
    observed=_observed,
    cost=_cost,
)
