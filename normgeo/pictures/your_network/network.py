"""What a measured network ignores: the tensors of one column, and a cell that is told of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.measured.changes import CHANGES
from normgeo.measured.judging import FEW, Verdict
from normgeo.measured.notes import notes_on
from normgeo.measured.places import PLACES
from normgeo.measured.saved.examples import EXAMPLES
from normgeo.measured.saved.reading import read_measured
from normgeo.measured.table import MeasuredTable
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table


@final
@dataclass(frozen=True, eq=False)
class Network:
    """A measured table with one of its cells selected.

    Attributes:
        title: of the network. story: what to see in it; "" of one's own. table: what was measured.
        tensor: the number of the selected one. change: the selected one, a key of CHANGES.
        missing: a number that was asked for and that no tensor has.

    """

    title: str
    story: str
    table: MeasuredTable
    tensor: int
    change: str
    missing: int | None = None

    @classmethod
    def of(cls, title: str, table: MeasuredTable, story: str = "") -> Network:
        """See a table; its first matrix is selected."""
        matrices = [n for n, name in enumerate(table.tensors) if table.roles.get(name) == "matrix"]
        return cls(title, story, table, next(iter(matrices), 0), Settings.change)

    def at(self, tensor: int | None, change: str) -> Network:
        """The same with another cell selected; None or a number that none has leaves the first."""
        missing = tensor is not None and tensor >= len(self.table.tensors)
        return replace(
            self,
            tensor=self.tensor if tensor is None or missing else tensor,
            change=change,
            missing=tensor if missing else None,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The tensors, in order."""
        return (*self.table.tensors,)

    @property
    def verdicts(self) -> tuple[Verdict | None, ...]:
        """On the selected change, of each tensor."""
        return tuple(one.verdicts[self.change] for one in self.table.tensors.values())

    @property
    def rounding(self) -> float:
        """The share of the outputs up to which a move is rounding."""
        return FEW * self.table.rounding

    @property
    def headline(self) -> str:
        """The selected cell in a sentence."""
        if not self.names:
            return text("Nothing is measured yet: the measurement was stopped before.")
        verdict = self.verdicts[self.tensor]
        about = {"name": self.names[self.tensor], "change": CHANGES[self.change]}
        if verdict is None:
            return text("{name!s}, {change}: there is nothing to ask.", **about)
        return text(
            "{name!s}, {change}: {word}. The outputs move by {share} of their length.",
            **about,
            word=verdict.word,
            share=_share(verdict.moved),
        )

    @property
    def said(self) -> tuple[str, ...]:
        """What else is known of the selected tensor, in sentences."""
        if not self.names:
            return ()
        table, name = self.table, self.names[self.tensor]
        one = table.tensors[name]
        said = []
        if self.missing is not None:
            said.append(
                text(
                    "There is no tensor {n:,}: the last one is number {last:,}. This is the first "
                    "weight.",
                    n=self.missing,
                    last=len(self.names) - 1,
                )
            )
        places = ", ".join(str(PLACES[place]) for place in table.place(name))
        if places and table.complete:
            said.append(text("Norm: {places}.", places=places))
        if table.roles.get(name) == "matrix" and table.complete:
            said.append(text("Effective learning rate: {rate}.", rate=table.learning_rate(name)))
        said += [
            text("Ignored together: {trade}.", trade=trade)
            for trade in table.trades
            if name in trade.names
        ]
        return (*said, *notes_on(one, table.frozen(name)))


def _share(moved: float) -> str:
    if moved >= 0.001:
        return text("{percent} %", percent=number(100 * moved, 2))
    return number(moved, 1)


def _compute(settings: Settings, progress: Progress) -> Network:
    example = EXAMPLES[settings.network]
    table = read_measured(example.path)
    return Network.of(example.title, table, example.story).at(settings.tensor, settings.change)


def _table(result: Network) -> Table:
    return result.table.records()


def _observed(result: Network) -> str:
    return result.headline


STUDY = Study(
    name="measured_network",
    title=text("How much a change of each tensor moves the outputs of a network"),
    source=text("section 5.1, for a network in place of a layer"),
    alt=text(
        "A mark for each tensor of the network, in order from the first to the last, on a "
        "logarithmic scale of how much of their length the outputs move. Below a line it is "
        "rounding. The selected tensor has a ring around its mark."
    ),
    uses=("network", "tensor", "change"),
    compute=_compute,
    table=_table,
    observed=_observed,
)
