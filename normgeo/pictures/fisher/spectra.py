"""The eigenvalues of the Fisher information: standard beside normalized."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from normgeo.base.progress import Stop
from normgeo.base.text import text
from normgeo.fisher.operator import fisher
from normgeo.fisher.spectrum import Spectrum, spectrum
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.fisher.pair import USES, about, pair, unusual, which_fisher
from normgeo.pictures.fisher.spectra_figure import spectra_figure
from normgeo.pictures.style.template import Figure
from normgeo.pictures.view import Progress, View, progress_of
from normgeo.settings import Settings
from normgeo.tables.table import Table

ALL = 1024  # parameters up to which every eigenvalue is computed
MOST = 100  # of the largest, above it


class SpectraPicture(NamedTuple):
    """The spectra of both models.

    Attributes:
        methods: normalizers with what is unusual about them. spectra: theirs; None where stopped.
        about: data, family, sizes. which: the Fisher information. notes: for the reader.

    """

    methods: tuple[tuple[Normalizer, str], ...]
    spectra: tuple[Spectrum | None, ...]
    about: str
    which: str
    notes: tuple[str, ...]


def _spectra(settings: Settings, callback: Progress | None = None) -> SpectraPicture:
    both = pair(settings)
    models, progress = len(both.scenes), progress_of(callback)
    found: list[Spectrum | None] = []
    notes = list(both.notes)
    for place, it in enumerate(both.scenes.values()):
        F = fisher(it.model, it.X)
        k = None if F.layout.size <= ALL else MOST
        with suppress(Stop):
            found.append(spectrum(F, k, progress=progress.part(place, models)))
        if progress.stopped:
            found += [None] * (models - len(found))
            break
    if any(s is not None and not s.complete for s in found):
        notes.insert(
            0, text("The {k} largest eigenvalues, by Lanczos from products with F.", k=MOST)
        )
    methods = tuple(
        (it.model.normalizer, unusual(it.model.normalizer)) for it in both.scenes.values()
    )
    which = which_fisher(fisher(both.normalized.model, both.normalized.X))
    return SpectraPicture(methods, tuple(found), about(both.normalized), which, tuple(notes))


def _figure(picture: SpectraPicture, theme: str) -> Figure:
    return spectra_figure(
        picture.methods, picture.spectra, about=picture.about, which=picture.which, theme=theme
    )


def _table(picture: SpectraPicture) -> Table:
    rows = tuple(
        (normalizer.title, i, float(value), float(share))
        for (normalizer, _), s in zip(picture.methods, picture.spectra, strict=True)
        if s is not None
        for i, (value, share) in enumerate(
            zip(s.values, np.cumsum(s.values) / (s.trace or 1.0), strict=True), start=1
        )
    )
    return Table(
        ("method", "index", "eigenvalue", "share_of_trace_so_far"),
        rows,
        text("Eigenvalues of F; {about}", about=picture.about),
        notes=(picture.which,),
    )


SPECTRA = View(
    "spectra",
    text("The spectrum of the Fisher information"),
    USES,
    _spectra,
    _figure,
    _table,
    watched=_spectra,
)
