"""The effect of ε in a layer, as a table: the neurons and cases that it reduces most."""

from __future__ import annotations

import numpy as np

from normgeo.base.arguments import whole_number
from normgeo.base.numbers import number
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.epsilon import MUCH, EpsilonPairs
from normgeo.checkpoints.report import LayerReport
from normgeo.tables.table import Table

COLUMNS = {
    "neuron": text("neuron"),
    "case": text("case"),
    "z": text("z"),
    "z_without_eps": text("z without ε"),
    "lost": text("ε takes off z"),
    "shorter": text("share of z"),
}
"""The columns for each pair of a neuron and a case, by their names in records."""


def epsilon_table(report: LayerReport, top: int | None = None) -> Table:
    """Return a row for each pair of a neuron and a case, most reduced by ε first.

    Args:
        report: of a layer with activations. top: how many pairs, None for all that are kept.

    Raises:
        ValueError: no such activations, or no pair asked for.

    """
    pairs, features = _pairs(report), report.layer.place.over_features
    if top is not None:
        top = whole_number("top", top, 1)
    without = pairs.z + np.sign(pairs.z) * pairs.lost
    columns = (pairs.neurons, pairs.cases, pairs.z, without, pairs.lost, pairs.shorter)
    rows = tuple(zip(*(column[:top].tolist() for column in columns), strict=True))
    notes = [of_pairs(pairs, features)]
    if len(rows) < pairs.size:
        notes.append(
            text(
                "The {shown:,} of {all:,} pairs of which ε takes most.",
                shown=len(rows),
                all=pairs.size,
            )
        )
    titles = COLUMNS | ({"neuron": text("feature")} if features else {})
    title = text("What ε takes off z in {name!s}", name=report.layer.title)
    return Table((*titles.values(),), rows, title, notes=(*notes,))


def epsilon_records(report: LayerReport) -> Table:
    """Return the kept pairs for programs, with the names of COLUMNS.

    Raises:
        ValueError: as `epsilon_table`.

    """
    table = epsilon_table(report)
    return Table((*COLUMNS,), table.rows, table.title, notes=table.notes)


def of_pairs(pairs: EpsilonPairs, features: bool) -> str:
    """The neuron and case that ε reduces most, and how many it reduces much, in a sentence.

    σ is the standard deviation of z without ε, which is 1.
    """
    return text(
        "ε takes at most {lost} σ off z ({what} {h}, case {n}); in {over:,} of {all:,} pairs it "
        "makes z over {much:g}% shorter.",
        lost=number(float(pairs.lost[0]), 2),
        what=text("feature") if features else text("neuron"),
        h=int(pairs.neurons[0]),
        n=int(pairs.cases[0]),
        over=pairs.over,
        all=pairs.size,
        much=100 * MUCH,
    )


def _pairs(report: LayerReport) -> EpsilonPairs:
    pairs = None if report.epsilon is None else report.epsilon.pairs
    if pairs is None:
        raise Refusal(
            "What ε takes in each case needs activations X, after a residual sum the stream "
            "as well, and a norm whose ε is not 0; {name!r} lacks some of it.",
            name=report.layer.title,
        )
    return pairs
