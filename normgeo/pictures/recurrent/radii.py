"""How fast a recurrence forgets or explodes, against its spectral radius."""

from __future__ import annotations

import numpy as np

from normgeo.base.text import text
from normgeo.pictures.picture import Study
from normgeo.pictures.recurrent.recurrence import USES, Recurrences, compute
from normgeo.tables.table import Table


def _table(result: Recurrences) -> Table:
    plain, *others = result.methods
    rows = []
    for radius, curves in result.curves.items():
        rates = [curves[key].rate for key in (plain, *others)]
        known = [rate if np.isfinite(rate) else None for rate in rates]
        rows.append((radius, *known, float(np.log10(radius))))
    names = [f"with_{result.methods[key].name.replace(' ', '_')}" for key in others]
    columns = ("radius", "without", *names, "predicted_without")
    return Table(columns, tuple(rows), text("Decades a step of the norm of ∂h^T/∂h⁰"))


STUDY = Study(
    name="radii",
    title=text("How fast memory fades or explodes, against the spectral radius"),
    alt=text(
        "Decades a step by which a change of the first state grows, against the spectral radius: "
        "without normalization it rises through 0, with layer norm it stays nearer to 0."
    ),
    uses=USES,
    compute=compute,
    table=_table,
)
