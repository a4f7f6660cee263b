"""The picture of the null directions of F_WW, and what explains them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from normgeo.base.budget import MEGABYTE, Cost
from normgeo.base.cache import cached
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.subspaces import LARGE
from normgeo.base.text import text
from normgeo.fisher.operator import fisher
from normgeo.models.family import Family
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.named import GRID
from normgeo.normalizers.normalizer import Normalizer
from normgeo.null_directions.dimension import expected_dimension, expected_terms
from normgeo.null_directions.explanation import Explanation, explain
from normgeo.null_directions.null_space import NullSpace, null_space
from normgeo.pictures.captions import USES, caption, variant
from normgeo.pictures.model_on_data import ModelOnData, independent, model_on_data
from normgeo.pictures.picture import Study
from normgeo.pictures.work import BYTES, ENTRIES, HELD, PRODUCTS, Sizes, weights
from normgeo.settings import Settings
from normgeo.tables.table import Table

LARGEST = 1024  # weights: the eigenvectors of F_WW take (H·D)³ operations
STAGES = 2
MOST_COPIED = 3 * BYTES * LARGE  # beside a matrix whose rows are taken in blocks


@final
@dataclass(frozen=True, eq=False)
class NullDirections:
    """The null space of F_WW, counted, expected and explained.

    Attributes:
        null: of the exact Fisher information.
        explanation: of it; None where the computation was stopped before.
        terms: of the formula for its dimension. grid: the dimension by formula under any two
            words for center and scale, at these sizes. model: whose they are.
        caption: data, family, sizes, variant.
        notes: sentences for the reader.

    """

    null: NullSpace
    explanation: Explanation | None
    terms: Mapping[str, int]
    grid: Mapping[tuple[str, str], int | None]
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

    @property
    def fits(self) -> bool:
        """Whether the count may be the dimension by formula."""
        k = self.null.dimension
        return k <= self.expected <= k + self.null.undecided

    @property
    def formula(self) -> str:
        """The dimension by formula, in letters and numbers, beside the count."""
        words = " + ".join(self.terms) + " = " if self.terms else ""
        if len(self.terms) > 1:
            words += " + ".join(str(value) for value in self.terms.values()) + " = "
        formula = f"{words}{self.expected}"
        if not self.fits:
            k = self.null.dimension
            return text("by formula {formula}, but {k} are counted", formula=formula, k=k)
        if self.null.clear:
            return text("the formula gives the same: {formula}", formula=formula)
        return text("by formula {formula}: float64 does not decide", formula=formula)


def null_directions(settings: Settings, progress: Progress) -> NullDirections:
    """The null space of F_WW and its reasons, which the pictures of the page share."""
    used = Settings(**{use: getattr(settings, use) for use in USES})
    it, null = model_of(used), _null_space(used)
    model = it.model
    terms = expected_terms(
        model.normalizer, model.layout.neurons, model.layout.features, model.family.key
    )
    about = text(
        "{model}{groups}{variant}",
        model=caption(it),
        groups=f", G = {model.normalizer.groups}" if "G" in "".join(terms) else "",
        variant=variant(model.normalizer),
    )
    found = NullDirections(null, None, terms, _grid(used, model), model, about, ())
    found = replace(found, notes=(*_notes(used, found), *it.notes))
    if not progress.tell(1, STAGES):
        return found
    found = replace(found, explanation=_explanation(used))
    progress.tell(STAGES, STAGES)
    return found


def model_of(settings: Settings) -> ModelOnData:
    """The model whose null directions are meant, on standardized features.

    Raises:
        Refusal: it has too many weights.

    """
    _sizes(settings)
    return model_on_data(independent(settings), "standardized")


@cached(bytes=24 * MEGABYTE)
def _null_space(settings: Settings) -> NullSpace:
    it = model_of(settings)
    return null_space(fisher(it.model, it.X))


@cached(bytes=24 * MEGABYTE)
def _explanation(settings: Settings) -> Explanation:
    it = model_of(settings)
    return explain(it.model, it.X, _null_space(settings))


def _notes(settings: Settings, found: NullDirections) -> list[str]:
    notes = list(found.null.notes)
    if independent(settings) is not settings:
        words = text("The outputs are independent, each class against the rest.")
        softmax = expected_dimension(found.normalizer, found.neurons, found.features, "categorical")
        if softmax > found.expected:
            words = text(
                "{words} A softmax adds {n} to the null directions, by formula. Choose "
                "“categorical” under Settings to see them.",
                words=words,
                n=softmax - found.expected,
            )
        notes.append(words)
    if not found.fits:
        notes.append(
            text(
                "The formula is for generic weights and many generic cases. These are not "
                "generic, so the count differs from it."
            )
        )
    return notes


def _grid(settings: Settings, model: NormalizedGLM) -> dict[tuple[str, str], int | None]:
    """The dimension by formula for all centers and scales, in layers like the model's.

    None for a pair that has no z there, as the pairs with a spread over one neuron.
    """
    H, D = model.W.shape
    found: dict[tuple[str, str], int | None] = {}
    for words, known in GRID.items():
        method = settings.adapt(known)
        if method.shared_by_neurons:
            method = replace(method, groups=model.normalizer.groups)
        try:
            found[words] = expected_dimension(method, H, D, model.family.key)
        except Refusal:
            found[words] = None
    return found


def _sizes(settings: Settings) -> Sizes:
    """The sizes of the model; raises where it has too many weights."""
    sizes = Sizes.of(settings, "standardized", apart=True, normalizer=settings.normalizer)
    _, D, H, _ = sizes
    if H * D > LARGEST:
        raise Refusal(
            "A spectrum of F_WW is drawn for up to {most:,} weights; H = {H} neurons with "
            "D = {D} features have {count:,}. Use fewer neurons.",
            most=LARGEST,
            H=H,
            D=D,
            count=H * D,
        )
    return sizes


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
    """Eigenvectors of F_WW, spans of all tangents, and the null directions along the maps."""
    sizes = _sizes(settings)
    N, D, H, _ = sizes
    method, often = settings.normalizer, 8
    family = "categorical" if sizes.coupled else "gaussian"
    null = min(H * D, expected_dimension(method, H, D, family) + max(0, D - N))
    if method.leaves_only_signs(H):  # all is null, so few changes are followed
        often, null = 6, null - method.groups * D * method.centering.neuron_dimensions_lost
    along = 2 * N * D * H / PRODUCTS + 4 * N * H / ENTRIES
    triangles = often * N * H * null**2 / PRODUCTS
    return (
        weights(settings, sizes)
        + sizes.fisher(method.shared_by_neurons)
        + Cost(4 * BYTES * (H * D) ** 2, 9 * (H * D) ** 3 / PRODUCTS)
        + Cost(HELD * BYTES * N * H, often * null * along + triangles)
        + Cost(min(4 * BYTES * N * H * null, BYTES * N * H * null + MOST_COPIED))
    )


STUDY = Study(
    "symmetry",
    title=text("The directions in weight space that the model does not see"),
    source=text("section 5.1, Table 1; section 5.2.2"),
    alt=text(
        "Left: the singular values that decide which directions are null, on a logarithmic "
        "scale. Those of null directions are marked apart; they are as small as rounding "
        "errors. Right: a bar for each reason, as long as the number of null directions that "
        "it explains."
    ),
    uses=USES,
    compute=null_directions,
    table=table,
    cost=cost,
)
