"""Every ✗ of Table 1 on a blackboard: the smallest whole numbers at which z changes."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.invariance.smallest_witness import smallest_witness
from normgeo.invariance.transforms import TRANSFORMS
from normgeo.invariance.witness import Side, Witness
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures.home import table_1
from normgeo.pictures.home.arithmetic import shown
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

SEARCH = 0.05  # seconds, of the numbers of one method
FIRST = "layer.weight_vector_rescaling"
"""The one that opens where the settings ask for none of them."""


class Counterexamples(NamedTuple):
    """The witnesses of all ✗, by cell, and the cell at which the slider opens."""

    witnesses: dict[str, Witness]
    start: str

    @property
    def opening(self) -> int:
        """The place of the cell at which the slider opens."""
        cells = list(self.witnesses)
        return cells.index(self.start if self.start in cells else FIRST)


def compute(settings: Settings, progress: Progress) -> Counterexamples:
    """Search for the smallest numbers of each ✗."""
    keys = {method: key for key, method in NORMALIZERS.items()}
    names = {change: key for key, change in TRANSFORMS.items()}
    verdicts = table_1.compute(settings, progress).verdicts
    found = {
        f"{keys[one.normalizer]}.{names[one.transform]}": smallest_witness(
            one.normalizer, one.transform
        )
        for one in verdicts
        if not one.invariant
    }
    return Counterexamples(found, settings.cell)


def change(witness: Witness) -> str:
    """The change in numbers: "w₁ × 2" or "each w + (0, 1)"."""
    parameters, transform = witness.parameters, witness.transform
    symbol = text(transform.operation.symbol)
    if parameters.gamma is None:
        return f"{symbol} {shown(parameters.delta or Fraction(1))}"
    return f"{symbol} ({', '.join(shown(one) for one in parameters.gamma)})"


def worked(side: Side, place: tuple[int, int]) -> list[str]:
    """Eq. 5 squared, at a place: its μ and σ², and z² = (a − μ)²/σ²."""
    a = (side.X @ side.W.T)[place]
    v = np.broadcast_to(side.v, side.C.shape)[place]
    mean = a - side.C[place]
    return [
        f"μ = {shown(mean)}, σ² = {shown(v)}",
        f"z² = (a − μ)²/σ² = {shown(side.C[place] ** 2 / v)}",
    ]


def _table(result: Counterexamples) -> Table:
    rows = [
        (cell, change(one), _words(one.before.W), _words(one.before.X), *_both(one))
        for cell, one in result.witnesses.items()
    ]
    columns = ("cell", "change", "W", "X", "z_squared", "z_squared_after")
    return Table(columns, tuple(rows), title=STUDY.title)


def _words(M: Array) -> str:
    return "; ".join(" ".join(shown(one) for one in row) for row in M)


def _both(one: Witness) -> tuple[str, str]:
    return shown(one.z_squared), shown(one.z_squared_after)


def _observed(result: Counterexamples) -> str:
    one = list(result.witnesses.values())[result.opening]
    before, after = _both(one)
    return text(
        "{method}, {label}, W = ({W}), X = ({X}), {change}: z² is {before} before and {after} "
        "after.",
        method=text(one.normalizer.title),
        label=text(one.transform.label),
        W=_words(one.before.W),
        X=_words(one.before.X),
        change=change(one),
        before=before,
        after=after,
    )


def _cost(settings: Settings) -> Cost:
    return table_1.STUDY.cost(settings) + Cost(seconds=len(table_1.METHODS) * SEARCH)


STUDY = Study(
    name="counterexamples",
    title=text("Every cross of Table 1 in the smallest whole numbers"),
    source=text("section 5.1, Table 1"),
    alt=text(
        "Above: weights W, cases X and summed inputs a as small whole numbers, with z². Below: the "
        "same after the change, with another z²."
    ),
    uses=("seed", "cell"),
    compute=compute,
    table=_table,
    observed=_observed,
    cost=_cost,
    slider="cell",
)
