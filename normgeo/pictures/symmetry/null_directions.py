"""The picture of the null directions of F_WW, and what explains them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.fisher.operator import Fisher, fisher
from normgeo.models.family import Family
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.named import GRID
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.captions import USES, caption, variant
from normgeo.pictures.model_on_data import independent, model_on_data
from normgeo.pictures.picture import Study
from normgeo.pictures.work import BASE, BYTES, PRODUCTS, Sizes, eigenvalues, times, weights
from normgeo.settings import Settings
from normgeo.symmetry.dimension import expected_dimension, expected_terms
from normgeo.symmetry.explanation import Explanation, explain
from normgeo.symmetry.null_space import NullSpace, null_space
from normgeo.tables.table import Table

LARGEST = 1024  # weights: the eigenvectors of F_WW take (H·D)³ operations
STAGES = 3


@final
@dataclass(frozen=True, eq=False)
class NullDirections:
    """The null space of F_WW, counted, expected and explained.

    Attributes:
        null: of the exact Fisher information. paper: of Eq. 13.
        roots: of the eigenvalues of the exact F_WW, descending. paper_roots: of that of Eq. 13.
        explanation: of `null`. It and Eq. 13's are None where the computation was stopped before.
        terms: of the formula for its dimension. grid: the dimension by formula under any two
            words for center and scale, at these sizes. model: whose they are.
        caption: data, family, sizes, variant.
        notes: sentences for the reader.

    """

    null: NullSpace
    explanation: Explanation | None
    paper: NullSpace | None
    roots: Array
    paper_roots: Array | None
    terms: Mapping[str, int]
    grid: Mapping[tuple[str, str], int]
    model: NormalizedGLM
    caption: str
    notes: tuple[str, ...]

    @property
    def expected(self) -> int:
        """The dimension by formula."""
        return sum(self.terms.values())

    @property
    def normalizer(self) -> Normalizer:
        """The method of the model."""
        return self.model.normalizer

    @property
    def family(self) -> Family:
        """The family of the model."""
        return self.model.family

    @property
    def neurons(self) -> int:
        """The neurons H."""
        return self.model.layout.neurons

    @property
    def features(self) -> int:
        """The features D."""
        return self.model.layout.features


def compute(settings: Settings, progress: Progress) -> NullDirections:
    """The null spaces of the exact Fisher information and of Eq. 13, and the reasons."""
    chosen = independent(settings)
    it = model_on_data(chosen, "standardized")
    model, X = it.model, it.X
    _check_size(model)
    F = fisher(model, X)
    null, roots = null_space(F), _roots(F)
    terms = expected_terms(
        model.normalizer, model.layout.neurons, model.layout.features, model.family.key
    )
    notes = list(null.notes)
    if chosen is not settings:
        notes.append(
            text(
                "The outputs are independent, each class against the rest: a softmax has null "
                "directions of its own. Choose “categorical” under Settings to see them."
            )
        )
    if not null.dimension <= sum(terms.values()) <= null.dimension + null.undecided:
        notes.append(
            text(
                "The formula is for generic weights and many generic cases; these are not, so "
                "the count differs from it."
            )
        )
    about = text(
        "{model}, G = {G}{variant}",
        model=caption(it),
        G=model.normalizer.groups,
        variant=variant(model.normalizer),
    )
    result = NullDirections(
        null,
        None,
        None,
        roots,
        None,
        terms,
        _grid(settings, model),
        model,
        about,
        (*notes, *it.notes),
    )
    if not progress.tell(1, STAGES):
        return result
    result = replace(result, explanation=explain(model, X, null))
    if not progress.tell(2, STAGES):
        return result
    mixed = model.normalizer.shared_by_neurons
    if mixed:
        F = fisher(model, X, coupling="paper")
        null, roots = null_space(F), _roots(F)
    progress.tell(STAGES, STAGES)
    return replace(result, paper=null, paper_roots=roots)


def _roots(F: Fisher) -> Array:
    """The roots of the eigenvalues of F_WW, descending."""
    roots: Array = np.sqrt(np.maximum(np.linalg.eigvalsh(F.weights())[::-1], 0))
    return roots


def _grid(settings: Settings, model: NormalizedGLM) -> dict[tuple[str, str], int]:
    """The dimension by formula for all centers and scales, in layers like the model's."""
    H, D = model.W.shape
    found = {}
    for words, known in GRID.items():
        method = settings.adapt(known)
        if method.shared_by_neurons:
            method = replace(method, groups=model.normalizer.groups)
        found[words] = expected_dimension(method, H, D, model.family.key)
    return found


def _check_size(model: NormalizedGLM) -> None:
    H, D = model.W.shape
    if H * D > LARGEST:
        raise Refusal(
            text(
                "A spectrum of F_WW is drawn for up to {most:,} weights; H = {H} neurons with "
                "D = {D} features have {count:,}. Use fewer neurons.",
                most=LARGEST,
                H=H,
                D=D,
                count=H * D,
            )
        )


def table(result: NullDirections) -> Table:
    """All singular values, and the reasons."""
    rows: list[tuple[object, ...]] = [
        ("singular value", i, float(value), answer, "", None, None, None, None, None)
        for i, (value, answer) in enumerate(
            zip(result.null.singular_values, result.null.answers, strict=True), start=1
        )
    ]
    found = result.explanation
    if found is not None:
        rows += [
            ("reason", i, None, None, r.title, r.span, r.held, r.added, r.angle, r.sentence)
            for i, r in enumerate(found.reasons, start=1)
        ]
        last, title = len(found.reasons) + 1, text("no known reason")
        rows.append(("reason", last, None, None, title, None, None, found.unexplained, None, ""))
    columns = (
        "kind",
        "index",
        "singular_value",
        "answer",
        "reason",
        "tangents",
        "null_directions",
        "new_null_directions",
        "largest_angle_radians",
        "meaning",
    )
    title = text(
        "{method}: of {all} directions {counts}, by formula {expected}",
        method=result.normalizer.title,
        counts=result.null.counts,
        all=result.null.singular_values.size,
        expected=result.expected,
    )
    return Table(columns, tuple(rows), title, notes=(str(result.null.which),))


def cost(settings: Settings) -> Cost:
    """Eigenvalues of F_WW, and the changes of the outputs along the small ones."""
    sizes = Sizes.of(settings, apart=True)
    N, D, H, _ = sizes
    if H * D > LARGEST:
        return BASE
    method, null = settings.normalizer, H * D
    if H % method.groups == 0:
        family = "categorical" if sizes.coupled else "gaussian"
        null = min(H * D, expected_dimension(method, H, D, family) + D)
    mixed = method.shared_by_neurons
    return (
        weights(settings, sizes)
        + sizes.fisher(mixed)
        + times(2, eigenvalues(H * D))
        + sizes.evaluations(8 * null)
        + Cost(4 * BYTES * N * H * null, 10 * N * H * null**2 / PRODUCTS)
    )


STUDY = Study(
    "symmetry",
    title=text("The directions in weight space that the model does not see"),
    alt=text(
        "Left: the singular values that decide which directions are null, on a logarithmic "
        "scale, with the null ones marked apart, of the size of rounding errors. Right: a bar for "
        "each reason, as long as the number of null directions that it explains."
    ),
    uses=USES,
    compute=compute,
    table=table,
    cost=cost,
)
