"""How fast a recurrence forgets or explodes, against its spectral radius."""

from __future__ import annotations

import numpy as np

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.picture import Study
from normgeo.pictures.recurrent.recurrence import USES, Recurrences, compute, cost
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


def _observed(result: Recurrences) -> str:
    """Say how fast a change grows at the least and at the largest radius, for each method."""
    first, last = min(result.curves), max(result.curves)
    sentences = [
        text(
            "At radius {first:g}, {name}, it is {least}, and at radius {last:g} {most}.",
            first=first,
            name=name,
            least=_rate(result.curves[first][key].rate),
            last=last,
            most=_rate(result.curves[last][key].rate),
        )
        for key, name in result.names.items()
    ]
    return " ".join(map(str, sentences))


def _rate(rate: float) -> str:
    return number(rate, 2) if np.isfinite(rate) else "−∞"


STUDY = Study(
    name="radii",
    title=text("How fast memory fades or explodes, against the spectral radius"),
    alt=text(
        "Decades a step by which a change of the first state grows, against the spectral radius, "
        "without and with normalization, beside the logarithm of the radius."
    ),
    uses=USES,
    compute=compute,
    table=_table,
    observed=_observed,
    cost=cost,
)
