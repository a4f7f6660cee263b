"""The picture of the spectrum of the exact Fisher information beside that of Eq. 13."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.fisher.operator import Fisher, fisher
from normgeo.null_directions.null_space import NullSpace, null_space
from normgeo.pictures.captions import USES
from normgeo.pictures.picture import Study
from normgeo.pictures.symmetry.null_directions import NullDirections, model_of, null_directions
from normgeo.pictures.symmetry.null_directions import cost as cost_of_directions
from normgeo.pictures.work import PRODUCTS, Sizes, times
from normgeo.settings import Settings
from normgeo.tables.table import Table


@final
@dataclass(frozen=True, eq=False)
class Coupling:
    """The spectra of the exact F_WW and of that of Eq. 13.

    Attributes:
        exact: the null directions of the exact one. roots: of its eigenvalues, descending.
        paper: the null space of that of Eq. 13. paper_roots: of its eigenvalues. Both are None
            where the computation was stopped before.

    """

    exact: NullDirections
    roots: Array
    paper: NullSpace | None = None
    paper_roots: Array | None = None


def compute(settings: Settings, progress: Progress) -> Coupling:
    """The null spaces and the spectra of the exact Fisher information and of Eq. 13."""
    exact = null_directions(settings, progress.part(0, 2))
    it = model_of(settings)
    roots = _roots(fisher(it.model, it.X))
    if progress.stopped:
        return Coupling(exact, roots)
    if not it.model.normalizer.shared_by_neurons:
        progress.tell(2, 2)
        return Coupling(exact, roots, exact.null, roots)
    F = fisher(it.model, it.X, coupling="paper")
    paper, paper_roots = null_space(F), _roots(F)
    progress.tell(2, 2)
    return Coupling(exact, roots, paper, paper_roots)


def _roots(F: Fisher) -> Array:
    """The roots of the eigenvalues of F_WW, descending."""
    roots: Array = np.sqrt(np.maximum(np.linalg.eigvalsh(F.weights())[::-1], 0))
    return roots


def table(result: Coupling) -> Table:
    """Both spectra; None for that of Eq. 13 where the computation was stopped before it."""
    exact = result.roots.tolist()
    paper: list[float | None] = [None] * len(exact)
    if result.paper_roots is not None:
        paper = result.paper_roots.tolist()
    rows = tuple((i, *both) for i, both in enumerate(zip(exact, paper, strict=True), start=1))
    title = text("Roots of the eigenvalues of F_WW, {method}", method=result.exact.normalizer.title)
    return Table(("index", "exact", "eq_13"), rows, title, notes=(str(result.exact.null.which),))


def cost(settings: Settings) -> Cost:
    """The null directions, and twice a matrix and its eigenvalues."""
    sizes = Sizes.of(settings, "standardized", apart=True)
    mixed = settings.normalizer.shared_by_neurons
    cubes = (5 if mixed else 2) * (sizes.H * sizes.D) ** 3
    matrices = times(2 if mixed else 1, sizes.fisher(mixed))
    return cost_of_directions(settings) + matrices + Cost(seconds=cubes / PRODUCTS)


STUDY = Study(
    "coupling",
    title=text("The spectrum of the exact Fisher information and of Eq. 13"),
    source=text("section 5.2.2, Eq. 13 and 14"),
    alt=text(
        "Roots of the eigenvalues of F_WW, largest first: of the exact Fisher information, and of "
        "Eq. 13, which leaves out how a weight vector changes the other neurons' outputs."
    ),
    uses=USES,
    compute=compute,
    table=table,
    cost=cost,
)
