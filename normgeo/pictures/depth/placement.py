"""How accurate a residual network is by its depth and the place of its norm, and which is best."""

from __future__ import annotations

from math import log2
from typing import NamedTuple

import numpy as np

from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures.captions import listed
from normgeo.pictures.depth.accuracy import KINDS, WARMING, Accuracy, kept
from normgeo.pictures.depth.recommendation import RULE, advice, evidence
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table


class Placement(NamedTuple):
    """The accuracies that were measured, and the depth that is asked for."""

    found: Accuracy
    start: int

    @property
    def opens_at(self) -> int:
        """The depth at which it opens: the nearest one, as a factor."""
        return min(self.found.depths, key=lambda L: abs(log2(L / self.start)))

    @property
    def opening(self) -> int:
        """The place of that depth."""
        return self.found.depths.index(self.opens_at)

    @property
    def about(self) -> str:
        """What was trained."""
        settings = self.found.settings
        return text(
            "{method}, width {width}; {epochs} epochs of Adam on {cases:,} digits, best of {rates} "
            "rates on {validation}, tested on {tested}. Lines: means. {bands}",
            method=NORMALIZERS[settings["method"]].title.capitalize(),
            width=settings["width"],
            cases=settings["cases"][0],
            validation=settings["cases"][1],
            tested=settings["cases"][2],
            epochs=settings["epochs"],
            rates=len(self.found.rates),
            bands=self.bands,
        )

    @property
    def bands(self) -> str:
        """What bands and hollow marks show."""
        runs = len(WARMING) * self.found.settings["seeds"]
        return text("Bands: {runs} runs. Hollow: no learning-rate warm-up.", runs=runs)


def compute(settings: Settings, progress: Progress) -> Placement:
    """The accuracies as kept."""
    return Placement(kept(), settings.depth)


def _table(result: Placement) -> Table:
    """A row for each run, and whether validation chooses its rate."""
    found = result.found
    rows: list[tuple[object, ...]] = []
    for (kind, warming), runs in found.runs.items():
        chosen = found.chosen(kind, warming).rates
        for d, r, seed in np.ndindex(runs.shape[:3]):
            place = (KINDS[kind], WARMING[warming], found.depths[d], found.rates[r], seed)
            numbers = (None if np.isnan(one) else float(one) for one in runs[d, r, seed])
            rows.append((*place, *numbers, bool(found.rates[r] == chosen[d])))
    columns = (
        "place",
        "warm-up",
        "blocks",
        "rate",
        "seed",
        "validation cases right",
        "test cases right",
        "training loss",
        "chosen",
    )
    return Table(columns, tuple(rows), STUDY.title, notes=(result.about, RULE))


def _observed(result: Placement) -> str:
    found = result.found
    lines = []
    for kind, name in KINDS.items():
        for warming, warmed in WARMING.items():
            shares = listed(
                text("{share:.0%} with {L}", share=found.share(kind, warming, L), L=L)
                for L in found.depths
            )
            lines.append(f"{name} {warmed}: {shares}.")
    return text(
        "{answer} {why} Test accuracy by blocks. {lines} It opens at {L}.",
        answer=advice(found, result.opens_at),
        why=" ".join(map(str, evidence(found, result.opens_at))),
        lines=" ".join(map(str, lines)),
        L=result.opens_at,
    )


STUDY = Study(
    name="placement",
    title=text("Where in a block the norm should go"),
    alt=text(
        "Test accuracy, and beside it training loss, of residual networks against their number of "
        "blocks: for pre-norm, post-norm and no norm a line with a warm-up of the rate, on a band "
        "over all seeds with and without, and at the chosen depth a hollow mark without."
    ),
    uses=("depth",),
    compute=compute,
    table=_table,
    observed=_observed,
    source=text("Xiong et al. 2020, On Layer Normalization in the Transformer Architecture"),
    slider="depth",
)
