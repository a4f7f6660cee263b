"""Statements on the null directions of the Fisher information: sections 5.1 and 5.2."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.claims.claim import (
    FAILS,
    FOLLOWS,
    HOLDS_IF,
    Claim,
    Finding,
    Numbers,
    by_method,
    certify,
    numbers,
    plain,
)
from normgeo.claims.examples import PAPER, ROUNDING, Example
from normgeo.fisher.operator import Fisher, fisher
from normgeo.invariance.transforms import TRANSFORMS, Transform
from normgeo.models.glm import NormalizedGLM
from normgeo.null_directions.null_space import null_space

NEAR = 1e-6  # the share of a direction outside a span below which it counts as inside


def _null_directions(example: Example) -> Finding:
    """Measure vᵀFv along the tangents of the changes that layer norm ignores, exact and Eq. 13."""
    X, model = example.X, example.model("layer", "gaussian")
    exact, paper = fisher(model, X), fisher(model, X, coupling="paper")
    tangents = _tangents(example, model, X, invariant=True)
    seen, by_paper = (float(_shares_seen(F, tangents).max()) for F in (exact, paper))
    return Finding(
        max(seen, by_paper) < ROUNDING,
        seen < ROUNDING,
        numbers(
            text("largest share of F"), {text("the exact Fisher"): seen, text("Eq. 13"): by_paper}
        ),
    )


def _others_are_seen(example: Example) -> Finding:
    """Measure vᵀFv along the tangents of the changes of W that each method does not ignore."""
    X = example.X
    dependent, hidden = _with_a_dependent_feature(X)
    least: dict[str, Numbers] = {}
    smallest = {}
    for data, family, cases, gammas in (
        (text("independent outputs"), "gaussian", X, None),
        (text("a softmax"), "categorical", X, None),
        (text("dependent features"), "gaussian", dependent, hidden[None]),
    ):
        shares = {}
        for method in (*PAPER, "standard"):
            model = example.model(method, family, features=cases.shape[1])
            tangents = _tangents(example, model, cases, invariant=False, gammas=gammas)
            if tangents.shape[1]:  # layer norm ignores the shift along dependent features
                shares[method] = float(_shares_seen(fisher(model, cases), tangents).min())
        least[data] = by_method(text("smallest share of F, {data}", data=data), shares)
        smallest[data] = min(shares.values())
    generic, *_ = smallest.values()
    return Finding(
        min(smallest.values()) > ROUNDING,
        generic > ROUNDING,
        tuple(each for measured in least.values() for each in measured),
    )


def _with_a_dependent_feature(X: Array) -> tuple[Array, Array]:
    """Return X with a copy of its first feature, and a γ with Xγ = 0."""
    dependent = np.column_stack([X, X[:, 0]])
    hidden = np.zeros(dependent.shape[1])
    hidden[[0, -1]] = 1, -1
    return dependent, hidden


def _count(example: Example) -> Finding:
    """Compare the null dimensions of F among the weights with the span of the tangents.

    There is one neuron less than features, so that a softmax has its own null direction.
    """
    X, H = example.X, example.features - 1
    dependent, _ = _with_a_dependent_feature(X)
    spans, inside, counts = {}, {}, {}
    for method in PAPER:
        model = example.model(method, "gaussian", H)
        found = null_space(fisher(model, X))
        tangents = _tangents(example, model, X, invariant=True)
        spans[method] = int(np.linalg.matrix_rank(tangents))
        both = np.column_stack([tangents, found.basis])
        inside[method] = int(np.linalg.matrix_rank(both, tol=NEAR)) == found.dimension
        counts[method] = {
            text("null directions"): found.dimension,
            text("with a softmax"): _dimension(example.model(method, "categorical", H), X),
            text("with dependent features"): _dimension(
                example.model(method, "gaussian", H, dependent.shape[1]), dependent
            ),
        }
    equal = {
        case: [counts[method][case] == spans[method] for method in PAPER]
        for case in counts[PAPER[0]]
    }
    generic, *_ = equal.values()
    holds = all(generic) and all(inside.values())
    two_neurons = _dimension(example.model("layer", "gaussian", 2), X)
    return Finding(
        holds and all(map(all, equal.values())) and two_neurons == spans["layer"],
        holds,
        by_method(text("dimensions of the symmetries"), spans)
        + tuple(
            each
            for case in equal
            for each in by_method(case, {method: counts[method][case] for method in PAPER})
        )
        + by_method(text("with two neurons"), {"layer": two_neurons}),
    )


def _dimension(model: NormalizedGLM, X: Array) -> int:
    return null_space(fisher(model, X)).dimension


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


def _tangents(
    example: Example, model: NormalizedGLM, X: Array, invariant: bool, gammas: Array | None = None
) -> Array:
    """Return the tangents of the changes of W that z ignores, or does not, as columns of θ.

    Given shifts γ (n, D), return those of the common shifts only.
    """
    none = np.zeros(len(model.W))
    columns = [
        model.layout.pack(dW, none, None if model.g is None else none)
        for transform in TRANSFORMS.values()
        if transform.matrix == "W"
        and (gammas is None or transform.key == "weight_matrix_recentering")
        and certify(example, model.normalizer, transform).invariant == invariant
        for dW in _velocities(example, transform, model.W, X, gammas)
    ]
    return np.column_stack([np.zeros((model.layout.size, 0)), *columns])


def _velocities(
    example: Example, transform: Transform, W: Array, X: Array, gammas: Array | None
) -> list[Array]:
    """Return the tangents of a change of W, for each row it may change and, in shifts, each γ."""
    rows = range(len(W)) if transform.operation.one_row else [0]
    if transform.rescales:
        return [transform.tangent(W, X, index=row)[0] for row in rows]
    if gammas is None:
        shape = 2 * W.shape[1], *transform.gamma_shape(W, X)
        gammas = example.rng().standard_normal(shape)
    return [transform.tangent(W, X, gamma=g, index=row)[0] for row in rows for g in gammas]


def _shares_seen(F: Fisher, tangents: Array) -> Array:
    """Return vᵀFv of each unit tangent, as a share of the trace."""
    unit = tangents / np.linalg.norm(tangents, axis=0)
    shares: Array = np.diagonal(F.restrict(unit)) / F.trace()
    return shares


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
        kind=FOLLOWS,
    ),
    Claim(
        "others_are_seen",
        text("The changes of weights that a method does not ignore are not null directions."),
        text("sections 5.1 and 5.2 together"),
        _others_are_seen,
        HOLDS_IF,
        "symmetry?tab=angles",
        condition=text("the outputs are independent and the data has full rank"),
        remark=text(
            "A softmax hides a common shift of the weights even without normalization, and "
            "dependent features hide a shift γ with Xγ = 0."
        ),
        kind=FOLLOWS,
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
        condition=text(
            "the outputs are independent, the data has full rank, and a layer that is normalized "
            "together has three neurons or more"
        ),
        remark=text(
            "There are H for batch and weight norm, D + 1 for layer norm. A softmax and dependent "
            "features add directions of their own."
        ),
        kind=FOLLOWS,
    ),
    Claim(
        "equation_13_singular",
        text("Eq. 13 has the null directions of layer norm's exact Fisher matrix."),
        text("section 5.2.2, Eq. 13"),
        _equation_13_is_singular,
        FAILS,
        "symmetry?method=layer&tab=coupling",
        remark=text("Among the weights it has none at all."),
        kind=FOLLOWS,
    ),
)
