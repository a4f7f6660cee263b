"""The dimension of the null space of F_WW by formula."""

from __future__ import annotations

import numpy as np

from normgeo.base.arguments import whole_number
from normgeo.base.refusal import Refusal
from normgeo.models.families import Family, family_of
from normgeo.normalizers.centers import Center
from normgeo.normalizers.named import normalizer_of
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.scales import Scale
from normgeo.normalizers.statistic import group_size


def expected_dimension(normalizer: Normalizer | str, H: int, D: int, family: str | Family) -> int:
    """Return the dimension of the null space of F_WW, for generic weights and many generic cases.

        hidden by the center:   layer GD,   weight H
        by the scale:           layer G,    batch and weight H, or G max(1, K − D) where a layer
                                center mixes the neurons;  none where ε > 0
        by a softmax:           r where no scale holds w back, max(0, r − H) under a batch or
                                weight scale, else 0

    K = H/G; r = D, or D − 1 under a weight center. Frozen batch statistics are constants. A frozen
    mean does not grow with the weights, so no scale hides their growth, and under a weight scale a
    softmax hides one direction more. Under layer norm with K = 2, z = ±1 for any weights: all HD.

    Args:
        normalizer: its center, scale, groups, ε and statistics. H, D: neurons and features.
        family: a `Family` or its key.

    Raises:
        ValueError: groups that do not divide H, sizes at which z is undefined, or an unknown
            family.

    Source: the null space of the derivative of each center and scale; a softmax ignores
    s ↦ s + c(x) 1, so it hides the directions in which every neuron can produce the same
    c(x) = x·β.

    >>> from normgeo import NORMALIZERS
    >>> expected_dimension(NORMALIZERS["layer"], 4, 5, "gaussian")
    6

    """
    return sum(expected_terms(normalizer, H, D, family).values())


def expected_terms(
    normalizer: Normalizer | str, H: int, D: int, family: str | Family
) -> dict[str, int]:
    """Return the terms of `expected_dimension` that apply, by formula; raises as it does.

    >>> from normgeo import NORMALIZERS
    >>> expected_terms(NORMALIZERS["layer"], 4, 5, "gaussian")
    {'GD': 5, 'G': 1}

    """
    normalizer = normalizer_of(normalizer)
    H, D, coupled = whole_number("H", H, 1), whole_number("D", D, 1), family_of(family).coupled
    G, K = normalizer.groups, group_size(H, normalizer.groups)
    center, scale = normalizer.centering, normalizer.scaling
    if reason := center.undefined(2, K, D) or scale.undefined(2, K, D):
        raise Refusal(reason)
    if normalizer.leaves_only_signs(H):
        return {"HD": H * D}
    if normalizer.statistics == "frozen":
        center = center.freeze(np.zeros((1, H)) if center.shared_by_cases else None)
        scale = scale.freeze(np.ones((1, H)))
    return generic_terms(center, scale, G, normalizer.added_eps > 0, (H, D), coupled)


def generic_terms(
    center: Center, scale: Scale, G: int, added: bool, shape: tuple[int, int], coupled: bool
) -> dict[str, int]:
    """Return the terms for a center and scale, maybe frozen, W of a shape (H, D), and ε > 0 or not.

    Their sum is the smallest dimension for any weights and cases, unless z is only signs.
    """
    (H, D), K = shape, group_size(shape[0], G)
    constant_mean = center.offset is not None
    narrows = scale.divides and not (scale.frozen or added)
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
