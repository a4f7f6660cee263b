"""Statements on Eq. 5 and on which entries share its two scalars: sections 1, 3, 4 and 5."""

from __future__ import annotations

import numpy as np

from normgeo.base.text import text
from normgeo.claims.claim import (
    FOLLOWS,
    HOLDS,
    HOLDS_IF,
    LATER,
    Claim,
    Finding,
    by_method,
    certify,
    number,
    numbers,
    plain,
)
from normgeo.claims.examples import PAPER, ROUNDING, Example, moved
from normgeo.invariance.transforms import TRANSFORMS, Transform
from normgeo.normalizers.named import GRID, NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer


def _equation_5(example: Example) -> Finding:
    """Compute μ and σ of each method by its definition, and z from them."""
    X, W = example.X, example.model("standard", "gaussian").W
    A = X @ W.T
    scalars = {
        "batch": (A.mean(axis=0), A.std(axis=0)),
        "weight": (0.0, np.linalg.norm(W, axis=1)),
        "layer": (A.mean(axis=1, keepdims=True), A.std(axis=1, keepdims=True)),
    }
    errors = {
        method: moved((A - mu) / sigma, NORMALIZERS[method].normalize(W, X).z)
        for method, (mu, sigma) in scalars.items()
    }
    return plain(max(errors.values()) < ROUNDING, by_method(text("error of z"), errors))


def _shared_by_neurons(example: Example) -> Finding:
    """Double one weight vector and compare the other neurons' z."""
    X, W, reached = example.X, example.model("standard", "gaussian").W, {}
    W1, _ = TRANSFORMS["weight_vector_rescaling"](W, X, delta=2.0, index=0)
    for method in PAPER:
        z, z1 = (NORMALIZERS[method].normalize(V, X).z[:, 1:] for V in (W, W1))
        reached[method] = moved(z, z1)
    own = max(reached["batch"], reached["weight"])
    measured = by_method(text("change of the other neurons' z"), reached)
    return plain(own < ROUNDING < reached["layer"], measured)


def _shared_by_cases(example: Example) -> Finding:
    """Double one case and compare the other cases' z."""
    X, W, reached = example.X, example.model("standard", "gaussian").W, {}
    _, X1 = TRANSFORMS["case_rescaling"](W, X, delta=2.0, index=0)
    for method in PAPER:
        z, z1 = (NORMALIZERS[method].normalize(W, cases).z[1:] for cases in (X, X1))
        reached[method] = moved(z, z1)
    own = max(reached["layer"], reached["weight"])
    measured = by_method(text("change of the other cases' z"), reached)
    return plain(own < ROUNDING < reached["batch"], measured)


def _transposed(example: Example) -> Finding:
    """Exchange W and X, and batch and layer: every verdict must follow, and z be transposed."""
    pairs = [
        (normalizer, normalizer.dual, transform)
        for normalizer in GRID.values()
        if normalizer.dual is not None
        for transform in TRANSFORMS.values()
    ]
    agree = sum(_follows(example, *pair) for pair in pairs)
    X = example.X
    W = example.rng().standard_normal((6, X.shape[1]))
    z = NORMALIZERS["layer"].normalize(W, X).z
    difference = moved(z, NORMALIZERS["batch"].normalize(X, W).z.T)
    return plain(
        agree == len(pairs) and difference < ROUNDING,
        number(text("verdicts compared"), len(pairs))
        + number(text("verdicts that follow"), agree)
        + number(text("difference of z from the transposed z"), difference),
    )


def _follows(
    example: Example, normalizer: Normalizer, dual: Normalizer, transform: Transform
) -> bool:
    here, there = certify(example, normalizer, transform), certify(example, dual, transform.dual)
    return here.invariant == there.invariant and here.sign_flip == there.sign_flip


def _two_words(example: Example) -> Finding:
    """Check for every cell of the design space whether its center or its scale alone decides it."""
    shifts, factors, apart = [], [], []
    for (center, scale), normalizer in GRID.items():
        for transform in TRANSFORMS.values():
            invariant = certify(example, normalizer, transform).invariant
            if transform.rescales:
                alone = invariant == certify(example, GRID["none", scale], transform).invariant
                factors.append(alone)
                apart.append(alone or _averages_over_the_row(normalizer, transform))
            else:
                shifts.append(
                    invariant == certify(example, GRID[center, "none"], transform).invariant
                )
    return Finding(
        all(shifts) and all(factors),
        all(shifts) and all(apart),
        numbers(
            text("re-centerings"),
            {text("all"): len(shifts), text("decided by the center"): sum(shifts)},
        )
        + numbers(
            text("re-scalings"),
            {text("all"): len(factors), text("decided by the scale"): sum(factors)},
        ),
    )


