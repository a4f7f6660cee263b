"""The picture of the Fisher information by pairs of neurons: standard beside normalized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.fisher.neuron_blocks import ENTRIES, NeuronBlocks
from normgeo.fisher.operator import Fisher, fisher
from normgeo.fisher.which import WhichFisher
from normgeo.models.linearization import ParameterLayout
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.captions import USES, listed
from normgeo.pictures.fisher.beside_standard import BesideStandard, cost_beside_standard
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

STEP = 0.1
NOTHING = 1e-9  # of a neuron's own block: a smaller one is rounding
FAINT = 0.03  # of the largest block: no eye tells it from the paper


@final
@dataclass(frozen=True, eq=False)
class ModelBlocks:
    """The Fisher information of one model by pairs of neurons.

    Attributes:
        normalizer: its method. layout: of θ. blocks: of F.
        overview, detail: the map of all blocks, and one block, as each of `ENTRIES`.

    """

    normalizer: Normalizer
    layout: ParameterLayout
    blocks: NeuronBlocks
    overview: Mapping[str, Array]
    detail: Mapping[str, Array]

    @classmethod
    def of(cls, F: Fisher, normalizer: Normalizer, i: int, j: int) -> Self:
        """F by its neurons, and the block of neurons i and j; raises as `NeuronBlocks.of`."""
        blocks = NeuronBlocks.of(F, i, j)
        return cls(
            normalizer,
            F.layout,
            blocks,
            {entries: blocks.overview(entries) for entries in ENTRIES},
            {entries: blocks.detail(entries) for entries in ENTRIES},
        )

    @property
    def cost(self) -> float:
        """½ δᵀFδ of a step of length `STEP`, the mean over all directions, in nats."""
        return STEP**2 / 2 * self.blocks.trace / self.layout.size


@final
@dataclass(frozen=True, eq=False)
class Ratio:
    """What normalization made of the Fisher information: both models' on one scale.

    Attributes:
        norms: ‖F_ij‖ over √(‖F_ii‖‖F_jj‖) of the standard model, (H, H).
        block: F_kl over √(F_kk F_ll) of the standard model, in the parameters that both have.

    """

    norms: Array
    block: Array

    @classmethod
    def of(cls, standard: NeuronBlocks, normalized: NeuronBlocks) -> Self:
        """The blocks of a normalized model over those of the standard one."""
        return cls(normalized.norms_over(standard), normalized.block_over(standard))

    @property
    def said(self) -> str:
        """The least and the largest factor of the neurons' own blocks, and that between them."""
        own = self.norms.diagonal()[np.isfinite(self.norms.diagonal())]
        if not len(own):
            return text("the standard model has no curvature")
        low, high = (number(value, 2) for value in (own.min(), own.max()))
        apart = self.norms[~np.eye(len(self.norms), dtype=bool)]
        most = float(np.nanmax(apart, initial=0.0))
        most = most if most > NOTHING else 0.0
        if low == high:
            return text("own blocks × {low}, shared × {most}", low=low, most=number(most, 2))
        return text(
            "own blocks × {low} to {high}, shared up to × {most}",
            low=low,
            high=high,
            most=number(most, 2),
        )


@final
@dataclass(frozen=True, eq=False)
class FisherBlocks:
    """The Fisher information of both models.

    Attributes:
        models: the standard one first, alone where it was stopped. caption: data, family, sizes.
        ratio: of the second model over the first; None where there is one model.
        which: the Fisher information, and its scale. entries: what is shown at the start.
        notes: sentences for the reader.

    """

    models: tuple[ModelBlocks, ...]
    ratio: Ratio | None
    caption: str
    which: WhichFisher
    entries: str
    notes: tuple[str, ...]


def compute(settings: Settings, progress: Progress) -> FisherBlocks:
    """Both matrices by pairs of neurons."""
    both = BesideStandard.of(settings)
    models: list[ModelBlocks] = []
    saturated: list[str] = []
    for it in progress.over(both.models):
        F = fisher(it.model, it.X)
        models.append(
            ModelBlocks.of(F, it.model.normalizer, i=settings.neuron, j=settings.other),
        )
        saturated += F.notes
    notes = (*_hidden(models), *dict.fromkeys(saturated), _cost(models), *both.notes)
    ratio = Ratio.of(*(each.blocks for each in models)) if len(models) == 2 else None
    return FisherBlocks(tuple(models), ratio, both.caption, both.which, settings.entries, notes)


