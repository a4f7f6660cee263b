"""Statements on what the Fisher information does not see: sections 5.1 and 5.2 together."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.claims.claim import (
    FAILS,
    HOLDS,
    HOLDS_IF,
    Claim,
    Finding,
    by_method,
    certify,
    numbers,
    plain,
)
from normgeo.claims.examples import PAPER, ROUNDING, Example
from normgeo.fisher.operator import Fisher, fisher
from normgeo.invariance.transforms import TRANSFORMS, Transform
from normgeo.models.glm import NormalizedGLM
from normgeo.symmetry.null_space import null_space


def _null_directions(example: Example) -> Finding:
    """Measure vᵀFv along the tangents of the changes that layer norm ignores, exact and Eq. 13."""
    X, model = example.X, example.model("layer", "gaussian")
    exact, paper = fisher(model, X), fisher(model, X, coupling="paper")
    tangents = _invariant_tangents(example, model, X)
    seen, by_paper = _share_seen(exact, tangents), _share_seen(paper, tangents)
    return Finding(
        max(seen, by_paper) < ROUNDING,
        seen < ROUNDING,
        numbers(
            text("largest share of F"), {text("the exact Fisher"): seen, text("Eq. 13"): by_paper}
        ),
    )


def _others_are_seen(example: Example) -> Finding:
    """Measure vᵀFv along the tangents of the changes of W that each method does not ignore."""
    X, least = example.X, {}
    for method in PAPER:
        model = example.model(method, "gaussian")
        tangents = _tangents(example, model, X, invariant=False)
        F = fisher(model, X)
        least[method] = min(_share_seen(F, v[:, None]) for v in tangents.T)
    return plain(min(least.values()) > ROUNDING, by_method(text("smallest share of F"), least))


def _count(example: Example) -> Finding:
    """Compare the null dimensions of F among the weights with the span of the tangents."""
    X, spans, independent, coupled = example.X, {}, {}, {}
    for method in PAPER:
        model = example.model(method, "gaussian", neurons=4)
        spans[method] = int(np.linalg.matrix_rank(_invariant_tangents(example, model, X)))
        independent[method] = null_space(fisher(model, X)).dimension
        model = example.model(method, "categorical", neurons=4)
        coupled[method] = null_space(fisher(model, X)).dimension
    return Finding(
        spans == independent == coupled,
        spans == independent,
        by_method(text("dimensions of the symmetries"), spans)
        + by_method(text("null directions"), independent)
        + by_method(text("null directions with a softmax"), coupled),
    )


def _equation_13_is_singular(example: Example) -> Finding:
    """Count the null directions of Eq. 13 among the weights of layer norm."""
    X, model = example.X, example.model("layer", "gaussian", neurons=4)
    exact, paper = (
        null_space(fisher(model, X, coupling=coupling)).dimension for coupling in ("exact", "paper")
    )
    return plain(
        paper == exact,
        numbers(text("null directions"), {text("the exact Fisher"): exact, text("Eq. 13"): paper}),
    )


def _invariant_tangents(example: Example, model: NormalizedGLM, X: Array) -> Array:
    return _tangents(example, model, X, invariant=True)


def _tangents(example: Example, model: NormalizedGLM, X: Array, invariant: bool) -> Array:
    """Return the tangents of the changes of W that z ignores, or does not, as columns of θ."""
    columns = [
        model.layout.pack(dW, np.zeros(len(dW)), np.zeros(len(dW)))
        for transform in TRANSFORMS.values()
        if transform.matrix == "W"
        and certify(example, model.normalizer, transform).invariant == invariant
        for dW in _velocities(example, transform, model.W, X)
    ]
    return np.column_stack(columns)


def _velocities(example: Example, transform: Transform, W: Array, X: Array) -> list[Array]:
    """Return the velocity of a change of W for each row it may change, and two γ for each D."""
    rows = range(len(W)) if transform.operation.one_row else [0]
    if transform.rescales:
        return [transform.tangent(W, X, index=row)[0] for row in rows]
    rng = example.rng()
    gammas = rng.standard_normal((2 * W.shape[1], *transform.gamma_shape(W, X)))
    return [transform.tangent(W, X, gamma=g, index=row)[0] for row in rows for g in gammas]


def _share_seen(F: Fisher, tangents: Array) -> float:
    """Return the largest vᵀFv over unit tangents, as a share of the trace."""
    unit = tangents / np.linalg.norm(tangents, axis=0)
    return float(np.diagonal(F.restrict(unit)).max()) / F.trace()


CLAIMS = (
    Claim(
        "null_directions",
        text(
            "The changes of weights that layer norm ignores are null directions of its Fisher "
            "matrix."
        ),
        text("sections 5.1 and 5.2 together"),
        _null_directions,
        HOLDS_IF,
        "symmetry?method=layer&tab=coupling",
        condition=text("the Fisher matrix is the exact one, not Eq. 13"),
    ),
    Claim(
        "others_are_seen",
        text("The changes of weights that a method does not ignore are no null directions."),
        text("sections 5.1 and 5.2 together"),
        _others_are_seen,
        HOLDS,
        "symmetry?tab=angles",
    ),
    Claim(
        "null_dimensions",
        text(
            "The weights have no other null directions than the changes that Table 1 calls "
            "invariant."
        ),
        text("section 5.1, Table 1, and section 5.2.2"),
        _count,
        HOLDS_IF,
        "symmetry?tab=formula",
        condition=text("the outputs are independent; a softmax has a symmetry of its own"),
        remark=text(
            "Four neurons, five features: H for batch and weight norm, D + 1 for layer norm."
        ),
    ),
    Claim(
        "equation_13_singular",
        text("Eq. 13 has the null directions of layer norm's exact Fisher matrix."),
        text("section 5.2.2, Eq. 13"),
        _equation_13_is_singular,
        FAILS,
        "symmetry?method=layer&tab=coupling",
        remark=text("Among the weights it has none at all."),
    ),
)
