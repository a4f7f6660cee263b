"""What centers and scales have in common: a name, and who shares the statistic."""

from __future__ import annotations

from abc import ABC, abstractmethod

from normgeo.base.arguments import whole_number
from normgeo.base.refusal import Refusal
from normgeo.base.text import text


def group_size(neurons: int, groups: int) -> int:
    """K = H/G, the number of neurons that share a layer statistic.

    Raises:
        ValueError: groups that do not divide the neurons, or no number of groups.

    """
    whole_number("groups", groups, 1, by_type=True)
    if neurons % groups:
        rule = text("`groups` must divide the number of neurons")
        got = text("got {groups} groups for {neurons} neurons", groups=groups, neurons=neurons)
        if neurons == 1:
            got = text("got {groups} groups for one neuron", groups=groups)
        raise Refusal("{rule}; {got}.", rule=rule, got=got)
    return neurons // groups


class Statistic(ABC):
    """A center or a scale: the index over which a mean μ, or a scale σ, averages.

    Attributes:
        key: its word. title: in a menu. over: in a sentence, "the cases".
        shared_by_cases, shared_by_neurons: whether the cases of a batch, or the neurons of a group,
            share one value.
        merges: whether the value that cases share is a mean over them, of X or of C², which can be
            computed in blocks.
        dual: the word whose result for Aᵀ = W Xᵀ is the transpose of this one's for A; "" for none.

    """

    key: str
    title: str
    over: str
    shared_by_cases: bool = False
    shared_by_neurons: bool = False
    merges: bool = False
    dual: str = ""

    @property
    @abstractmethod
    def quantity(self) -> str:
        """The statistic: "mean" or "variance"."""

    def undefined(self, cases: int, neurons: int, features: int) -> str:
        """Return why z has no information for any W and X of this size, or ''.

        `neurons` is the number in a group.
        """
        if self.shared_by_cases and cases == 1:
            return text(
                "A {word} {quantity} is taken over the cases, so it needs at least 2 of them; "
                "got 1 case, whose z would be 0, 0/0 or only a sign. Use more cases, or frozen "
                "statistics.",
                word=self.key,
                quantity=self.quantity,
            )
        if self.shared_by_neurons and neurons == 1:
            return text(
                "A {word} {quantity} is taken over the neurons of a group, so it needs at "
                "least 2 of them per group; got 1 neuron, whose z would be 0, 0/0 or only a "
                "sign. Use more neurons or fewer groups.",
                word=self.key,
                quantity=self.quantity,
            )
        return ""
