"""The eigenvalues of the Fisher information of a layer, and which of its directions are null."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.examples import EXAMPLES
from normgeo.checkpoints.missing import fisher_takes
from normgeo.checkpoints.report import LayerReport
from normgeo.fisher.spectrum import ROUNDING
from normgeo.models.families import FAMILIES
from normgeo.pictures.fisher.spectra import ModelSpectrum
from normgeo.pictures.picture import Study
from normgeo.pictures.work import eigenvalues
from normgeo.pictures.your_network.layer import CHOICES, cost, report_of
from normgeo.settings import Settings
from normgeo.tables.layer import sentences
from normgeo.tables.table import Table

NOT_NULL, UNDECIDED, NULL = "not null", "undecided", "null"
FAMILY = "gaussian"
"""Of the outputs of the layers that ship, which are hidden ones: F is then how far they move."""


@final
@dataclass(frozen=True, eq=False)
class LayerSpectrum:
    """The spectrum of F_WW of a layer.

    Attributes:
        title: of the layer. family: of its outputs.
        model: its norm, with the eigenvalues; their vectors are left out.
        answers: of each eigenvalue, NOT_NULL, UNDECIDED or NULL.
        counted: whether that is the rank of the change of the outputs; else NULL is what is not
            above the rounding of the eigenvalues.
        said: all that is to be said of the layer, in sentences.

    """

    title: str
    family: str
    model: ModelSpectrum
    answers: tuple[str, ...]
    counted: bool
    said: tuple[str, ...]

    @classmethod
    def of(cls, report: LayerReport, title: str, family: str | None) -> LayerSpectrum | None:
        """Return what a report tells of F; None where it tells nothing."""
        found = report.spectrum
        if found is None or family is None:
            return None
        model = ModelSpectrum(
            report.layer.normalizer, replace(found, vectors=np.zeros((len(found.vectors), 0)))
        )
        if report.explanation is None:
            is_null = found.values <= rounding(model)
            answers = tuple(NULL if null else NOT_NULL for null in is_null)
        else:
            answers = report.explanation.null.answers[: len(found.values)]
        return cls(
            title,
            FAMILIES[family].title,
            model,
            answers,
            report.explanation is not None,
            tuple(sentences(report)),
        )

    @property
    def rounding(self) -> float:
        """An eigenvalue up to this is rounding."""
        return rounding(self.model)

    @property
    def lost(self) -> int:
        """How many are not null, and yet no more than the rounding of the eigenvalues."""
        return sum(
            answer == NOT_NULL and value <= self.rounding
            for answer, value in zip(self.answers, self.model.values, strict=True)
        )

    @property
    def of_null(self) -> str:
        """How many directions are null, in a sentence."""
        spectrum, null = self.model.spectrum, self.answers.count(NULL)
        if spectrum is not None and not spectrum.complete:
            return text(
                "The {k} largest of {all}: null directions are not among them.",
                k=len(self.answers),
                all=spectrum.size,
            )
        if not self.counted:
            return text(
                "{k} of {all} directions are null up to rounding.", k=null, all=len(self.answers)
            )
        said = text(
            "{k} of {all} directions are null, by the rank of the change of the outputs.",
            k=null,
            all=len(self.answers),
        )
        if undecided := self.answers.count(UNDECIDED):
            more = text("{k} cannot be decided in float64.", k=undecided)
            said = text("{some} {more}", some=said, more=more)
        if self.lost:
            more = text("{k} more are not null, but below the line.", k=self.lost)
            said = text("{some} {more}", some=said, more=more)
        return said


def rounding(model: ModelSpectrum) -> float:
    """The eigenvalue of a model up to which there is only rounding."""
    return ROUNDING * (float(model.values[0]) or 1.0)


def compute(settings: Settings, progress: Progress) -> LayerSpectrum:
    """The spectrum of a layer that ships; counting its null directions would take too long."""
    wanted = {"family": FAMILY, "eigenvalues": None, "null_directions": False}
    report = report_of(settings, progress=progress, **wanted)
    progress.require_whole()
    found = LayerSpectrum.of(report, EXAMPLES[settings.layer].title, FAMILY)
    if found is None:
        raise Refusal(fisher_takes(report.layer))
    return found


def table(result: LayerSpectrum) -> Table:
    """All eigenvalues that were computed."""
    rows = tuple(
        (i, float(value), float(share), answer)
        for i, (value, share, answer) in enumerate(
            zip(result.model.values, result.model.shares, result.answers, strict=True), start=1
        )
    )
    columns = ("index", "eigenvalue", "share_of_trace_so_far", "direction")
    return Table(columns, rows, result.title, notes=(result.of_null,))


def _cost(settings: Settings) -> Cost:
    # Neurons that are apart, each a small matrix, take next to no time; others about half of this.
    all_together = eigenvalues(SIZE)
    return cost(settings) + replace(all_together, seconds=all_together.seconds / 2)


SIZE = 800
"""Weights of a layer that ships, at most."""

STUDY = Study(
    "layer_spectrum",
    title=text("The spectrum of F of the layer"),
    source=text("section 5.2.1, Eq. 9, and section 5.2.2"),
    alt=text(
        "Eigenvalues of the Fisher information of the weights of a layer, largest first, on a "
        "logarithmic axis. A dotted line is the rounding of float64; a cross on it is a null "
        "direction."
    ),
    uses=("layer", *CHOICES),
    compute=compute,
    cost=_cost,
    table=table,
    observed=lambda result: str(result.of_null),
)
