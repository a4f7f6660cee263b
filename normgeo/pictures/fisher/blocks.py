"""The picture of the Fisher information by pairs of neurons: standard beside normalized."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from normgeo.base.text import text
from normgeo.fisher.neuron_blocks import NeuronBlocks
from normgeo.fisher.operator import Fisher, fisher
from normgeo.pictures.fisher.blocks_figure import Side, fisher_figure
from normgeo.pictures.fisher.pair import USES, about, pair, unusual, which_fisher
from normgeo.pictures.style.template import Figure, rounded
from normgeo.pictures.view import Progress, View
from normgeo.settings import Settings
from normgeo.tables.table import Table

STEP = 0.1
FAINT = 0.03  # of the largest block: no eye tells it from the paper


class FisherPicture(NamedTuple):
    """The Fisher information of two models, by pairs of neurons.

    Attributes:
        sides: the standard model first, alone where it was stopped. fishers: theirs.
        about: data, family, sizes. which: the Fisher information, and its scale.
        entries: what is shown at the start. notes: sentences for the reader.

    """

    sides: tuple[Side, ...]
    fishers: tuple[Fisher, ...]
    about: str
    which: str
    entries: str
    notes: tuple[str, ...]


def _fisher(settings: Settings, callback: Progress | None = None) -> FisherPicture:
    both = pair(settings)
    i, j = settings.neuron, settings.other
    sides: list[Side] = []
    fishers: list[Fisher] = []
    for it in both.scenes.values():
        F, method = fisher(it.model, it.X), it.model.normalizer
        fishers.append(F)
        sides.append(Side(method, unusual(method), F.layout, NeuronBlocks.of(F, i, j)))
        try:
            if callback is not None:
                callback(len(sides), len(both.scenes))
        except StopIteration:
            break
    saturated = dict.fromkeys(note for F in fishers for note in F.notes)
    notes = (*saturated, *_told(sides, fishers), *both.notes)
    blank = [side.normalizer.title for side in sides if not side.blocks.block.any()]
    if blank:
        words = text(
            "{methods}: neurons {i} and {j} share no curvature, so this block of F is 0.",
            methods=" and ".join(blank),
            i=i,
            j=j,
        )
        notes = (words, *notes)
    sizes = [float(side.blocks.norms.max()) for side in sides]
    if min(sizes) < FAINT * max(sizes):
        faint = sides[sizes.index(min(sizes))].normalizer.title
        notes = (
            text(
                "{method} is too faint to see on the scale that both share: choose log₁₀|F|.",
                method=faint,
            ),
            *notes,
        )
    return FisherPicture(
        tuple(sides),
        tuple(fishers),
        about(both.normalized),
        which_fisher(fishers[-1]),
        settings.entries,
        notes,
    )


def _told(sides: Sequence[Side], fishers: Sequence[Fisher]) -> list[str]:
    """Return what Eq. 10 says of a short step in a direction at random, with today's numbers."""
    costs = [
        text(
            "½ · {step:g}² · {trace}/{P} = {nats:.2g} nats ({method})",
            step=STEP,
            trace=rounded(side.blocks.trace, 4),
            P=F.layout.size,
            nats=STEP**2 / 2 * side.blocks.trace / F.layout.size,
            method=side.normalizer.title,
        )
        for side, F in zip(sides, fishers, strict=True)
    ]
    words = text(
        "KL ≈ ½ δᵀFδ (Eq. 10): a step of length {step:g} in a direction at random costs "
        "½ · {step:g}² · tr F/P on average, {costs}.",
        step=STEP,
        costs=", ".join(costs),
    )
    return [words]


def _figure(picture: FisherPicture, theme: str) -> Figure:
    return fisher_figure(
        picture.sides, about=picture.about, which=picture.which, start=picture.entries, theme=theme
    )


def _table(picture: FisherPicture) -> Table:
    """Return the norm of every block, and every entry of the block in detail."""
    rows = [
        (side.normalizer.title, part, row, column, float(values[row, column]))
        for side in picture.sides
        for part, values in (
            ("norm of the block", side.blocks.norms),
            ("entry of the block", side.blocks.block),
        )
        for row, column in np.ndindex(values.shape)
    ]
    i, j = picture.sides[0].blocks.pair
    title = text(
        "F by pairs of neurons, and the block of neurons {i} and {j}; {about}",
        i=i,
        j=j,
        about=picture.about,
    )
    return Table(
        ("method", "part", "row", "column", "value"), tuple(rows), title, notes=(picture.which,)
    )


FISHER = View(
    "fisher",
    text("The Fisher information by pairs of neurons"),
    (*USES, "neuron", "other", "entries"),
    _fisher,
    _figure,
    _table,
    watched=_fisher,
)
