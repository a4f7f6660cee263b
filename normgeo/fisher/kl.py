"""The divergence between two models over data."""

from __future__ import annotations

from collections.abc import Iterator
from operator import add

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.rows import Rows
from normgeo.models.glm import NormalizedGLM
from normgeo.models.linearization import Part
from normgeo.models.rows import over_both


def kl(model: NormalizedGLM, other: NormalizedGLM, X: ArrayLike | Rows) -> float:
    """Return KL[P_θ ‖ P_θ'], the mean over the cases X (N, D), in nats per case.

        KL = E_x[ A(s') − A(s) − f(s)·(s' − s) ]/φ

    Raises:
        ValueError: the families, the dispersions φ or the numbers of outputs differ, or what the
            models refuse.

    Source: section 5.2.1, Eq. 8.

    >>> from normgeo import NORMALIZERS, NormalizedGLM
    >>> P, Q = (NormalizedGLM(NORMALIZERS["standard"], "gaussian", [[w]]) for w in (1.0, 3.0))
    >>> kl(P, Q, [[1.0], [-1.0]])
    2.0

    """
    instance_of("model", model, NormalizedGLM)
    instance_of("other", other, NormalizedGLM)
    for what, of_model, of_other in (
        (text("family"), model.family.key, other.family.key),
        (text("dispersion φ"), model.phi, other.phi),
        (text("number of outputs"), len(model.W), len(other.W)),
    ):
        if of_model != of_other:
            raise Refusal(
                "A divergence needs two models with the same {what}; got {of_model} and "
                "{of_other}.",
                what=what,
                of_model=of_model,
                of_other=of_other,
            )
    family, phi = model.family, model.phi

    def step(parts: Iterator[tuple[Part, Part]]) -> float:
        return sum(
            share * float(np.mean(family.kl(at.s, there.s, phi)))
            for (share, at), (_, there) in parts
        )

    return float(over_both(model.linearize(X), other.linearize(X), step, add))
