"""What doubling the weights does to the loss, its gradient, and the Fisher information."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from normgeo.base.budget import Cost
from normgeo.base.numbers import fraction
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.dynamics.doubling import DoublingRow, doubling_table
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.learning_rate.block_on_data import BLOCK, block_on_data, sizes_of_block
from normgeo.pictures.picture import DATA, Study
from normgeo.pictures.work import BYTES, weights
from normgeo.settings import Settings
from normgeo.tables.table import Table

CLAIMED = Fraction(1, 2)  # the paper's factor


@final
@dataclass(frozen=True)
class Doubling:
    """What doubling a block does.

    Attributes:
        normalizer: the method. rows: a quantity each, predicted and measured.
        name: of the block. notes: sentences for the reader.

    """

    normalizer: Normalizer
    rows: tuple[DoublingRow, ...]
    name: str
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        """What is doubled."""
        return text("{method}, {name} doubled", method=self.normalizer.title, name=self.name)


def factor_words(factor: Fraction) -> str:
    """A factor in words: "× ½", or "0" of what is 0 before and after.

    >>> factor_words(Fraction(1, 4)), factor_words(Fraction(0))
    ('× ¼', '0')

    """
    return f"× {fraction(float(factor))}" if factor else "0"


def _compute(settings: Settings, progress: Progress) -> Doubling:
    it = block_on_data(settings)
    rows = doubling_table(it.model, it.X, it.y, it.block)
    return Doubling(it.model.normalizer, rows, it.name, it.notes)


def _table(result: Doubling) -> Table:
    rows = tuple(
        (
            text(row.quantity),
            factor_words(row.predicted),
            row.measured,
            text("yes") if row.predicted == CLAIMED else text("no"),
            text(row.reason),
        )
        for row in result.rows
    )
    names = ("quantity", "predicted", "measured", "Is it ½?", "why no measurement")
    return Table(names, rows, result.title)


def _cost(settings: Settings) -> Cost:
    """F in 32 directions three times, with their changes of the outputs held at once."""
    sizes = sizes_of_block(settings)
    held = Cost(BYTES * (40 * sizes.N * sizes.H + 160 * sizes.parameters))
    return weights(settings, sizes) + held + sizes.evaluations(90)


STUDY = Study(
    name="doubling",
    title=text("What doubling the weights does"),
    source=text("section 5.2.2"),
    alt=text(
        "The factor of each quantity when the norm doubles, predicted and measured; the table "
        "beside has the same numbers."
    ),
    uses=(*DATA, *BLOCK),
    compute=_compute,
    table=_table,
    cost=_cost,
)
