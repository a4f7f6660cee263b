"""The null space of the Fisher information: the directions in which the model does not change.

    F v = 0  ⟺  E e = 0

E is the change of the outputs, equilibrated (see `equilibration`), and e is v in its units. Its
singular values decide ranks. Eigenvalues of EᵀE are their squares: 1e-6 becomes 1e-12, which looks
like rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arguments import flag, instance_of, real_number
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.subspaces import SAME, eigen_apart, graded_basis, gram_schmidt
from normgeo.base.text import text
from normgeo.fisher.operator import Fisher, saturation
from normgeo.fisher.structure import FisherStructure, check_size
from normgeo.fisher.which import WhichFisher
from normgeo.models.linearization import ParameterLayout
from normgeo.normalizers.blocks import lengths
from normgeo.normalizers.fixed_cases import TINY
from normgeo.null_directions.equilibration import Equilibrated
from normgeo.null_directions.exact_dimension import exact_dimension, least_dimension

DOUBT = 10.0
"""The multiple of the rounding of E up to which a singular value may be rounding."""

INSIDE = 0.9
"""Length of the part in the null space above which a unit vector counts as inside."""

# EᵀE is too inaccurate for eigenvalues below it: E measures these directions.
CANDIDATES = 1e-6


@final
@dataclass(frozen=True, eq=False)
class NullSpace:
    """The null space of a Fisher information, and how its dimension was decided.

    A direction has one of three answers. It is not null if its singular value is above `tolerance`,
    and null up to `rounding`, if exact arithmetic counts that many. Float64 cannot decide
    directions between the two, or those that exact arithmetic does not count.

    Attributes:
        singular_values: of E, descending: H·D of them for the weights alone, P for all of θ.
        basis: (P, k), orthonormal; zero along b and g for the weights alone.
        coordinates: the same directions in the units of E, orthonormal.
        rounding, tolerance: thresholds for the singular values.
        weights_only: whether it is the null space of F_WW or of all of F.
        which: of its Fisher information, as in `Fisher`. layout: of θ.
        notes: for readers, in sentences.

    """

    singular_values: Array
    basis: Array
    coordinates: Array
    rounding: float
    tolerance: float
    weights_only: bool
    which: WhichFisher
    layout: ParameterLayout
    notes: tuple[str, ...]

    @property
    def dimension(self) -> int:
        """k, the number of independent null directions."""
        return int(self.coordinates.shape[1])

    @property
    def undecided(self) -> int:
        """The number of directions that float64 cannot tell from null ones."""
        return int(np.count_nonzero(self.singular_values <= self.tolerance)) - self.dimension

    @property
    def seen(self) -> int:
        """The number of directions that are not null."""
        return len(self.singular_values) - self.dimension - self.undecided

    @property
    def clear(self) -> bool:
        """Whether every direction is decided."""
        return not self.undecided

    @property
    def answers(self) -> tuple[str, ...]:
        """The answer for each singular value: "not null", "undecided" or "null"."""
        each = ("not null", self.seen), ("undecided", self.undecided), ("null", self.dimension)
        return tuple(answer for answer, count in each for _ in range(count))

    @property
    def counts(self) -> str:
        """The number of directions with each answer, in words."""
        if self.clear:
            return text("{k} null", k=self.dimension)
        return text(
            "{k} null, {undecided} cannot be decided in float64",
            k=self.dimension,
            undecided=self.undecided,
        )


def null_space(
    F: Fisher, weights_only: bool = True, *, tolerance: float | None = None
) -> NullSpace:
    """Return the null space of a Fisher information.

    Eigenvectors of EᵀE with small eigenvalues are candidates; the singular values of E on their
    span decide. The dimension does not depend on the size of a weight vector if the scale divides
    by it, nor on the unit of a feature, nor on A'' as long as it is not 0.

    Args:
        F: of form "operator" or "dense". weights_only: of F_WW rather than of all of F.
        tolerance: singular values above it are not null, between 0 and 1; None for DOUBT times the
            rounding of E.

    Raises:
        ValueError: a bad tolerance, the form "blocks", or matrices larger than `F.max_bytes`.

    Source: section 5.2.2; the decision is ours.

    Under layer norm with 3 neurons, W has its own re-scaling and 2 shifts as null directions:

    >>> from normgeo import NORMALIZERS, NormalizedGLM
    >>> from normgeo.fisher.operator import fisher
    >>> W, X = [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]], [[1.0, 2.0], [3.0, 1.0], [0.0, 1.0]]
    >>> null_space(fisher(NormalizedGLM(NORMALIZERS["layer"], "gaussian", W), X)).counts
    '3 null'

    """
    weights_only = flag("weights_only", weights_only)
    if instance_of("F", F, Fisher).form == "blocks":
        raise Refusal(
            "A null space is that of the whole Fisher information; got form='blocks', "
            "which leaves the parts between neurons out. Use 'operator' or 'dense'."
        )
    if tolerance is not None:
        tolerance = real_number("tolerance", tolerance, above=0, below=1)
    structure = F.structure
    E = Equilibrated.of(structure.at, structure.family, weights_only, F.max_bytes)
    singular_values, found = _decomposed(E)
    offsets = E.offsets
    singular_values = np.concatenate([singular_values, np.zeros(offsets.shape[1])])
    small = E.spread(found[:, singular_values[: found.shape[1]] <= E.rounding])
    coordinates = np.concatenate([_null_part(E, structure, small), offsets], axis=1)
    highest = DOUBT * E.rounding * E.condition if tolerance is None else tolerance
    return NullSpace(
        singular_values,
        graded_basis(E.theta(E.unpack(coordinates))),
        coordinates,
        E.rounding,
        max(highest, E.rounding),
        weights_only,
        F.which,
        F.layout,
        (
            *saturation(structure.family, E.variance),
            *_notes(E, singular_values, highest, coordinates.shape[1]),
        ),
    )


def _null_part(E: Equilibrated, structure: FisherStructure, small: Array) -> Array:
    """The part (P + m, k) of directions with effects near rounding that exact arithmetic confirms.

    If there are more than it counts, directions of growth of W̃ come first.
    """
    at, family, count = structure.at, structure.family, small.shape[1]
    lost = E.offsets.shape[1]
    if count <= least_dimension(at, family, E.weights_only) - lost:
        return small
    exact = exact_dimension(at, family, E.weights_only)
    if exact is None or exact - lost >= count:
        return small
    growth = E.growth / np.maximum(lengths(E.growth.T), TINY)
    inside = (small.T @ growth).T
    inside = inside[np.linalg.norm(inside, axis=1) > INSIDE]
    order = gram_schmidt(np.concatenate([inside, np.eye(count)]), SAME)
    part: Array = small @ order[: exact - lost].T
    return part


def _decomposed(E: Equilibrated) -> tuple[Array, Array]:
    """Return the singular values of E, descending, and its right singular vectors."""
    values, vectors = eigen_apart(E.gram())
    values, vectors = values[::-1], vectors[:, ::-1]
    doubtful = values <= CANDIDATES
    singular_values = np.sqrt(np.maximum(values, 0))
    if not doubtful.any():
        return singular_values, vectors
    certain, doubted = vectors[:, ~doubtful], vectors[:, doubtful]
    layout = E.at.layout
    shape = (len(E.at.s) * layout.neurons, doubted.shape[1])  # of one block of rows
    check_size(
        shape, E.fisher.max_bytes, text("The changes of the outputs along small eigenvectors")
    )
    R = E.root(E.spread(doubted))
    if np.linalg.norm(R) > E.rounding:  # some are not null
        # Rounding errors of EᵀE rotate the doubtful directions toward the others: undo that.
        mixed = certain.T @ E.normal(doubted) / values[~doubtful, None]
        doubted = doubted - certain @ mixed
        R = E.triangle(E.spread(doubted))
    _, found, turned = np.linalg.svd(R, full_matrices=True)
    # With fewer outputs than candidates, the remaining candidates are null by counting.
    singular_values[doubtful] = 0.0
    singular_values[np.flatnonzero(doubtful)[: len(found)]] = found
    vectors[:, doubtful] = doubted @ turned.T
    order = np.argsort(-singular_values)
    return singular_values[order], vectors[:, order]


def _notes(E: Equilibrated, singular_values: Array, tolerance: float, null: int) -> list[str]:
    notes = []
    rounding = np.count_nonzero(singular_values <= E.rounding)
    if rounding == len(singular_values) == null:
        notes.append(
            text(
                "No small change of the {what} changes the outputs: F is zero to rounding.",
                what=text("weights") if E.weights_only else text("parameters"),
            )
        )
    between = np.count_nonzero(singular_values <= tolerance) - rounding
    if between:
        notes.append(
            text(
                "{count} of the directions cannot be decided in float64: singular values between "
                "{rounding:.2g}, up to which all is rounding, and {tolerance:.2g}, above which "
                "none is.",
                count=between,
                rounding=E.rounding,
                tolerance=tolerance,
            )
        )
    if rounding > null:
        notes.append(
            text(
                "{count} of the directions cannot be decided in float64: of {small} with an effect "
                "up to {rounding:.2g}, which is rounding, exact arithmetic with these very weights "
                "and inputs counts {null} as null.",
                count=rounding - null,
                small=rounding,
                rounding=E.rounding,
                null=null,
            )
        )
    return notes
