"""The layers of a network as tables: the roles of tensors, and the numbers of each neuron."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import degrees
from types import MappingProxyType

import numpy as np

from normgeo.base.arguments import whole_number, word_of
from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.checkpoints.basis import NAMES, UNKNOWN
from normgeo.checkpoints.checkpoint import Checkpoint, Proposal
from normgeo.checkpoints.modules import ROLES
from normgeo.checkpoints.report import LARGEST, LayerReport
from normgeo.tables.epsilon import of_pairs
from normgeo.tables.table import Table

COLUMNS = {
    "neuron": text("neuron"),
    "block": text("block"),
    "norm": text("norm of the row"),
    "block_norm": text("norm of the block"),
    "gain": text("gain"),
    "gain_share": text("share of the gain"),
    "effective_rate": text("effective rate"),
    "angle": text("degrees a step"),
    "frozen": text("frozen"),
    "off": text("gain 0"),
    "no_gradient": text("gradient 0"),
    "over_balance": text("norm over balance"),
    "shorter_by_eps": text("ε shortens z by"),
}
"""The columns for each neuron, by the words that sort a report and name its records."""

STILL = ("off", "no_gradient")
"""Columns that are shown only if they are true of a neuron, which is rare."""


NAMED = 4
"""The names of the tensors that are left out, by reason."""


def roles_table(checkpoint: Checkpoint) -> Table:
    """Return the role of each tensor, found or corrected."""
    rows = tuple(
        (
            _outside(tensor.name),
            " × ".join(map(str, tensor.shape)),
            tensor.kind,
            text(ROLES[checkpoint.roles[tensor.name]]),
        )
        for tensor in checkpoint.tensors
    )
    columns = text("tensor"), text("shape"), text("type"), text("taken for")
    return Table(columns, rows, text("Tensors, and what each is taken for"))


def proposals_table(
    proposals: Sequence[Proposal], left_out: Mapping[str, str] = MappingProxyType({})
) -> Table:
    """Return the layers with their norms and the norms' places, and the tensors without a layer."""
    rows = tuple(
        (
            _outside(one.name),
            *one.arrangement.shape,
            _norm(one),
            text("unknown") if one.basis.is_unknown else text(one.place.title),
            ", ".join(one.places),
            one.basis.title,
            one.why,
        )
        for one in proposals
    )
    columns = (
        text("layer"),
        "H",
        "D",
        text("norm"),
        text("stands"),
        text("may stand"),
        text("taken from"),
        text("because"),
    )
    title = text("Layers with their norms, as their names propose them")
    return Table(columns, rows, title, notes=notes_on_names(proposals, left_out))


IN_DOUBT = {
    NAMES: text("{count} of {all} norms are guessed from names."),
    UNKNOWN: text("Names do not tell the norm of {count} of {all} layers."),
}


def notes_on_names(proposals: Sequence[Proposal], left_out: Mapping[str, str]) -> tuple[str, ...]:
    """Return sentences on guessed or unknown norms, and on tensors without a layer."""
    counts = Counter(one.basis.key for one in proposals)
    told = [
        text(words, count=counts[basis], all=len(proposals))
        for basis, words in IN_DOUBT.items()
        if counts[basis]
    ]
    said = []
    if told:
        doubts = " ".join(map(str, told))
        said.append(text("{doubts} State norm and place where you know them.", doubts=doubts))
    reasons: dict[str, list[str]] = {}
    for name, why in left_out.items():
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        shown = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
        said.append(
            text("Left out, {count}: {why} ({names!s}).", count=len(names), why=why, names=shown)
        )
    return tuple(said)


def _norm(one: Proposal) -> str:
    if one.basis.is_unknown:
        return text("unknown")
    if one.normalizer.is_standard:
        return text("none")
    path = one.norm.path if one.norm else ""
    return f"{one.normalizer.title} {_outside(path)}".strip()


def _outside(name: str) -> str:
    """A name from a file, which is never read as markup."""
    return text("{name!s}", name=name)


def values(report: LayerReport) -> dict[str, list[object]]:
    """Return the values for each neuron, by the words of COLUMNS; None for unknown columns."""
    of = report.block_of
    H = len(of)
    nothing: list[object] = [None] * H

    def spread(of_blocks: Array | None) -> list[object]:
        return nothing if of_blocks is None else of_blocks[of].tolist()

    epsilon = report.epsilon.of_neurons if report.epsilon is not None else None
    if epsilon is not None and len(epsilon) != H:
        epsilon = None  # of features
    return {
        "neuron": list(range(H)),
        "block": of.tolist(),
        "norm": report.row_norms.tolist(),
        "block_norm": spread(report.norms),
        "gain": report.gains.tolist(),
        "gain_share": report.gain_shares.tolist(),
        "effective_rate": spread(report.effective_rates),
        "angle": spread(None if report.angles is None else np.degrees(report.angles)),
        "frozen": spread(report.frozen),
        "off": report.off.tolist(),
        "no_gradient": spread(report.without_gradient),
        "over_balance": spread(report.over_balance),
        "shorter_by_eps": nothing if epsilon is None else epsilon.tolist(),
    }


def order(report: LayerReport, by: str) -> list[int]:
    """Return the neurons sorted by a word of COLUMNS: largest first, unknown values last.

    Raises:
        ValueError: an unknown word.

    """
    column = values(report)[word_of("sort", by, COLUMNS)]
    if by in {"neuron", "block"}:
        return list(range(len(column)))

    def key(neuron: int) -> tuple[bool, float]:
        value = column[neuron]
        return (value is None, -float(value) if isinstance(value, int | float) else 0.0)

    return sorted(range(len(column)), key=key)


