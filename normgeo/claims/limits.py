"""Statements on the limits of invariance in practice: ε, frozen statistics, two neurons."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from normgeo.base.text import text
from normgeo.claims.claim import (
    FAILS,
    FOLLOWS,
    HOLDS,
    HOLDS_IF,
    PRACTICE,
    Claim,
    Finding,
    Numbers,
    certify,
    numbers,
    plain,
)
from normgeo.claims.examples import (
    PAPER,
    ROUNDING,
    Example,
    moved,
    softened,
    with_eps,
    with_weights,
)
from normgeo.claims.table_1 import PAPER_TABLE_1
from normgeo.fisher.operator import fisher
from normgeo.invariance.certificate import Verdict
from normgeo.invariance.transforms import TABLE_1, TRANSFORMS
from normgeo.normalizers.named import NORMALIZERS

EPS = "0.00001"  # PyTorch's


def _epsilon(example: Example) -> Finding:
    """Check every ✓ of Table 1 at PyTorch's ε, exactly and on data with large and small σ."""
    kept = [v for method in PAPER for v in _row(example, method) if v.invariant]
    survive = sum(
        certify(example, v.normalizer, v.transform, eps=Fraction(EPS)).invariant for v in kept
    )
    large, small = (
        max(_change(example, v, size) for v in kept if v.transform.rescales) for size in (1, 1e-3)
    )
    return Finding(
        survive == len(kept),
        len(kept) == sum(sum(cells.values()) for cells in PAPER_TABLE_1.values())
        and large < 1e-3
        and small > 0.1,
        _invariances({"ε = 0": len(kept), "ε = 1e-5": survive})
        + numbers(
            text("largest change of z by a factor of 2 at ε = 1e-5"),
            {text("data as they are"): large, text("data × 0.001"): small},
        ),
    )


def _change(example: Example, verdict: Verdict, size: float) -> float:
    """Return the change of z by a factor of 2 at PyTorch's ε, for inputs of a given size."""
    normalizer = with_eps(verdict.normalizer, float(Fraction(EPS)))
    X = size * example.X
    W = example.model("layer", "gaussian").W
    W1, X1 = verdict.transform(W, X, delta=2.0)
    return moved(normalizer.normalize(W, X).z, normalizer.normalize(W1, X1).z)


def _frozen(example: Example) -> Finding:
    """Count the invariances of batch norm with frozen statistics."""
    frozen = replace(NORMALIZERS["batch"], statistics="frozen")
    left = sum(certify(example, frozen, TRANSFORMS[c]).invariant for c in TABLE_1)
    current = sum(verdict.invariant for verdict in _row(example, "batch"))
    return plain(left == current, _invariances({"in training": current, "at test": left}))


def _row(example: Example, method: str) -> list[Verdict]:
    """Return a method's row of Table 1."""
    return [certify(example, NORMALIZERS[method], TRANSFORMS[change]) for change in TABLE_1]


def _invariances(counts: dict[str, int]) -> Numbers:
    return numbers(text("invariances of Table 1"), counts)


def _softmax(example: Example) -> Finding:
    """Shift all weight vectors of the standard softmax model by the same vector."""
    X, model = example.X, example.model("standard", "categorical")
    gamma = example.rng().standard_normal(X.shape[1])
    shifted = with_weights(model, model.W + gamma)
    z = moved(model.natural_parameter(X), shifted.natural_parameter(X))
    p = moved(model.mean(X), shifted.mean(X))
    return plain(
        p < ROUNDING < z,
        numbers(text("change"), {text("of z"): z, text("of the probabilities"): p}),
    )


def _two_neurons(example: Example) -> Finding:
    """Normalize a layer of two neurons, without ε and with one."""
    W, off = example.model("layer", "gaussian", neurons=2).W, {}
    for eps in (0.0, 0.1):
        z = with_eps(NORMALIZERS["layer"], eps).normalize(W, example.X).z
        off[f"ε = {eps:g}"] = float(np.abs(np.abs(z) - 1).max())
    return Finding(
        max(off.values()) < ROUNDING,
        off["ε = 0"] < ROUNDING,
        numbers(text("largest distance of |z| from 1"), off),
    )


def _two_neurons_are_blind(example: Example) -> Finding:
    """Compare the Fisher among the weights of two neurons with that of three, and with ε > 0."""
    two, three = (example.model("layer", "gaussian", neurons=H) for H in (2, 3))
    models = {
        text("two neurons"): two,
        text("three neurons"): three,
        text("two neurons, ε = 0.1"): softened(two, 0.1),
    }
    largest = {
        name: float(np.abs(fisher(model, example.X).weights()).max())
        for name, model in models.items()
    }
    blind, seen, soft = largest.values()
    return Finding(
        max(blind, soft) < ROUNDING * seen,
        blind < ROUNDING * seen,
        numbers(text("largest entry of F among the weights"), largest),
    )


CLAIMS = (
    Claim(
        "epsilon",
        text("The invariances of Table 1 hold in the layers in use, which add ε to the variance."),
        text("practice"),
        _epsilon,
        HOLDS_IF,
        "invariance?eps=1e-05",
        condition=text("ε = 0; it nearly holds where σ² ≫ ε before and after"),
        remark=text(
            "At ε = 1e-5 only the re-centerings remain, and the re-scalings of weight norm, "
            "which has no ε."
        ),
        kind=PRACTICE,
    ),
    Claim(
        "frozen",
        text("A trained batch norm keeps its invariances at test time."),
        text("practice"),
        _frozen,
        FAILS,
        "invariance?statistics=frozen",
        remark=text(
            "Its statistics are then constants, and none of its invariances remains. It has "
            "them in training, where μ and σ are those of the batch."
        ),
        kind=PRACTICE,
    ),
    Claim(
        "softmax",
        text(
            "A softmax model gives the same output if one vector is added to all its weight "
            "vectors."
        ),
        text("symmetry of the categorical family"),
        _softmax,
        HOLDS,
        "symmetry?method=standard&family=categorical",
        remark=text("This is so even without normalization: z moves and the probabilities do not."),
        kind=FOLLOWS,
    ),
    Claim(
        "two_neurons",
        text("In a layer of two neurons, layer norm leaves only a sign of each summed input."),
        text("practice"),
        _two_neurons,
        HOLDS_IF,
        "invariance?neurons=2",
        condition=text("ε = 0"),
        kind=PRACTICE,
    ),
    Claim(
        "two_neurons_blind",
        text("With two neurons, layer norm's Fisher matrix does not see the weights at all."),
        text("practice"),
        _two_neurons_are_blind,
        HOLDS_IF,
        "symmetry?method=layer&neurons=2",
        condition=text("ε = 0"),
        remark=text("z is only a sign, +1 or −1, which no small change of the weights can change."),
        kind=PRACTICE,
    ),
)
