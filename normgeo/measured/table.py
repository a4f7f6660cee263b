"""A measured table: a row for each tensor, a column for each change, and what follows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, final

import numpy as np

from normgeo.base.arguments import file_path
from normgeo.base.numbers import number
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.base.writing import write_bytes
from normgeo.measured.changes import CHANGES
from normgeo.measured.groups import Groups, groups_of
from normgeo.measured.judging import FEW, WORDS
from normgeo.measured.notes import UNTRIED, notes_on, on_groups
from normgeo.measured.parameters import Neurons
from normgeo.measured.places import PLACES, STYLES, blocks_of
from normgeo.measured.roles import ROLES
from normgeo.measured.saved.described import by_line, describe, describe_trade
from normgeo.measured.tensor import MeasuredTensor
from normgeo.measured.trade import Trade
from normgeo.tables.files import FILES, as_file
from normgeo.tables.formats import render
from normgeo.tables.printed import fragment
from normgeo.tables.table import Table

KIND = "measured table 1"
"""The version of a saved table: a later one may know more."""

LONG = 10.0
"""A multiple of the median norm of a tensor's rows: a longer row hardly turns."""


@final
@dataclass(frozen=True)
class Options:
    """The options of a measurement, as in `measure`."""

    neurons: Neurons = 0
    tries: int = 4
    seed: int = 0
    negative: bool = False
    embeddings: tuple[str, ...] = ()
    matrices: tuple[str, ...] | None = None


