"""All layers of a checkpoint as one table: the weights and the norm of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.checkpoint import Proposal
from normgeo.checkpoints.loading import Told
from normgeo.checkpoints.place import freedoms
from normgeo.checkpoints.report import LayerReport
from normgeo.tables.layer import notes_on_names
from normgeo.tables.table import Table

COLUMNS = {
    "layer": text("layer"),
    "H": "H",
    "D": "D",
    "norm": text("norm"),
    "stands": text("stands"),
    "basis": text("taken from"),
    "scaled": text("W × δ"),
    "blocks": text("blocks"),
    "least_norm": text("least norm"),
    "median_norm": text("median norm"),
    "largest_norm": text("largest norm"),
    "effective_rate": text("median effective rate"),
    "angle": text("median degrees a step"),
    "frozen": text("share frozen"),
    "still": text("share of gain or gradient 0"),
    "over_balance": text("median norm over balance"),
    "missing": text("missing"),
}
"""The columns for each layer, by their names in records."""

TOLD = 5  # refusals that are told in sentences of their own

_OF_NUMBERS = len(COLUMNS) - 7  # columns that a layer without a report lacks


def layers_table(
    every: Iterable[Told], left_out: Mapping[str, str] = MappingProxyType({})
) -> Table:
    """Return a row for each layer: the spread over its blocks, and what is missing.

    Args:
        every: layers. left_out: why tensors form no layer, by their names.

    Raises:
        ValueError: none of them has a report.

    """
    rows, lacks, refusals, proposals = [], Counter[str](), [], []
    for proposal, report, refusal in every:
        proposals.append(proposal)
        head = (text("{name!s}", name=proposal.name), *_shape(proposal), *_norm_of(proposal))
        if report is None:
            refusals.append(refusal)
            rows.append((*head, *[None] * _OF_NUMBERS, refusal))
        else:
            lacks.update(report.missing)
            rows.append((*head, *_numbers(proposal, report), _lacking(report)))
    if refusals and len(refusals) == len(rows):
        raise Refusal(refusals[0])
    notes = [*notes_on_names(proposals, left_out)]
    notes += [
        text("{count} of {all} layers: {what}", count=count, all=len(rows), what=what)
        for what, count in lacks.items()
    ]
    notes += refusals[:TOLD]
    if more := len(refusals[TOLD:]):
        notes.append(text("{more} more layers are refused, as their rows say.", more=more))
    title = text("The layers, and their homogeneous blocks")
    return Table((*COLUMNS.values(),), tuple(rows), title, notes=(*notes,))


def layer_records(table: Table, names: Sequence[str]) -> Table:
    """Return the table of all layers for programs: the names of COLUMNS and of the files."""
    rows = tuple((name, *row[1:]) for name, row in zip(names, table.rows, strict=True))
    return Table((*COLUMNS,), rows, table.title)


def _shape(proposal: Proposal) -> tuple[int, int]:
    return proposal.arrangement.shape


def _norm_of(proposal: Proposal) -> tuple[str, str | None, str]:
    basis = proposal.basis
    if basis.is_unknown:
        return text("unknown"), None, basis.title
    if proposal.normalizer.is_standard:
        return text("none"), None, basis.title
    return proposal.normalizer.title, text(proposal.place.title), basis.title


def _numbers(proposal: Proposal, report: LayerReport) -> tuple[Any, ...]:
    scaled, *_ = freedoms(proposal.place, proposal.normalizer)
    found = text("ignored") if scaled.free else text("not ignored")
    if scaled.only_without_eps:
        found = text("ignored where ε is small")
    if proposal.basis.is_unknown:
        found = text("unknown")
    of_blocks = report.without_gradient
    without = False if of_blocks is None else of_blocks[report.block_of]
    low, middle, high = np.quantile(report.norms, (0, 0.5, 1))
    return (
        found,
        len(report.norms) if report.blocks.homogeneous else 0,
        float(low),
        float(middle),
        float(high),
        _median(report.effective_rates),
        _median(None if report.angles is None else np.degrees(report.angles)),
        None if report.frozen is None else float(report.frozen.mean()),
        float((report.off | without).mean()),
        _median(report.over_balance),
    )


def _lacking(report: LayerReport) -> str:
    """What the report on a layer lacks, in a few words; sentences stand beneath the table."""
    lacks = {
        text("η"): report.rate is None,
        text("gradients"): report.gradients is None,
        text("X"): report.epsilon is None and report.layer.normalizer.scaling.takes_eps,
    }
    return ", ".join(str(what) for what, missing in lacks.items() if missing)


def _median(values: Array | None) -> float | None:
    return None if values is None else float(np.nanmedian(values))