def _hidden(models: Sequence[ModelBlocks]) -> list[str]:
    """What the eye cannot see of the matrices."""
    notes = []
    sizes = [float(each.blocks.norms.max()) for each in models]
    if min(sizes) < FAINT * max(sizes):
        notes.append(
            text(
                "{method} is too faint to see on the scale that both share: choose log₁₀|F|.",
                method=models[sizes.index(min(sizes))].normalizer.title,
            )
        )
    for each in models:
        if each.blocks.silent:
            notes.append(
                text(
                    "{method}: {count} of {P} parameters change nothing, their F_kk is 0 to within "
                    "rounding: “F over its diagonal” is blank there, with nothing to divide by.",
                    method=each.normalizer.title,
                    count=each.blocks.silent,
                    P=each.layout.size,
                )
            )
    blank = [each.normalizer.title for each in models if not each.blocks.block.any()]
    if blank:
        i, j = models[0].blocks.pair
        notes.append(
            text(
                "{methods}: neurons {i} and {j} share no curvature, so this block of F is 0.",
                methods=listed(blank),
                i=i,
                j=j,
            )
        )
    return notes


def _cost(models: Sequence[ModelBlocks]) -> str:
    """What the metric, Eq. 8, says of a short step in a direction at random, in numbers."""
    costs = [
        text(
            "½ · {step:g}² · {trace}/{P} = {nats} nats ({method})",
            step=STEP,
            trace=number(each.blocks.trace, 4),
            P=each.layout.size,
            nats=number(each.cost, 2),
            method=each.normalizer.title,
        )
        for each in models
    ]
    return text(
        "KL ≈ ½ δᵀFδ (Eq. 8): a step of length {step:g} in a direction at random costs "
        "½ · {step:g}² · tr F/P on average, {costs}.",
        step=STEP,
        costs=listed(costs),
    )


def table(result: FisherBlocks) -> Table:
    """The norm of every block, and every entry of the block in detail."""
    rows: tuple[tuple[object, ...], ...] = tuple(
        (each.normalizer.title, part, row, column, float(values[row, column]))
        for each in result.models
        for part, values in (
            ("norm of the block", each.blocks.norms),
            ("entry of the block", each.blocks.block),
        )
        for row, column in np.ndindex(values.shape)
    )
    if result.ratio is not None:
        name = result.models[-1].normalizer.title
        rows += tuple(
            (name, part, row, column, None if np.isnan(value) else float(value))
            for part, values in (
                ("norm over standard", result.ratio.norms),
                ("entry over standard", result.ratio.block),
            )
            for (row, column), value in np.ndenumerate(values)
        )
    i, j = result.models[0].blocks.pair
    title = text(
        "F by pairs of neurons, and the block of neurons {i} and {j}; {about}",
        i=i,
        j=j,
        about=result.caption,
    )
    return Table(
        ("method", "part", "row", "column", "value"), rows, title, notes=(str(result.which),)
    )


def observed(result: FisherBlocks) -> str:
    """Say what normalization did to the blocks."""
    if result.ratio is None:
        return text("Only the standard model is shown.")
    name = result.models[-1].normalizer.title
    return text("{method} over standard: {said}.", method=name, said=result.ratio.said)


def _estimate(settings: Settings) -> Cost:
    """The matrices of both models."""
    return cost_beside_standard(settings, matrices=1, evaluations=2)


STUDY = Study(
    "fisher",
    title=text("The Fisher information by pairs of neurons"),
    source=text("section 5.2.1, Eq. 9; section 5.2.2, Eq. 12 to 14"),
    alt=text(
        "The Fisher information of the standard model, that of the method, and one over the "
        "other. Above: maps with a cell for each pair of neurons, which stands out where they "
        "share curvature. Below: the block of one pair, a cell for each pair of parameters, blue "
        "below zero."
    ),
    uses=(*USES, "neuron", "other", "entries"),
    compute=compute,
    table=table,
    observed=observed,
    cost=_estimate,
)
