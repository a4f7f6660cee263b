"""The exact Fisher information against Eq. 13, and how the difference depends on the width."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.fisher.neuron_blocks import block_norms
from normgeo.fisher.operator import fisher
from normgeo.fisher.which import WhichFisher
from normgeo.models.linearization import ParameterLayout
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.captions import USES
from normgeo.pictures.fisher.beside_standard import BesideStandard, cost_beside_standard
from normgeo.pictures.model_on_data import ModelOnData, independent, model_on_data
from normgeo.pictures.picture import Study
from normgeo.pictures.work import Sizes
from normgeo.settings import Settings
from normgeo.tables.table import Table

WIDTHS = (3, 4, 6, 8, 12, 16, 24)  # neurons in a group
WIDEST = 1700  # parameters: wider layers are left out
NOTHING = 1e-9  # of ‖F‖: a smaller matrix or difference is zero up to rounding


@final
@dataclass(frozen=True)
class Difference:
    """How far Eq. 13 is from the Fisher information, ‖F₁₃ − F‖/‖F‖ in the Frobenius norm.

    Attributes:
        neurons: H. whole: of F. weights: of F_WW; NaN where it is zero.

    """

    neurons: int
    whole: float
    weights: float

    @classmethod
    def of(cls, layout: ParameterLayout, exact: Array, paper: Array) -> Self:
        """The difference of two matrices (P, P) over parameters of a layout."""
        places = np.ix_(layout.weights, layout.weights)
        errors, least = [], NOTHING * float(np.linalg.norm(exact))
        for F, F_13 in ((exact, paper), (exact[places], paper[places])):
            size = float(np.linalg.norm(F))
            errors.append(float(np.linalg.norm(F_13 - F)) / size if size > least else float("nan"))
        return cls(layout.neurons, *errors)

    @property
    def agree(self) -> bool:
        """Whether both matrices are the same up to rounding."""
        return self.whole < NOTHING


@final
@dataclass(frozen=True, eq=False)
class Equation13:
    """Both matrices by pairs of neurons.

    Attributes:
        normalizer: the method. exact, paper, gap: norms of the blocks of F, of Eq. 13 and of
            their difference, (H, H). here: their distance. widths: the same for layers of other
            widths, random weights; none where no statistic is shared by neurons.
        caption: data, family, sizes. which: the Fisher information. notes: for the reader.

    """

    normalizer: Normalizer
    exact: Array
    paper: Array
    gap: Array
    here: Difference
    widths: tuple[Difference, ...]
    caption: str
    which: WhichFisher
    notes: tuple[str, ...]


def compute(settings: Settings, progress: Progress) -> Equation13:
    """Both matrices of the method, and their distance at other widths."""
    both = BesideStandard.of(settings)
    it = both.normalized
    layout, method = it.model.layout, it.model.normalizer
    exact, paper = _both_matrices(it)
    widths: list[Difference] = []
    if method.shared_by_neurons:
        neurons = [K * method.groups for K in WIDTHS]
        affordable = [H for H in neurons if H * layout.per_neuron <= WIDEST]
        widths += [_of_width(settings, method, H) for H in progress.over(affordable)]
    H = layout.neurons
    return Equation13(
        normalizer=method,
        exact=block_norms(exact, H),
        paper=block_norms(paper, H),
        gap=block_norms(paper - exact, H),
        here=Difference.of(layout, exact, paper),
        widths=tuple(widths),
        caption=both.caption,
        which=both.which,
        notes=both.notes,
    )


def _of_width(settings: Settings, method: Normalizer, H: int) -> Difference:
    random = replace(independent(settings), neurons=H, weights="random")
    it = model_on_data(random, "standardized", method)
    return Difference.of(it.model.layout, *_both_matrices(it))


def _both_matrices(it: ModelOnData) -> tuple[Array, Array]:
    exact, paper = (fisher(it.model, it.X, coupling=each) for each in ("exact", "paper"))
    return exact.to_dense(), paper.to_dense()


def table(result: Equation13) -> Table:
    """The norms of all blocks, and the distance at every width."""
    rows: list[tuple[object, ...]] = [
        (
            "norm of the block",
            i,
            j,
            float(result.exact[i, j]),
            float(result.paper[i, j]),
            float(result.gap[i, j]),
        )
        for i, j in np.ndindex(result.exact.shape)
    ]
    rows += [
        ("error at width H", each.neurons, None, None, None, each.whole)
        for each in (result.here, *result.widths)
    ]
    columns = ("what", "i_or_H", "j", "exact", "eq_13", "difference")
    title = text("F and Eq. 13 by pairs of neurons; {about}", about=result.caption)
    return Table(columns, tuple(rows), title, notes=(str(result.which),))


def _observed(result: Equation13) -> str:
    """Say how many pairs of neurons have a block in each map."""
    H = len(result.exact)
    if H == 1:
        return text("There is only one neuron.")
    least = NOTHING * float(np.linalg.norm(result.exact))
    between = np.triu_indices(H, 1)
    exact, paper, gap = (
        int((norms[between] > least).sum()) for norms in (result.exact, result.paper, result.gap)
    )
    return text(
        "Of the {pairs} pairs of different neurons, {exact} have a block that is not 0 in the "
        "exact map, {paper} in that of Eq. 13, and {gap} in the difference.",
        pairs=len(between[0]),
        exact=exact,
        paper=paper,
        gap=gap,
    )


def _cost(settings: Settings) -> Cost:
    """Both matrices, and those of other widths."""
    sizes, method = Sizes.of(settings, "standardized", apart=True), settings.normalizer
    total = cost_beside_standard(settings, matrices=1, evaluations=2)
    if method.shared_by_neurons:
        for K in WIDTHS:
            wide = sizes._replace(H=K * method.groups)
            if wide.parameters <= WIDEST:
                one, other = wide.fisher(True), wide.fisher(False)
                total += Cost(0, one.seconds + other.seconds)
                total = Cost(max(total.bytes, one.bytes + other.bytes), total.seconds)
    return total


STUDY = Study(
    "eq13",
    title=text("The exact Fisher information against Eq. 13"),
    source=text("section 5.2.2, Eq. 13 and 14"),
    alt=text(
        "Maps of the exact Fisher information, of Eq. 13 and of their difference by pairs of "
        "neurons; a cell stands out where the block of its pair is large."
    ),
    uses=USES,
    compute=compute,
    table=table,
    observed=_observed,
    cost=_cost,
)
