"""Statements on where invariance begins and ends in use: ε, frozen statistics, two neurons."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from normgeo.base.text import text
from normgeo.claims.claim import (
    HOLDS,
    HOLDS_IF,
    Claim,
    Finding,
    Numbers,
    certify,
    number,
    numbers,
    plain,
)
from normgeo.claims.examples import PAPER, ROUNDING, Example, moved, with_weights
from normgeo.claims.table_1 import PAPER_TABLE_1
from normgeo.fisher.operator import fisher
from normgeo.invariance.certificate import Verdict
from normgeo.invariance.transforms import TABLE_1, TRANSFORMS
from normgeo.normalizers.named import NORMALIZERS


def _epsilon(example: Example) -> Finding:
    """Ask every ✓ of Table 1 again at PyTorch's ε."""
    kept = [v for method in PAPER for v in _row(example, method) if v.invariant]
    survive = sum(
        certify(example, v.normalizer, v.transform, eps=Fraction(1, 10**5)).invariant for v in kept
    )
    return Finding(
        survive == len(kept),
        len(kept) == sum(sum(cells.values()) for cells in PAPER_TABLE_1.values()),
        _invariances({"ε = 0": len(kept), "ε = 1e-5": survive}),
    )


def _frozen(example: Example) -> Finding:
    frozen = replace(NORMALIZERS["batch"], statistics="frozen")
    left = sum(certify(example, frozen, TRANSFORMS[c]).invariant for c in TABLE_1)
    current = sum(verdict.invariant for verdict in _row(example, "batch"))
    return Finding(
        left == current,
        current == sum(PAPER_TABLE_1["batch"].values()),
        _invariances({"in training": current, "at test": left}),
    )


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
    """Normalize a layer of two neurons."""
    X = example.X
    z = NORMALIZERS["layer"].normalize(example.model("layer", "gaussian", neurons=2).W, X).z
    off = float(np.abs(np.abs(z) - 1).max())
    return plain(off < ROUNDING, number(text("largest distance of |z| from 1"), off))


def _two_neurons_are_blind(example: Example) -> Finding:
    """Measure the Fisher among the weights of a layer of two neurons."""
    X = example.X
    model = example.model("layer", "gaussian", neurons=2)
    share = float(np.abs(fisher(model, X).weights()).max())
    return plain(share < ROUNDING, number(text("largest entry of F among the weights"), share))


CLAIMS = (
    Claim(
        "epsilon",
        text("The invariances of Table 1 hold in the layers in use, which add ε to the variance."),
        text("practice"),
        _epsilon,
        HOLDS_IF,
        "invariance?eps=1e-05",
        condition=text("ε = 0, or σ² ≫ ε before and after"),
        remark=text("Left at ε = 1e-5: the re-centerings, and weight norm's, which has no ε."),
    ),
    Claim(
        "frozen",
        text("A trained batch norm keeps its invariances at test time."),
        text("practice"),
        _frozen,
        HOLDS_IF,
        "invariance?statistics=frozen",
        condition=text("it still takes its statistics from the current batch"),
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
        remark=text("Even without normalization: z moves and the probabilities do not."),
    ),
    Claim(
        "two_neurons",
        text("In a layer of two neurons, layer norm leaves only a sign of each summed input."),
        text("practice"),
        _two_neurons,
        HOLDS,
        "invariance?neurons=2",
    ),
    Claim(
        "two_neurons_blind",
        text("With two neurons, layer norm's Fisher matrix does not see the weights at all."),
        text("practice"),
        _two_neurons_are_blind,
        HOLDS,
        "symmetry?method=layer&neurons=2",
        remark=text("z is only a sign, +1 and −1, which no small change of the weights moves."),
    ),
)
