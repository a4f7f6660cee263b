"""The spectrum and the null space of a Fisher information, for people and for programs."""

from __future__ import annotations

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.fisher.spectrum import Spectrum
from normgeo.fisher.which import WhichFisher
from normgeo.null_directions.explanation import Explanation
from normgeo.null_directions.null_space import NullSpace
from normgeo.tables.table import Table

UNDECIDED = text("cannot be decided in float64")
NOT_EXPLAINED = text("not explained: reasons are found of cases in memory")


def spectrum_table(found: Spectrum, what: str, about: str) -> Table:
    """Return the eigenvalues as a table for people; `what` is F or F_WW, `about` the model."""
    how = text("computed densely")
    if found.products:
        how = text("by Lanczos, {products} products with F", products=found.products)
    return Table(
        (text("rank"), text("eigenvalue"), text("share of the trace")),
        tuple((i, float(v), s) for i, (v, s) in _ranked(found)),
        text(
            "Largest {k} of {all} eigenvalues of {what}: {about}",
            k=len(found.values),
            all=found.size,
            what=what,
            about=about,
        ),
        notes=(
            text("F: {which}.", which=found.which),
            *_meaning(found.which),
            text(
                "Together {share:.1%} of the trace {trace}; {how}.",
                share=found.share,
                trace=number(found.trace, 4),
                how=how,
            ),
            *found.notes,
        ),
    )


def null_table(
    null: NullSpace, explanation: Explanation | None, what: str, formula: int | None
) -> Table:
    """Return null directions and their explanations as a table for people, with notes below.

    `formula` is their number for generic weights and cases, None if unknown.
    """
    credited = []
    rows: list[tuple[str, int]] = [(NOT_EXPLAINED, null.dimension)] if null.dimension else []
    if explanation is not None:
        credited = [reason for reason in explanation.reasons if reason.added]
        rows = [(reason.title, reason.added) for reason in credited]
        if explanation.unexplained:
            rows.append((text("no known reason"), explanation.unexplained))
    if null.undecided:
        rows.append((UNDECIDED, null.undecided))
    notes = (
        []
        if formula is None
        else [text("By formula, for generic weights and many generic cases: {k}.", k=formula)]
    )
    notes.append(
        text(
            "Null: a singular value of the change of the outputs, in units in which no column is "
            "longer than 1, up to {rounding}; not null: above {tolerance}.",
            rounding=number(null.rounding, 2),
            tolerance=number(null.tolerance, 2),
        )
    )
    notes += [
        text("{reason}: {sentence}", reason=reason.title, sentence=reason.sentence)
        for reason in credited
    ]
    return Table(
        (text("explained by"), text("null directions")),
        tuple(rows) or ((text("nothing to explain"), 0),),
        text(
            "Null directions of {what}: {k} of {all}{undecided}",
            what=what,
            k=null.dimension,
            all=null.singular_values.size,
            undecided=""
            if null.clear
            else text(", {count} cannot be decided in float64", count=null.undecided),
        ),
        notes=(*notes, *null.notes),
    )


def fisher_records(
    found: Spectrum, null: NullSpace | None, explanation: Explanation | None, what: str
) -> Table:
    """Return a record for each eigenvalue and each reason, for programs, with all digits."""
    of = found.which
    which = (what, str(of.kind), of.coupling, of.N, of.phi)
    rows: list[tuple[object, ...]] = [
        ("eigenvalue", i, float(value), share, "", None, None, "", *which)
        for i, (value, share) in _ranked(found)
    ]
    if null is not None:
        reasons: list[tuple[object, ...]] = [(NOT_EXPLAINED, null.dimension, None, "")]
        if explanation is not None:
            reasons = [(r.title, r.added, None, r.sentence) for r in explanation.reasons]
            reasons.append((text("no known reason"), explanation.unexplained, None, ""))
        rows += [
            ("null_directions", i, None, None, *reason, *which)
            for i, reason in enumerate(reasons, start=1)
        ]
        left = (UNDECIDED, None, null.undecided, "")
        rows.append(("undecided_directions", 1, None, None, *left, *which))
    columns = (
        "kind",
        "index",
        "eigenvalue",
        "share_of_trace",
        "reason",
        "null_directions",
        "undecided_directions",
        "meaning",
        "of",
        "fisher",
        "coupling",
        "cases",
        "phi",
    )
    return Table(columns, tuple(rows))


def _meaning(which: WhichFisher) -> tuple[str, ...]:
    """The meaning of ½ δᵀFδ; none for Eq. 13, which ignores that neurons may share a statistic."""
    if which.coupling != "exact":
        return ()
    return (text("½ δᵀFδ is the KL of a small step δ, in nats per case."),)


def _ranked(found: Spectrum) -> list[tuple[int, tuple[float, float]]]:
    whole = found.trace or 1.0
    return list(enumerate(((float(v), float(v) / whole) for v in found.values), start=1))