def _averages_over_the_row(normalizer: Normalizer, transform: Transform) -> bool:
    center = normalizer.centering
    shared = center.shared_by_neurons if transform.matrix == "W" else center.shared_by_cases
    return transform.operation.one_row and shared


def _another_parametrization(example: Example) -> Finding:
    """Fit s by an affine function of x, the only kind that a standard model computes."""
    X, left = example.X, {}
    rows = np.column_stack([X, np.ones(len(X))])
    for method in PAPER:
        s = example.model(method, "gaussian").natural_parameter(X)
        left[method] = moved(s, rows @ np.linalg.lstsq(rows, s, rcond=None)[0])
    affine = max(left["batch"], left["weight"])
    measured = by_method(text("what no affine function of x fits"), left)
    return plain(affine < ROUNDING < left["layer"], measured)


def _rms(example: Example) -> Finding:
    """Compare the verdicts of layer norm with and without its center, signs included."""
    layer, rms = NORMALIZERS["layer"], NORMALIZERS["rms"]
    kept, lost = {}, {}
    for transform in TRANSFORMS.values():
        with_center, without = (certify(example, method, transform) for method in (layer, rms))
        if with_center.invariant and transform.rescales:
            kept[transform.label] = without.invariant and without.sign_flip == with_center.sign_flip
        elif with_center.invariant:
            lost[transform.label] = not without.invariant
    return plain(
        bool(kept and lost) and all(kept.values()) and all(lost.values()),
        numbers(text("kept"), kept) + numbers(text("lost"), lost),
    )


CLAIMS = (
    Claim(
        "equation_5",
        text(
            "Batch, weight and layer norm are one formula, g (a − μ)/σ + b; what differs is what μ "
            "and σ are taken over."
        ),
        text("section 5.1, Eq. 5"),
        _equation_5,
        HOLDS,
        "home",
        remark=text(
            "μ and σ by the definition of each method, against the code that all pages run."
        ),
    ),
    Claim(
        "shared_by_neurons",
        text(
            "Layer norm's μ and σ are shared by the neurons of a layer; those of batch and weight "
            "norm are each neuron's own."
        ),
        text("sections 2 and 3, Eq. 2 and 3"),
        _shared_by_neurons,
        HOLDS,
        "invariance?cell=layer.weight_vector_rescaling",
        remark=text("One weight vector is doubled: only under layer norm do other neurons notice."),
    ),
    Claim(
        "shared_by_cases",
        text("Layer norm gives each case its own μ and σ; in batch norm, cases share them."),
        text("sections 1 to 3, Eq. 2 and 3"),
        _shared_by_cases,
        HOLDS,
        "batch",
        remark=text("One case is doubled: only under batch norm do other cases notice."),
    ),
    Claim(
        "transposed",
        text("Layer norm is batch norm transposed."),
        text("abstract"),
        _transposed,
        HOLDS,
        "invariance",
        remark=text("Exactly: exchange W and X, cases and neurons, and z is transposed."),
    ),
    Claim(
        "two_words",
        text(
            "What μ averages over decides each re-centering; what σ averages over, each re-scaling."
        ),
        text("the design space of Eq. 5"),
        _two_words,
        HOLDS_IF,
        "invariance?rows=grid&columns=all",
        condition=text("μ does not average over the rows of which one is re-scaled"),
        kind=FOLLOWS,
    ),
    Claim(
        "rms",
        text(
            "Without its center, as RMS norm, layer norm keeps its re-scalings and loses its "
            "re-centering."
        ),
        text("Zhang and Sennrich 2019"),
        _rms,
        HOLDS,
        "invariance?rows=named&cell=rms.weight_matrix_recentering",
        kind=LATER,
    ),
    Claim(
        "another_parametrization",
        text(
            "Batch norm, with the statistics of all data, and weight norm are other "
            "parametrizations of a standard model; layer norm is not."
        ),
        text("section 4"),
        _another_parametrization,
        HOLDS,
        remark=text("Their s is an affine function of x, and layer norm's is not."),
    ),
)
