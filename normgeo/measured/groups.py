"""Which parameters should weight decay touch? Groups for an optimizer, from what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

from normgeo.base.arguments import real_number, shown
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.measured.tree import leaves, with_leaves
from normgeo.tables.table import Table

SENTENCES = {
    "invariant": text(
        "Scale-invariant weights: decay does not make the function simpler; with the learning rate "
        "it sets how far a step turns them."
    ),
    "joint": text(
        "Weights that are scale-invariant together: decay of all of them alike regularizes "
        "nothing, of some of them it shifts the balance to the others."
    ),
    "matrices": text("Other matrices: decay makes them smaller, and the function with them."),
    "gains": text("Gains: decay draws them to 0, and what they multiply with them."),
    "vectors": text("Biases and other vectors: decay draws them to 0; few networks need it."),
    "unused": text("Unused: no change of them moves the outputs, and decay takes them to 0."),
}
"""Keys of the groups → what decay does there."""

DECAYED = frozenset({"invariant", "joint", "matrices"})
"""Groups that need decay: there it regularizes, or sets the angle of a step."""


@final
@dataclass(frozen=True)
class Group:
    """Parameters on which weight decay has the same effect.

    Attributes:
        key: of SENTENCES. names: of its tensors. parameters: how many numbers they hold.

    """

    key: str
    names: tuple[str, ...]
    parameters: int

    @property
    def sentence(self) -> str:
        """Say what weight decay does to them."""
        return SENTENCES[self.key]

    @property
    def decays(self) -> bool:
        """Whether weight decay should touch it."""
        return self.key in DECAYED


@final
@dataclass(frozen=True)
class Groups:
    """The parameter groups of a network.

    Attributes:
        groups: those with at least one tensor.

    """

    groups: tuple[Group, ...]

    def of(self, name: str) -> Group:
        """Return the group of a tensor."""
        for group in self.groups:
            if name in group.names:
                return group
        raise Refusal("`name` must be that of a measured tensor; got {name!s}.", name=shown(name))

    def for_torch(self, parameters: Any, decay: float) -> list[dict[str, Any]]:
        """Return the groups for `torch.optim`, with the user's own arrays in them.

        Args:
            parameters: as they were measured, a tree or `dict(model.named_parameters())`.
            decay: λ of the groups that decay should touch; the others have 0.

        """
        decay = real_number("decay", decay, least=0)
        found = leaves(parameters)
        return [
            {
                "name": group.key,
                "params": [found[name] for name in group.names],
                "weight_decay": decay if group.decays else 0.0,
            }
            for group in self.groups
        ]

    def for_optax(self, parameters: Any) -> Any:
        """Return a tree of True and False like that of the parameters: the `mask` of a decay."""
        decayed = {name for group in self.groups if group.decays for name in group.names}
        return with_leaves(parameters, {name: name in decayed for name in leaves(parameters)})

    def changes(self, decayed: Iterable[str]) -> Table:
        """Say how the groups differ from the user's own choice.

        Args:
            decayed: names of the tensors that weight decay touches now.

        """
        now = {*decayed}
        known = {name for group in self.groups for name in group.names}
        if unknown := sorted(map(str, now - known)):
            raise Refusal(
                "`decayed` must name measured tensors, of {known!s}; got {unknown!s}.",
                unknown=shown(unknown),
                known=shown(sorted(known)),
            )
        rows = [
            (
                text("{name!s}", name=name),
                text("yes") if name in now else text("no"),
                text("yes") if group.decays else text("no"),
                group.sentence,
            )
            for group in self.groups
            for name in group.names
            if (name in now) != group.decays
        ]
        columns = (text("tensor"), text("decays now"), text("should"), text("why"))
        return Table(columns, tuple(rows), text("What would change against your own groups"))

    def table(self) -> Table:
        """Return a row for each group: its tensors, its parameters, and what decay does there."""
        return Table(
            (text("group"), text("tensors"), text("parameters"), text("decay"), text("why")),
            tuple(
                (
                    g.key,
                    len(g.names),
                    g.parameters,
                    text("yes") if g.decays else text("no"),
                    g.sentence,
                )
                for g in self.groups
            ),
            text("Parameter groups for weight decay"),
        )


def groups_of(keys: Mapping[str, str], sizes: Mapping[str, int]) -> Groups:
    """Return the groups of tensors, from the key of each and how many numbers it holds.

    >>> groups_of({"W": "matrices", "b": "vectors"}, {"W": 6, "b": 2}).of("b").parameters
    2

    """
    found: dict[str, list[str]] = {key: [] for key in SENTENCES}
    for name, key in keys.items():
        found[key].append(name)
    return Groups(
        tuple(
            Group(key, tuple(names), sum(sizes[name] for name in names))
            for key, names in found.items()
            if names
        )
    )