def neurons_table(report: LayerReport, sort: str = "neuron", top: int | None = None) -> Table:
    """Return a row for each neuron, sorted, without unknown columns.

    Raises:
        ValueError: an unknown word, or no neuron asked for.

    """
    told, rows = values(report), order(report, sort)
    if top is not None:
        top = whole_number("top", top, 1)
    known = {
        key: column
        for key, column in told.items()
        if any(value is not None for value in column)
        and (key not in STILL or any(column))
        and (key not in {"block", "block_norm"} or len(report.norms) < len(report.row_norms))
    }
    shown = rows if top is None else rows[:top]
    return Table(
        tuple(COLUMNS[key] for key in known),
        tuple(tuple(column[row] for column in known.values()) for row in shown),
        text(
            "{name!s}: H = {H}, D = {D}",
            name=report.layer.title,
            H=len(report.layer.W),
            D=int(report.layer.sizes[0]),
        ),
        notes=tuple(sentences(report))
        + (
            ()
            if len(shown) == len(rows)
            else (
                text(
                    "The first {top} of {all} neurons, by {word}.",
                    top=top,
                    all=len(rows),
                    word=COLUMNS[sort],
                ),
            )
        ),
    )


def records_table(report: LayerReport, sort: str = "neuron") -> Table:
    """Return a record for each neuron of a layer, for programs, with all digits."""
    told = values(report)
    rows = tuple(
        (report.layer.title, *(told[key][row] for key in COLUMNS)) for row in order(report, sort)
    )
    return Table(("layer", *COLUMNS), rows)


def sentences(report: LayerReport) -> list[str]:
    """Return notes on a layer: its norm, its optimizer, ε, F, and missing files."""
    layer, said = report.layer, [report.standing]
    if layer.why and not layer.basis.is_unknown:
        said.append(
            text("Norm and place, guessed from names: {why}.", why=layer.why)
            if layer.basis.key == NAMES
            else text("Norm and place: {why}.", why=layer.why)
        )
    said += layer.notes
    if report.rate is not None:
        said.append(
            text(
                "{rule}, η = {rate}, λ = {decay}.",
                rule=report.optimizer.title,
                rate=number(report.rate),
                decay=number(report.decay),
            )
        )
    if report.gradients is not None:
        said.append(text("Lengths of gradients: {source}.", source=report.gradients.source))
    said += _of_standing_still(report)
    if report.balance is not None:
        low, high = (number(float(norm)) for norm in np.nanquantile(report.balance.norm, (0, 1)))
        norms = text("the norm {low}", low=low) if low == high else None
        said.append(
            text(
                "Growth and decay balance at {norms}, where a step turns by {angle}°.",
                norms=norms or text("norms from {low} to {high}", low=low, high=high),
                angle=number(degrees(float(np.nanmedian(report.balance.angle)))),
            )
        )
    said += _of_epsilon(report)
    if report.spectrum is not None:
        first, trace = report.spectrum.values[:LARGEST], report.spectrum.trace
        said.append(
            text(
                "F_WW: the largest of {all} eigenvalues is {value}, the {k} largest make "
                "{share:.1%} of the trace.",
                all=report.spectrum.size,
                value=number(float(first[0])),
                k=len(first),
                share=float(first.sum()) / trace if trace else 0.0,
            )
        )
    if report.explanation is not None:
        credited = [reason for reason in report.explanation.reasons if reason.added]
        said.append(
            text(
                "Null directions of F_WW: {counts} of {all}{reasons}.",
                counts=report.explanation.null.counts,
                all=len(report.explanation.null.singular_values),
                reasons="".join(
                    text("; {title}: {added}", title=reason.title, added=reason.added)
                    for reason in credited
                ),
            )
        )
    return [*said, *report.missing]


def _of_standing_still(report: LayerReport) -> list[str]:
    """How many neurons have no effect, how many blocks no gradient, and how many are only long."""
    H, off = len(report.off), int(report.off.sum())
    if off == H:
        return [
            text(
                "All {H} gains are 0, as where a residual block is started at 0: W has no effect "
                "on the outputs and gets no gradient.",
                H=H,
            )
        ]
    said = []
    if off:
        said.append(
            text(
                "{count} of {H} neurons have a gain of 0: their weights have no effect.",
                count=off,
                H=H,
            )
        )
    if report.without_gradient is not None and (count := int(report.without_gradient.sum())):
        said.append(
            text(
                "{count} of {all} blocks have a gradient of exactly 0, though their gain is not.",
                count=count,
                all=len(report.without_gradient),
            )
        )
    if report.frozen is not None:
        said.append(
            text(
                "{count} of {all} blocks are expected to turn less than {angle}° a step."
                if len(report.frozen) > 1
                else "{count} of {all} block is expected to turn less than {angle}° a step.",
                count=int(report.frozen.sum()),
                all=len(report.frozen),
                angle=number(report.frozen_below),
            )
        )
    return said


def _of_epsilon(report: LayerReport) -> list[str]:
    if report.epsilon is None:
        return []
    said = []
    for what, short in (
        (text("neurons or features"), report.epsilon.of_neurons),
        (text("cases"), report.epsilon.of_cases),
    ):
        if short is not None:
            said.append(
                text(
                    "By {source}, ε shortens z by more than 1% in {count} of {all} {what}, by "
                    "{most}% at most.",
                    count=int((short > 0.01).sum()),
                    all=len(short),
                    what=what,
                    most=number(100 * float(short.max()), 3),
                    source=report.epsilon.source,
                )
            )
    if report.epsilon.pairs is not None:
        said.append(of_pairs(report.epsilon.pairs, report.layer.place.over_features))
    return said
