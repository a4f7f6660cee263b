"""What a center and a scale have in common: a name, and who shares the statistic."""

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
        raise Refusal(text("{rule}; {got}.", rule=rule, got=got))
    return neurons // groups


class Statistic(ABC):
    """One word of a normalizer: what its mean μ, or its scale σ, averages over.

    Attributes:
        key: the word. title: the same in a menu. over: within a sentence, "the cases".
        shared_by_cases, shared_by_neurons: whether the cases of a batch, or the neurons of a
            group, share one value.
        merges: whether the value that the cases share is a mean over them, of X or of C², so that
            it is known from blocks of them.
        dual: the word that makes of Aᵀ = W Xᵀ what this one makes of A, transposed; "" for none.

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
        """What is taken, "mean" or "variance"."""

    def undefined(self, cases: int, neurons: int, features: int) -> str:
        """Why z carries nothing for every W and X of this size, or ''.

        `neurons` counts those of a group.
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