@final
@dataclass(frozen=True, eq=False, repr=False)
class MeasuredTable:
    """Table 1 of a network, measured.

    Attributes:
        tensors: by name. roles: of the tensors, keys of ROLES. trades: changes that are ignored
            only together. complete: whether everything was measured; a stop leaves a part, which
            `measure` continues from `resume`.
        rounding: ‖error‖/‖outputs‖ of the network's own arithmetic. kinds: the types of numbers
            that it ran in. calls: of the function. length: ‖outputs‖. options: as asked for.
        names: of all tensors, measured or not.

    """

    tensors: Mapping[str, MeasuredTensor]
    roles: Mapping[str, str]
    trades: tuple[Trade, ...]
    complete: bool
    rounding: float
    kinds: tuple[str, ...]
    calls: int
    length: float
    options: Options
    names: tuple[str, ...] = field(default=())

    def place(self, name: str) -> tuple[str, ...]:
        """Return the places of norms beside a weight, keys of PLACES; none if none is seen.

        "after" means that all of it, or each row, may be scaled; "after_with_bias" that it may be
        only with its bias; "after_sum" only with other weights, as those that write to a residual
        stream; "centered" that what all rows have in common is removed behind it, as by a layer
        norm of another sum, or by a softmax. "before" means that its inputs sum to 0, or that its
        columns trade with a gain.
        """
        measured = self.tensors[name]
        if measured.is_dead:
            return ("unused",)
        found = []
        if self.roles.get(name) == "matrix":
            if measured.is_invariant:
                found.append("after")
            elif self.bias(name):
                found.append("after_with_bias")
            elif any(trade.is_joint and name in trade.names for trade in self.trades):
                found.append("after_sum")
            elif measured.ignores("all_plus"):
                found.append("centered")
            # For an embedding, whose rows are no neurons, this is a shift after it.
            picked = name in self.options.embeddings or bool(found)
            centered = measured.ignores("own_plus") and (measured.ignores("all_plus") or not picked)
            if centered or self._reads_a_gain(name):
                found.append("before")
        return tuple(found)

    @property
    def blocks(self) -> Mapping[str, str]:
        """Blocks of two weights or more, by their names → how they are normed, of STYLES."""
        weights = (name for name, role in self.roles.items() if role == "matrix")
        return blocks_of({name: self.place(name) for name in weights})

    def _reads_a_gain(self, name: str) -> bool:
        return any(
            any(part.name == name and part.along == "columns" for part in trade.parts)
            and any(self.roles[other].startswith("gain") for other in trade.names)
            for trade in self.trades
            if not trade.is_joint and not trade.shift
        )

    def bias(self, name: str) -> tuple[str, ...]:
        """Return the vectors that are one block with a weight: a scale is ignored only of all."""
        for trade in self.trades:
            others = tuple(other for other in trade.names if other != name)
            alone = all(self.roles[other] == "vector" for other in others)
            if trade.is_joint and name in trade.names and alone:
                return others
        return ()

    def learning_rate(self, name: str) -> str:
        """Say what sets the effective learning rate of a tensor under gradient descent."""
        measured = self.tensors[name]
        if measured.is_dead:
            return text("none: no change of it moves the outputs")
        if measured.blocks == 1:
            return text("η/‖W‖², of all of it")
        if measured.blocks == measured.neurons:
            return text("η/‖w‖², of each row by itself")
        if measured.blocks:
            return text("η/‖w‖², of each of {count} blocks of rows", count=measured.blocks)
        if biases := self.bias(name):
            return text("η/‖(W, b)‖², together with {biases!s}", biases=", ".join(biases))
        for trade in self.trades:
            if trade.is_joint and name in trade.names:
                return text(
                    "η over the squared length of what is scaled together: {trade}", trade=trade
                )
        return text("η: no norm takes its length off")

    def frozen(self, name: str) -> tuple[int, ...]:
        """Return rows, each a block by itself, that are so long that they hardly turn."""
        measured = self.tensors[name]
        if measured.blocks < 2 or measured.blocks != measured.neurons:
            return ()
        alive = [row for row in range(measured.neurons) if row not in measured.dead]
        median = np.median(measured.norms[alive]) if alive else 0.0
        return tuple(row for row in alive if measured.norms[row] > LONG * median > 0)

    def recorder(self) -> dict[str, Any]:
        """Return the arguments for a `Recorder` of this network: blocks, biases, neurons.

        A weight that moves nothing now, as behind a gain of 0, is recorded without a norm.
        """
        blocks, biases = {}, {}
        for name, measured in self.tensors.items():
            if self.roles.get(name) != "matrix":
                continue
            whole = "layer" if measured.ignores("all_plus") else "rms"
            if measured.is_invariant:
                blocks[name] = "batch" if measured.blocks == measured.neurons > 1 else whole
            elif len(bias := self.bias(name)) == 1:
                blocks[name], biases[name] = whole, bias[0]
            else:
                blocks[name] = "standard"
        return {"blocks": blocks, "biases": biases, "neurons": self.options.neurons}

    def groups(self) -> Groups:
        """Return the parameter groups for weight decay that follow from the verdicts."""
        if not self.complete:
            raise Refusal(
                "Groups follow from the whole table, and this one is measured in part. Go on "
                "with it: normgeo.measure(f, parameters, resume=table)."
            )
        sizes = {name: one.parameters for name, one in self.tensors.items()}
        return groups_of({name: self._group(name) for name in self.tensors}, sizes)

    def _group(self, name: str) -> str:
        place, role = self.place(name), self.roles[name]
        if "unused" in place:
            return "unused"
        if role != "matrix":
            return "vectors" if role == "vector" else "gains"
        if "after" in place or "after_with_bias" in place:
            return "invariant"
        return "joint" if "after_sum" in place else "matrices"

    # As words and numbers.

    def table(self) -> Table:
        """Return a row for each tensor and a sign for each change, as in Table 1."""
        rows = []
        for name, one in self.tensors.items():
            signs = [verdict.sign if verdict else "" for verdict in one.verdicts.values()]
            places = ", ".join(str(PLACES[key]) for key in self.place(name))
            rows.append((text("{name!s}", name=name), *self._kind(name), *signs, places))
        titles = (str(title) for title in CHANGES.values())
        return Table(
            (text("tensor"), text("shape"), text("role"), *titles, text("norm")),
            tuple(rows),
            text("What this network ignores, as measured"),
            notes=self.notes(),
        )

    def records(self) -> Table:
        """Return a row for each tensor and change, with the share of the outputs that it moves."""
        rows = [
            (
                *(text("{name!s}", name=name), *self._kind(name)),
                *(change, verdict.word if verdict else None, verdict.moved if verdict else None),
                *(one.influence, one.blocks, len(one.zeros), len(one.dead), len(one.untried)),
            )
            for name, one in self.tensors.items()
            for change, verdict in one.verdicts.items()
        ]
        return Table(
            (
                *("tensor", "shape", "role", "change", "verdict", "moved", "influence"),
                *("blocks", "zero_rows", "dead_rows", "untried_rows"),
            ),
            tuple(rows),
            text("What each change moves"),
        )

    def _kind(self, name: str) -> tuple[str, str]:
        role = ROLES[self.roles[name]] if name in self.roles else ""
        return " × ".join(map(str, self.tensors[name].shape)), role

    def notes(self) -> tuple[str, ...]:
        """Return what a reader of the table must know, in sentences."""
        said = [
            text(
                "It ran in {kinds}; {few} of the outputs is rounding. {calls} calls, {sides}.",
                kinds=", ".join(self.kinds),
                few=number(FEW * self.rounding, 1),
                calls=self.calls,
                sides=text("δ from −2 to −½") if self.options.negative else text("δ from ½ to 2"),
            ),
            *(text("Ignored together: {trade}.", trade=trade) for trade in self.trades),
        ]
        for style, words in STYLES.items():
            blocks = [block for block, of in self.blocks.items() if of == style]
            if style and blocks:
                said.append(text("{blocks!s}: {words}.", blocks=", ".join(blocks), words=words))
        for name, one in self.tensors.items():
            said += notes_on(one, self.frozen(name), beside=True)
        said += on_groups(self.tensors.values())
        if not self.complete:
            said.append(
                text(
                    "Measured in part: {done} of {all} tensors, and what they trade is not known.",
                    done=len(self.tensors),
                    all=len(self.names),
                )
            )
        return (" · ".join(f"{sign} {word}" for sign, word in WORDS.items()), *said, UNTRIED)

    def render(self, format: str = "text") -> str:
        """Return the table as "text", "markdown" or "latex", its records as "csv", all as "json".

        The JSON is what `save` writes and `read_measured` reads.
        """
        if format == "json":
            return self._saved()
        return render(self.records() if format == "csv" else self.table(), format)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file, whole or not at all.

        Args:
            path: .json, which `read_measured` and the page *Your network* read, whole or in part;
                .csv, a row for each tensor and change; or .html, .md or .tex.

        Raises:
            ValueError: another kind of file. OSError: one that can't be written.

        """
        target = file_path("path", path)
        kind = target.suffix.lower().removeprefix(".")
        if kind not in FILES:
            raise Refusal(
                "A measured table is saved as one of {kinds}; got {path!s}.",
                kinds=", ".join(f".{known}" for known in FILES),
                path=target,
            )
        write_bytes(self.content(kind), target)

    def content(self, kind: str) -> bytes:
        """Return the content of a kind of file, of FILES, with decay groups if they are known."""
        if kind == "json":
            return self._saved().encode()
        if kind == "csv":
            return as_file(kind, self.records())
        return as_file(kind, self.table(), *([self.groups().table()] if self.complete else []))

    def _saved(self) -> str:
        told = {
            "normgeo": KIND,
            "complete": self.complete,
            "kinds": [*self.kinds],
            "calls": self.calls,
            "rounding": self.rounding,
            "length": self.length,
            "options": asdict(self.options),
            "names": [*self.names],
            "roles": dict(self.roles),
        }
        trades = [describe_trade(trade) for trade in self.trades]
        tensors = [describe(one) for one in self.tensors.values()]
        return by_line(told, trades=trades, tensors=tensors)

    def to_frame(self) -> Any:
        """Return the records as a data frame of pandas."""
        return self.records().to_frame()

    def _repr_html_(self) -> str:
        return fragment(self.table())

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        done = text("complete") if self.complete else text("in part")
        return f"<MeasuredTable: {len(self.tensors)} tensors, {self.calls} forward passes, {done}>"
