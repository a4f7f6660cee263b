"""The picture of the spectrum of the exact Fisher information beside that of Eq. 13."""

from __future__ import annotations

from normgeo.base.text import text
from normgeo.pictures.captions import USES
from normgeo.pictures.picture import Study
from normgeo.pictures.symmetry.null_directions import NullDirections, compute, cost
from normgeo.tables.table import Table


def table(result: NullDirections) -> Table:
    """Both spectra; None for that of Eq. 13 where the computation was stopped before it."""
    exact = result.roots.tolist()
    paper: list[float | None] = [None] * len(exact)
    if result.paper_roots is not None:
        paper = result.paper_roots.tolist()
    rows = tuple((i, *both) for i, both in enumerate(zip(exact, paper, strict=True), start=1))
    title = text("Roots of the eigenvalues of F_WW, {method}", method=result.normalizer.title)
    return Table(("index", "exact", "eq_13"), rows, title, notes=(str(result.null.which),))


# The same computation as the null directions: a cache that knows it by its function shares it.
STUDY = Study(
    "coupling",
    title=text("The spectrum of the exact Fisher information and of Eq. 13"),
    alt=text(
        "Roots of the eigenvalues of F_WW, largest first: of the exact Fisher information, and of "
        "Eq. 13, which leaves out how a weight vector changes the other neurons' outputs."
    ),
    uses=USES,
    compute=compute,
    table=table,
    cost=cost,
)
