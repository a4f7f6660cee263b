"""The exact Fisher information against Eq. 13, and how the difference depends on the width."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.fisher.neuron_blocks import block_norms
from normgeo.fisher.operator import fisher
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.fisher.equation_13_figure import equation_13_figure
from normgeo.pictures.fisher.pair import USES, about, pair, unusual, which_fisher
from normgeo.pictures.model_on_data import ModelOnData, independent, model_on_data
from normgeo.pictures.style.template import Figure
from normgeo.pictures.view import Progress, View
from normgeo.settings import Settings
from normgeo.tables.table import Table

WIDTHS = (3, 4, 6, 8, 12, 16, 24)  # neurons in a group
NOTHING = 1e-9  # of ‖F‖: a smaller F_WW is zero up to rounding
WIDEST = 1700  # parameters: wider layers are left out


class Difference(NamedTuple):
    """How far Eq. 13 is from the Fisher information, ‖F₁₃ − F‖/‖F‖ in the Frobenius norm.

    Attributes:
        neurons: H. whole: of F. weights: of F_WW; NaN where it is zero.

    """

    neurons: int
    whole: float
    weights: float


class Equation13Picture(NamedTuple):
    """Both matrices by pairs of neurons.

    Attributes:
        normalizer, unusual: the method. exact, paper, gap: norms of the blocks of F, of Eq. 13
            and of their difference, (H, H). here: their distance. widths: the same for layers of
            other widths, random weights; none where no statistic is shared by neurons.
        about, which, notes: for the reader.

    """

    normalizer: Normalizer
    unusual: str
    exact: Array
    paper: Array
    gap: Array
    here: Difference
    widths: tuple[Difference, ...]
    about: str
    which: str
    notes: tuple[str, ...]


def _equation_13(settings: Settings, callback: Progress | None = None) -> Equation13Picture:
    both = pair(settings)
    it = both.normalized
    model, method = it.model, it.model.normalizer
    F = fisher(model, it.X)
    exact, paper = F.to_dense(), fisher(model, it.X, coupling="paper").to_dense()
    H = len(model.W)
    picture = Equation13Picture(
        method,
        unusual(method),
        block_norms(exact, H),
        block_norms(paper, H),
        block_norms(paper - exact, H),
        _difference(model, exact, paper),
        (),
        about(it),
        which_fisher(F),
        both.notes,
    )
    if not method.shared_by_neurons:
        return picture
    p = model.layout.per_neuron
    widths = [K * method.groups for K in WIDTHS if K * method.groups * p <= WIDEST]
    found: list[Difference] = []
    try:
        for done, H in enumerate(widths, start=1):
            found.append(_of_width(settings, method, H))
            if callback is not None:
                callback(done, len(widths))
    except StopIteration:
        pass
    return picture._replace(widths=tuple(found))


def _of_width(settings: Settings, method: Normalizer, H: int) -> Difference:
    random = replace(independent(settings), neurons=H, weights="random")
    it: ModelOnData = model_on_data(random, "standardized", method)
    exact = fisher(it.model, it.X).to_dense()
    return _difference(it.model, exact, fisher(it.model, it.X, coupling="paper").to_dense())


def _difference(model: NormalizedGLM, exact: Array, paper: Array) -> Difference:
    places = np.ix_(model.layout.weights, model.layout.weights)
    errors, least = [], NOTHING * float(np.linalg.norm(exact))
    for a, b in ((exact, paper), (exact[places], paper[places])):
        size = float(np.linalg.norm(a))
        errors.append(float(np.linalg.norm(b - a)) / size if size > least else float("nan"))
    return Difference(len(model.W), *errors)


def _figure(picture: Equation13Picture, theme: str) -> Figure:
    return equation_13_figure(
        picture.normalizer,
        picture.unusual,
        picture.exact,
        picture.paper,
        picture.gap,
        here=picture.here,
        widths=picture.widths,
        about=picture.about,
        which=picture.which,
        theme=theme,
    )


def _table(picture: Equation13Picture) -> Table:
    rows: list[tuple[object, ...]] = [
        (
            "norm of the block",
            i,
            j,
            float(picture.exact[i, j]),
            float(picture.paper[i, j]),
            float(picture.gap[i, j]),
        )
        for i, j in np.ndindex(picture.exact.shape)
    ]
    rows += [
        ("error at width H", each.neurons, None, None, None, each.whole)
        for each in (picture.here, *picture.widths)
    ]
    columns = ("what", "i_or_H", "j", "exact", "eq_13", "difference")
    title = text("F and Eq. 13 by pairs of neurons; {about}", about=picture.about)
    return Table(columns, tuple(rows), title, notes=(picture.which,))


EQUATION_13 = View(
    "eq13",
    text("The exact Fisher information against Eq. 13"),
    USES,
    _equation_13,
    _figure,
    _table,
    watched=_equation_13,
)
