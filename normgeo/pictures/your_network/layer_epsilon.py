"""What ε takes off z of a layer, for each of its neurons and each case of its activations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.epsilon import EpsilonPairs
from normgeo.checkpoints.examples import EXAMPLES
from normgeo.checkpoints.report import LayerReport
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.picture import Study
from normgeo.pictures.your_network.layer import CHOICES, cost, report_of, without_epsilon
from normgeo.settings import Settings
from normgeo.tables.epsilon import epsilon_records, epsilon_table, of_pairs
from normgeo.tables.table import Table

LISTED = 500
"""Pairs of a neuron and a case in the table to read."""


@final
@dataclass(frozen=True, eq=False)
class LayerEpsilon:
    """Where ε counts in a layer.

    Attributes:
        title: of the layer. normalizer: its norm. pairs: of neurons and cases.
        features: whether the norm takes features, which stand for neurons then.
        table: the pairs of which ε takes most, to read. records: the same for programs.

    """

    title: str
    normalizer: Normalizer
    pairs: EpsilonPairs
    features: bool
    table: Table
    records: Table

    @classmethod
    def of(cls, report: LayerReport, title: str) -> LayerEpsilon | None:
        """Return what a report tells of each pair; None where it tells nothing."""
        if report.epsilon is None or report.epsilon.pairs is None:
            return None
        layer, pairs = report.layer, report.epsilon.pairs
        tables = epsilon_table(report, LISTED), epsilon_records(report)
        return cls(title, layer.normalizer, pairs, layer.place.over_features, *tables)

    @property
    def said(self) -> str:
        """Where ε takes most, in a sentence."""
        return of_pairs(self.pairs, self.features)

    @property
    def shown(self) -> str:
        """Which of the pairs the map shows, in a sentence."""
        h, n = self.pairs.map.shape
        return text(
            "The {h} {what} and {n} cases of which ε takes most; the bar tells how much of z.",
            h=h,
            what=text("features") if self.features else text("neurons"),
            n=n,
        )


def compute(settings: Settings, progress: Progress) -> LayerEpsilon:
    """Where ε counts in a layer that ships."""
    report = report_of(settings, eigenvalues=0)
    found = LayerEpsilon.of(report, EXAMPLES[settings.layer].title)
    if found is None:
        raise Refusal(without_epsilon(report.layer))
    return found


STUDY = Study(
    "layer_epsilon",
    title=text("What ε takes off z, for each neuron and each case"),
    source=text("section 5.1, Eq. 5, with the ε of practice"),
    alt=text(
        "A map: a row for each neuron and a column for each case, those of which ε takes most "
        "first. The more a field stands out, the more ε takes off the normalized value z, in units "
        "of σ."
    ),
    uses=("layer", *CHOICES),
    compute=compute,
    cost=cost,
    table=lambda result: result.records,
    observed=lambda result: str(result.said),
)
