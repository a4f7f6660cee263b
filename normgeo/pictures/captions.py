"""What stands above the pictures of models: data, family and sizes, and the method's variant."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.model_on_data import ModelOnData
from normgeo.pictures.picture import DATA

# The settings that decide a model and its data.
USES = (*DATA, "method", "groups", "eps", "statistics")


def caption(it: ModelOnData) -> str:
    """The data, family and sizes of a model."""
    H, D = it.model.W.shape
    return text(
        "{data!s}, {family} outputs, H = {H} neurons, D = {D} features",
        data=it.dataset.title,
        family=it.model.family.title,
        H=H,
        D=D,
    )


def method_name(normalizer: Normalizer) -> str:
    """Return what a method is called beside others: the standard model has no norm."""
    return str(text("no norm") if normalizer.is_standard else text(normalizer.title))


def variant(normalizer: Normalizer) -> str:
    """The ε and the frozen statistics of a normalizer, to follow its title; "" without them.

    >>> variant(Normalizer("batch", "batch", eps=0.1, statistics="frozen"))
    ', ε = 0.1, frozen statistics'

    """
    frozen = normalizer.statistics == "frozen"
    if not normalizer.eps:
        return text(", frozen statistics") if frozen else ""
    eps = number(float(normalizer.eps))
    if frozen:
        return text(", ε = {eps}, frozen statistics", eps=eps)
    return text(", ε = {eps}", eps=eps)


def listed(sentences: Iterable[str]) -> str:
    """Sentences with commas between them, each still marked as it must be where it is shown.

    >>> listed(["a", "b", "c"])
    'a, b, c'

    """
    return reduce(lambda some, last: text("{some}, {last}", some=some, last=last), sentences)
