"""The null space of the Fisher information: the directions in which the model does not change.

    F v = 0  ⟺  B v = 0,    F = BᵀB,    B = (A''/(φN))^½ J

The rank is decided from singular values of B. Eigenvalues of F are their squares, which puts
1e-6 where rounding is and makes it look like 1e-12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import eigh

from normgeo.base.arguments import instance_of, real_number, whole_number
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.fisher.operator import Fisher, WhichFisher
from normgeo.fisher.structure import check_size
from normgeo.models.families import Family, family_of
from normgeo.models.glm import ParameterLayout
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.statistic import group_size

TOLERANCE = 1e-9
"""A singular value of B below this share of the largest counts as zero."""

ROUNDING = 500
"""A singular value below so many rounding errors of `FisherStructure.factor_size` is rounding."""

CLEAR_GAP = 100.0
"""The ratio of neighboring singular values that leaves no doubt between them."""

# Eigenvalues of F below this share of the largest are not believed, but measured by B.
CANDIDATES = 1e-6
# Eigenvalues of F below this share of the squared `factor_size` are rounding.
SQUARED_ROUNDING = 1e-12


@final
@dataclass(frozen=True, eq=False)
class NullSpace:
    """The null space of a Fisher information, and how its dimension was decided.

    Attributes:
        singular_values: of B, descending: H·D of them for the weights alone, P for all of θ.
        basis: (P, k), orthonormal; zero along b and g for the weights alone.
        threshold: what a singular value must exceed to count. tolerance: its share of the largest.
        weights_only: whether it is the null space of F_WW or of all of F.
        which: it is of, as in `Fisher`. layout: of θ.
        notes: what a reader should know, in sentences.

    """

    singular_values: Array
    basis: Array
    threshold: float
    tolerance: float
    weights_only: bool
    which: WhichFisher
    layout: ParameterLayout
    notes: tuple[str, ...]

    @property
    def dimension(self) -> int:
        """k, the number of independent null directions."""
        return int(self.basis.shape[1])

    @property
    def eigenvalues(self) -> Array:
        """The eigenvalues of F, descending: the squares of the singular values."""
        squares: Array = self.singular_values**2
        return squares

    @property
    def gap(self) -> float:
        """The smallest singular value that counts, over the largest that does not.

        The threshold stands in where none is left out; infinite where all are, or are exactly 0.
        """
        return _gap(self.singular_values, self.threshold)

    @property
    def clear(self) -> bool:
        """Whether the gap is wide enough for the dimension not to depend on the threshold."""
        return self.gap >= CLEAR_GAP


def null_space(F: Fisher, weights_only: bool = True, *, tolerance: float = TOLERANCE) -> NullSpace:
    """Return the null space of a Fisher information.

    Eigenvectors of F with small eigenvalues are candidates; the singular values of B on their
    span decide. Those up to `tolerance` × the largest count as zero, and so do those within the
    rounding errors of B.

    Args:
        F: of form "operator" or "dense". weights_only: of F_WW rather than of all of F.
        tolerance: between 0 and 1.

    Raises:
        ValueError: a bad tolerance, the form "blocks", or matrices of more than `F.max_bytes`.

    Source: section 5.2.2; the decision is ours.

    Under layer norm with 3 neurons, W has its own re-scaling and 2 shifts as null directions:

    >>> from normgeo import NORMALIZERS, NormalizedGLM
    >>> from normgeo.fisher.operator import fisher
    >>> W, X = [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]], [[1.0, 2.0], [3.0, 1.0], [0.0, 1.0]]
    >>> null_space(fisher(NormalizedGLM(NORMALIZERS["layer"], "gaussian", W), X)).dimension
    3

    """
    if instance_of("F", F, Fisher).form == "blocks":
        raise Refusal(
            text(
                "A null space is that of the whole Fisher information; got form='blocks', "
                "which leaves the parts between neurons out. Use 'operator' or 'dense'."
            )
        )
    tolerance = real_number("tolerance", tolerance, above=0, below=1)
    places = F.layout.weights if weights_only else np.arange(F.layout.size)
    values, vectors = eigh(F.weights() if weights_only else F.to_dense(), driver="evd")
    size = F.structure.factor_size()
    rounding = ROUNDING * float(np.finfo(F.structure.at.z.dtype).eps) * size
    doubtful = values <= max(
        CANDIDATES * values[-1], SQUARED_ROUNDING * size**2, (10 * rounding) ** 2
    )
    singular_values = np.sqrt(values[~doubtful])
    candidates = np.zeros((F.layout.size, np.count_nonzero(doubtful)))
    candidates[places] = vectors[:, doubtful]
    measured = np.zeros(0)
    if doubtful.any():
        shape = (F.N * F.layout.neurons, candidates.shape[1])
        check_size(shape, F.max_bytes, text("The changes of the outputs along small eigenvectors"))
        R = np.linalg.qr(F.factor_times(candidates), mode="r")
        _, found, turned = np.linalg.svd(R, full_matrices=True)
        # Fewer outputs than candidates: the rest of the candidates are null by counting.
        measured = np.zeros(candidates.shape[1])
        measured[: len(found)] = found
        candidates = candidates @ turned.T
    singular_values = np.sort(np.concatenate([singular_values, measured]))[::-1]
    threshold = max(tolerance * float(singular_values[0]), rounding)
    basis = candidates[:, measured <= threshold]
    return NullSpace(
        singular_values,
        basis,
        threshold,
        tolerance,
        weights_only,
        F.which,
        F.layout,
        _notes(F, singular_values, threshold, weights_only),
    )


def _gap(singular_values: Array, threshold: float) -> float:
    kept = singular_values[singular_values > threshold]
    dropped = singular_values[singular_values <= threshold]
    below = float(dropped[0]) if len(dropped) else threshold
    return float(kept[-1]) / below if len(kept) and below > 0 else np.inf


def _notes(
    F: Fisher, singular_values: Array, threshold: float, weights_only: bool
) -> tuple[str, ...]:
    notes = list(F.notes)
    if singular_values[0] <= threshold:
        notes.append(
            text(
                "No small change of the {what} changes the outputs: F is zero to rounding.",
                what=text("weights") if weights_only else text("parameters"),
            )
        )
    gap = _gap(singular_values, threshold)
    if gap < CLEAR_GAP:
        notes.append(
            text(
                "There is no clear gap: the singular values on the two sides of the threshold "
                "{threshold:.2g} differ by a factor of {gap:.2g} only, so the number of null "
                "directions depends on it.",
                threshold=threshold,
                gap=gap,
            )
        )
    return tuple(notes)


def expected_dimension(normalizer: Normalizer, H: int, D: int, family: str | Family) -> int:
    """Return the dimension of the null space of F_WW, for generic weights and many generic cases.

        hidden by the center:   layer GD,   weight H
        by the scale:           layer G,    batch and weight H, or G max(1, K − D) where a layer
                                center mixes the neurons;  none where ε > 0
        by a softmax:           r where no scale holds w back, max(0, r − H) under a batch or
                                weight scale, else 0

    K = H/G; r = D, or D − 1 under a weight center. Frozen batch words are constants: such a mean
    does not grow with the weights, so no scale hides their growth, and of a weight scale a softmax
    hides one direction more. Under layer norm with K = 2, z = ±1 whatever the weights: all HD.

    Args:
        normalizer: its words, groups, ε and statistics. H, D: neurons and features.
        family: a `Family` or its key.

    Raises:
        ValueError: groups that do not divide H, or an unknown family.

    Source: the null space of each word's derivative; a softmax keeps s + c(x) 1, so it hides the
    directions in which every neuron can follow one c(x) = x·β.

    >>> from normgeo import NORMALIZERS
    >>> expected_dimension(NORMALIZERS["layer"], 4, 5, "gaussian")
    6

    """
    return sum(expected_terms(normalizer, H, D, family).values())


def expected_terms(normalizer: Normalizer, H: int, D: int, family: str | Family) -> dict[str, int]:
    """Return the terms of `expected_dimension` that apply, by their formulas; raises as it does.

    >>> from normgeo import NORMALIZERS
    >>> expected_terms(NORMALIZERS["layer"], 4, 5, "gaussian")
    {'GD': 5, 'G': 1}

    """
    instance_of("normalizer", normalizer, Normalizer)
    H, D, coupled = whole_number("H", H, 1), whole_number("D", D, 1), family_of(family).coupled
    G, K = normalizer.groups, group_size(H, normalizer.groups)
    center, scale = normalizer.centering, normalizer.scaling
    frozen = normalizer.statistics == "frozen"
    constant_mean, constant_scale = (frozen and word.shared_by_cases for word in (center, scale))
    narrows = scale.divides and not (constant_scale or normalizer.added_eps)
    if normalizer.leaves_only_signs(H):
        return {"HD": H * D}
    terms = {}
    if center.neuron_dimensions_lost:
        terms["GD"] = G * D
    if center.feature_dimensions_lost:
        terms["H"] = H
    if narrows and not constant_mean:
        if scale.shared_by_neurons:
            terms["G"] = G
        elif center.neuron_dimensions_lost:
            terms["G max(1, K − D)"] = G * max(1, K - D)
        else:
            terms["2H" if "H" in terms else "H"] = terms.pop("H", 0) + H
    mixes = center.neuron_dimensions_lost or scale.shared_by_neurons
    if coupled and not mixes:
        r, room = ("(D − 1)", D - 1) if center.feature_dimensions_lost else ("D", D)
        if narrows:
            terms[f"max(0, {r} − H)"] = max(0, room - H)
            if constant_mean:
                terms["1"] = 1
        else:
            terms[r] = room
    return terms
