"""The tables of verdicts, Table 1 among them.

People read `verdict_table`: a row for a method, a column for a change, a symbol in each cell.
Programs read `verdict_records`: a record for a cell, with all the evidence for its verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import ceil, log10

from normgeo.base.numbers import RAISED, number
from normgeo.base.text import text
from normgeo.invariance.certificate import Verdict, invariance_table
from normgeo.invariance.transforms import TABLE_1, TRANSFORMS, Transform
from normgeo.normalizers.named import GRID, NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.tables.table import Table

ROWS: dict[str, Mapping[str, Normalizer]] = {
    "paper": {key: NORMALIZERS[key] for key in ("batch", "weight", "layer")},
    "named": NORMALIZERS,
    "grid": {"-".join(words): normalizer for words, normalizer in GRID.items()},
}
COLUMNS: dict[str, Mapping[str, Transform]] = {
    "paper": {key: TRANSFORMS[key] for key in TABLE_1},
    "all": TRANSFORMS,
}
SIGNS = {
    "✓": text("invariant"),
    "±": text("sign flip, δ < 0"),
    "≈": text("invariant only at ε = 0"),
    "✗": text("not invariant"),
}
"""The meaning of each sign of a table."""


def legend(signs: Iterable[str] = SIGNS) -> str:
    """The meaning of the signs, in a line.

    >>> legend("✗✓")
    '✓ invariant · ✗ not invariant'

    """
    found = set(signs)
    return " · ".join(f"{sign} {word}" for sign, word in SIGNS.items() if sign in found)


def sign_and_word(verdict: Verdict, negative: bool = False) -> tuple[str, str]:
    """The sign of a verdict and its meaning, for δ < 0 if `negative`."""
    sign = "±" if negative and verdict.sign_flip else verdict.symbol
    return sign, SIGNS[sign]


def verdict_table(
    normalizers: Mapping[str, Normalizer] = ROWS["paper"],
    transforms: Mapping[str, Transform] = COLUMNS["paper"],
    eps: float | Fraction | None = None,
    negative: bool = False,
    seed: int = 0,
) -> Table:
    """Return a symbol for each method (row) and change (column): Table 1 by default.

    Args:
        normalizers, transforms: by name, as in `ROWS` and `COLUMNS`.
        eps: the ε in use; None for each normalizer's own.
        negative: re-scale by δ < 0 instead of δ > 0. seed: of the draw of each cell.

    """
    verdicts = invariance_table(normalizers, transforms, eps, seed)
    rows = [
        (
            normalizer.title,
            *(sign_and_word(verdicts[row, column], negative)[0] for column in transforms),
        )
        for row, normalizer in normalizers.items()
    ]
    shown = {sign for row in rows for sign in row[1:]}
    return Table(
        ("", *(transform.operation.symbol for transform in transforms.values())),
        tuple(rows),
        text("What leaves z = (a − μ)/σ unchanged, at {eps}", eps=_eps_in_use(verdicts.values())),
        ("", *(text("change {M}", M=transform.matrix) for transform in transforms.values())),
        (
            legend(shown),
            text(
                "The rows of W are weight vectors, those of X are cases; × multiplies them by "
                "{delta}, + adds the same γ, own + a number of its own to each.",
                delta="δ < 0" if negative else "δ > 0",
            ),
            _rest(verdicts.values()),
        ),
    )


def verdict_records(
    normalizers: Mapping[str, Normalizer] = ROWS["paper"],
    transforms: Mapping[str, Transform] = COLUMNS["paper"],
    eps: float | Fraction | None = None,
    seed: int = 0,
) -> Table:
    """Return a row for each cell of `verdict_table`, with the evidence for its verdict."""
    return Table(
        (
            "normalizer",
            "title",
            "center",
            "scale",
            "groups",
            "eps",
            "transform",
            "label",
            "matrix",
            "operation",
            "verdict",
            "invariant",
            "sign_flip",
            "only_without_eps",
            "error_bound",
            "degree",
            "draws",
            "seed",
            "N",
            "H",
            "D",
        ),
        tuple(
            (
                row,
                v.normalizer.title,
                *v.normalizer.words,
                v.normalizer.groups,
                float(v.normalizer.eps),
                column,
                v.transform.label,
                v.transform.matrix,
                v.transform.operation.key,
                v.word,
                v.invariant,
                v.sign_flip,
                v.only_without_eps,
                v.error_bound,
                v.degree,
                v.draws,
                v.seed,
                *v.shape,
            )
            for (row, column), v in invariance_table(normalizers, transforms, eps, seed).items()
        ),
        text("Verdicts on z, a record for each method and change"),
    )


def _rest(verdicts: Iterable[Verdict]) -> str:
    """The evidence for the signs."""
    one = max(verdicts, key=lambda verdict: verdict.error_bound)
    return text(
        "✗ is proved by a counterexample in exact arithmetic. ✓, and ≈ at ε = 0, is checked there "
        "at random integers, seed {seed}: a false one passes with a probability below {bound}.",
        seed=one.seed,
        bound=power_above(one.error_bound),
    )


def power_above(probability: float) -> str:
    """The power of ten just above a probability, as "10⁻¹⁷"."""
    return "10" + str(ceil(log10(probability))).translate(RAISED) if probability else "0"


def _eps_in_use(verdicts: Iterable[Verdict]) -> str:
    values = sorted({float(verdict.normalizer.eps) for verdict in verdicts})
    return "ε = " + ", ".join(number(eps) for eps in values)
