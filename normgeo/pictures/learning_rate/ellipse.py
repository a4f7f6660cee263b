"""Where the KL is equal around the weights, before and after they double."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.fisher.ellipse import EqualKL, EqualKLByNorm, equal_kl
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.learning_rate.block_on_data import BLOCK, block_on_data, sizes_of_block
from normgeo.pictures.picture import DATA, Study
from normgeo.pictures.work import weights
from normgeo.settings import Settings
from normgeo.tables.table import Table

NORMS = (1.0, 2.0)
FLAT = 1e-9  # of the curvature across: less along ŵ is rounding


@final
@dataclass(frozen=True, eq=False)
class Ellipse:
    """Equal KL around a block before and after it doubles.

    Attributes:
        normalizer: the method. measured: at ‖w‖ = 1 and 2.
        name, symbol: of the block and its norm. notes: sentences for the reader.

    """

    normalizer: Normalizer
    measured: EqualKLByNorm
    name: str
    symbol: str
    notes: tuple[str, ...]

    @property
    def growth(self) -> float:
        """By what factor the ellipse grows along the gradient as the weights double."""
        first, last = self.measured.at[0], self.measured.at[-1]
        return float(np.sqrt(first.metric[0, 0] / last.metric[0, 0]))

    @property
    def radial_share(self) -> float:
        """The curvature along ŵ over that across, the larger of both norms; 0 in theory."""
        return float(max(at.radial / at.metric[0, 0] for at in self.measured.at))

    @property
    def is_flat(self) -> bool:
        """Whether there is no curvature along ŵ but rounding."""
        return all(flat_along(at) for at in self.measured.at)


def flat_along(at: EqualKL) -> bool:
    """Whether the curvature along ŵ is rounding at a norm."""
    return bool(abs(at.radial) < FLAT * at.metric[0, 0])


def _compute(settings: Settings, progress: Progress) -> Ellipse:
    it = block_on_data(settings)
    rng = np.random.default_rng((settings.seed, 1))  # the weights were drawn from the seed itself
    measured = equal_kl(it.model, it.X, it.y, NORMS, block=it.block, rng=rng)
    return Ellipse(it.model.normalizer, measured, it.name, it.symbol, it.notes)


def _table(result: Ellipse) -> Table:
    rows = tuple(
        (at.norm, *quadratic, *true)
        for at in result.measured.at
        for quadratic, true in zip(at.ellipse.tolist(), at.contour.tolist(), strict=True)
    )
    names = ("norm", "ellipse_along_gradient", "ellipse_across", "kl_along_gradient", "kl_across")
    title = text("Steps dw with KL = {c} nats", c=number(result.measured.level))
    return Table(names, rows, title=title)


def _observed(result: Ellipse) -> str:
    """Say by what factor the ellipse grows, and what there is along the weights."""
    grown = text("Across, the ellipse grows {factor} times.", factor=number(result.growth))
    if result.is_flat:
        return text("{grown} Along the weights there is no curvature.", grown=grown)
    return text(
        "{grown} Along the weights the curvature is {share} of that across.",
        grown=grown,
        share=number(result.radial_share, 2),
    )


def _cost(settings: Settings) -> Cost:
    """Some three values of the KL on each ray, at both norms."""
    sizes = sizes_of_block(settings)
    # Where outputs do not meet, only that of the block moves.
    every = sizes.coupled or settings.normalizer.shared_by_neurons
    held = Cost(32 * sizes.N * sizes.H)
    return weights(settings, sizes) + held + sizes.evaluations(330 if every else 100)


STUDY = Study(
    name="ellipse",
    title=text("Equal KL around the weights, before and after they double"),
    source=text("section 5.2.2"),
    alt=text(
        "Left: ellipses of equal KL around the weights, in a plane across them, before and "
        "after their norm doubles. Right: the same in a plane that contains the weights."
    ),
    uses=(*DATA, *BLOCK),
    compute=_compute,
    table=_table,
    observed=_observed,
    cost=_cost,
)
