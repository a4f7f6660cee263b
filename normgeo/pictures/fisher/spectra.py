"""The eigenvalues of the Fisher information: standard beside normalized."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.progress import Progress, Stop
from normgeo.base.text import text
from normgeo.fisher.operator import Fisher, fisher
from normgeo.fisher.spectrum import ROUNDING, Spectrum, spectrum
from normgeo.fisher.which import WhichFisher
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.captions import USES
from normgeo.pictures.fisher.beside_standard import BesideStandard, cost_beside_standard
from normgeo.pictures.picture import Study
from normgeo.pictures.work import Sizes, eigenvalues, times
from normgeo.settings import Settings
from normgeo.tables.table import Table

ALL = 1024  # parameters up to which every eigenvalue is computed
MOST = 100  # of the largest, above it
LANCZOS = 1000  # products with F that those take at most, as measured
MOST_OF = 0.9  # of the trace


@final
@dataclass(frozen=True, eq=False)
class ModelSpectrum:
    """The spectrum of one model.

    Attributes:
        normalizer: its method. spectrum: None where the computation was stopped.

    """

    normalizer: Normalizer
    spectrum: Spectrum | None

    @property
    def values(self) -> Array:
        """The eigenvalues, descending."""
        return np.zeros(0) if self.spectrum is None else self.spectrum.values

    @property
    def shares(self) -> Array:
        """The part of the trace that the first eigenvalues carry together, for each number."""
        trace = self.spectrum.trace if self.spectrum else 0.0
        shares: Array = np.cumsum(self.values) / (trace or 1.0)
        return shares

    @property
    def carriers(self) -> int | None:
        """How many eigenvalues carry `MOST_OF` the trace; None where those here do not."""
        number = int(np.searchsorted(self.shares, MOST_OF)) + 1
        return number if number <= len(self.values) else None


@final
@dataclass(frozen=True, eq=False)
class Spectra:
    """The spectra of both models.

    Attributes:
        models: the standard one first. caption: data, family, sizes.
        which: the Fisher information. notes: for the reader.

    """

    models: tuple[ModelSpectrum, ...]
    caption: str
    which: WhichFisher
    notes: tuple[str, ...]

    @property
    def largest(self) -> float:
        """The largest eigenvalue of both; 1 where there is none."""
        return max((float(each.values[0]) for each in self.models if each.spectrum), default=0) or 1

    @property
    def rounding(self) -> float:
        """An eigenvalue up to this is rounding."""
        return ROUNDING * self.largest


def compute(settings: Settings, progress: Progress) -> Spectra:
    """The spectra of both models."""
    both = BesideStandard.of(settings)
    models = []
    for m, it in enumerate(both.models):
        part = progress.part(m, len(both.models))
        found = None if progress.stopped else _spectrum(fisher(it.model, it.X), part)
        models.append(ModelSpectrum(it.model.normalizer, found))
    notes = both.notes
    if any(each.spectrum is not None and not each.spectrum.complete for each in models):
        notes = (text("The {k} largest eigenvalues.", k=MOST), *notes)
    return Spectra(tuple(models), both.caption, both.which, notes)


def _spectrum(F: Fisher, progress: Progress) -> Spectrum | None:
    with suppress(Stop):
        return spectrum(F, None if F.layout.size <= ALL else MOST, progress=progress)
    return None


def table(result: Spectra) -> Table:
    """All eigenvalues that were computed."""
    rows = tuple(
        (each.normalizer.title, i, float(value), float(share))
        for each in result.models
        for i, (value, share) in enumerate(zip(each.values, each.shares, strict=True), start=1)
    )
    columns = ("method", "index", "eigenvalue", "share_of_trace_so_far")
    title = text("Eigenvalues of F; {about}", about=result.caption)
    return Table(columns, rows, title, notes=(str(result.which),))


def _cost(settings: Settings) -> Cost:
    """Both matrices with all their eigenvalues, or products for the largest."""
    sizes = Sizes.of(settings, "standardized", apart=True)
    if sizes.parameters <= ALL + 2 * sizes.H:
        size = min(sizes.parameters, ALL)
        return cost_beside_standard(settings, 1, size / 8) + times(2, eigenvalues(size))
    return cost_beside_standard(settings, matrices=1, evaluations=LANCZOS)


STUDY = Study(
    "spectra",
    title=text("The spectrum of the Fisher information"),
    source=text("section 5.2.1, Eq. 9"),
    alt=text(
        "Eigenvalues of the Fisher information of both models, largest first, on a logarithmic "
        "axis, and the share of the trace that the largest carry."
    ),
    uses=USES,
    compute=compute,
    table=table,
    cost=_cost,
)
