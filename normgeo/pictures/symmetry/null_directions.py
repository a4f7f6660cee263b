"""The pictures of the Symmetry page: the null directions of F_WW, and what explains them."""

from __future__ import annotations

from typing import NamedTuple

from normgeo.base.text import text
from normgeo.fisher.operator import fisher
from normgeo.pictures.fisher.pair import USES, unusual, which_fisher
from normgeo.pictures.model_on_data import independent, model_on_data
from normgeo.pictures.symmetry.coupling_figure import coupling_figure
from normgeo.pictures.symmetry.null_directions_figure import symmetry_figure
from normgeo.pictures.view import Progress, View
from normgeo.settings import Settings
from normgeo.symmetry.explanation import Explanation, Reason, explain
from normgeo.symmetry.null_space import NullSpace, expected_terms, null_space
from normgeo.tables.table import Table

LARGEST = 1024  # weights: the eigenvectors of F_WW take (H·D)³ operations
STAGES = 3


class SymmetryPicture(NamedTuple):
    """The null space of F_WW, counted, expected and explained.

    Attributes:
        null: of the exact Fisher information. paper: of Eq. 13.
        explanation: of `null`. Both are None where the computation was stopped before them.
        terms: of the formula for its dimension. method, words: the normalizer's title and words.
        groups, neurons, features: G, H and D. family, family_key, data: of the model.
        setting: what is unusual about the normalizer, or "".
        notes: sentences for the reader.

    """

    null: NullSpace
    explanation: Explanation | None
    paper: NullSpace | None
    terms: dict[str, int]
    method: str
    words: tuple[str, str]
    groups: int
    neurons: int
    features: int
    family: str
    family_key: str
    setting: str
    data: str
    notes: tuple[str, ...]

    @property
    def expected(self) -> int:
        """The dimension by formula."""
        return sum(self.terms.values())


def _symmetry(settings: Settings, callback: Progress | None = None) -> SymmetryPicture:
    here = model_on_data(independent(settings), "standardized")
    model, X = here.model, here.X
    H, D = model.W.shape
    if H * D > LARGEST:
        raise ValueError(
            text(
                "A spectrum of F_WW is drawn for up to {most:,} weights; H = {H} neurons with "
                "D = {D} features have {count:,}. Use fewer neurons.",
                most=LARGEST,
                H=H,
                D=D,
                count=H * D,
            )
        )
    null = null_space(fisher(model, X))
    terms = expected_terms(model.normalizer, H, D, model.family.key)
    notes = list(null.notes)
    if independent(settings) is not settings:
        notes.append(
            text(
                "The outputs are independent, each class against the rest: a softmax has null "
                "directions of its own. Choose “categorical” under Settings to see them."
            )
        )
    if null.dimension != sum(terms.values()):
        notes.append(
            text(
                "The formula is for generic weights and many generic cases; these are not, so "
                "the count differs from it."
            )
        )
    picture = SymmetryPicture(
        null,
        None,
        None,
        terms,
        model.normalizer.title,
        model.normalizer.words,
        model.normalizer.groups,
        H,
        D,
        model.family.title,
        model.family.key,
        unusual(model.normalizer),
        here.dataset.title,
        (*notes, *here.notes),
    )
    try:
        if callback is not None:
            callback(1, STAGES)
        picture = picture._replace(explanation=explain(model, X, null))
        if callback is not None:
            callback(2, STAGES)
        mixed = model.normalizer.shared_by_neurons
        paper = null_space(fisher(model, X, coupling="paper")) if mixed else null
        picture = picture._replace(paper=paper)
        if callback is not None:
            callback(STAGES, STAGES)
    except StopIteration:
        pass
    return picture


def reasons(picture: SymmetryPicture) -> tuple[Reason, ...]:
    """Return the reasons that explain a null direction which none before them does."""
    found = picture.explanation
    return () if found is None else tuple(r for r in found.reasons if r.added)


def _table(picture: SymmetryPicture) -> Table:
    rows: list[tuple[object, ...]] = [
        ("singular value", i, float(value), "", None, None, None, None, None)
        for i, value in enumerate(picture.null.singular_values, start=1)
    ]
    found = picture.explanation
    if found is not None:
        rows += [
            ("reason", i, None, r.title, r.span, r.held, r.added, r.angle, r.sentence)
            for i, r in enumerate(found.reasons, start=1)
        ]
        rows.append(
            (
                "reason",
                len(found.reasons) + 1,
                None,
                text("no known reason"),
                None,
                None,
                found.unexplained,
                None,
                "",
            )
        )
    columns = (
        "kind",
        "index",
        "singular_value",
        "reason",
        "tangents",
        "null_directions",
        "new_null_directions",
        "largest_angle_radians",
        "meaning",
    )
    return Table(columns, tuple(rows), title(picture), notes=(which_fisher(picture.null),))


def title(picture: SymmetryPicture) -> str:
    """Return what is counted, and the count."""
    return text(
        "{method}: {k} null directions of {all}, by formula {expected}",
        method=picture.method,
        k=picture.null.dimension,
        all=picture.null.singular_values.size,
        expected=picture.expected,
    )


def _about(picture: SymmetryPicture) -> str:
    return (
        text(
            "{data}, {family} outputs, H = {H}, D = {D}, G = {G}",
            data=picture.data,
            family=picture.family,
            H=picture.neurons,
            D=picture.features,
            G=picture.groups,
        )
        + picture.setting
    )


SYMMETRY = View(
    "symmetry",
    text("The directions in weight space that the model does not see"),
    USES,
    _symmetry,
    lambda picture, theme: symmetry_figure(
        picture.null,
        picture.explanation,
        picture.terms,
        method=picture.method,
        words=picture.words,
        about=_about(picture),
        which=which_fisher(picture.null),
        theme=theme,
    ),
    _table,
    watched=_symmetry,
)


def _coupling_table(picture: SymmetryPicture) -> Table:
    exact = picture.null.singular_values.tolist()
    paper: list[float | None] = [None] * len(exact)
    if picture.paper is not None:
        paper = picture.paper.singular_values.tolist()
    rows = tuple((i, *both) for i, both in enumerate(zip(exact, paper, strict=True), start=1))
    words = text("Roots of the eigenvalues of F_WW, {method}", method=picture.method)
    return Table(("index", "exact", "eq_13"), rows, words)


COUPLING = View(
    "coupling",
    text("The spectrum of the exact Fisher information and of Eq. 13"),
    USES,
    _symmetry,
    lambda picture, theme: coupling_figure(
        picture.null,
        picture.paper,
        method=picture.method,
        words=picture.words,
        about=_about(picture),
        theme=theme,
    ),
    _coupling_table,
    watched=_symmetry,
)
