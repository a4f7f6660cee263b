"""How far a change of the state reaches back in each cell, without and with normalization."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number, power_of_ten
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.claims.examples import with_eps
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.captions import listed
from normgeo.pictures.picture import Study
from normgeo.pictures.recurrent.recurrences import SEQUENCES, STAYS, sequences
from normgeo.pictures.recurrent.sequence_runs import EPS, Setup, methods
from normgeo.pictures.work import BASE, CALLS, ENTRIES, PRODUCTS
from normgeo.sequences.cells import CELLS
from normgeo.sequences.layer import CellLayer
from normgeo.sequences.state_jacobians import cell_jacobian_norms
from normgeo.sequences.through_time import run_cell
from normgeo.settings import Settings
from normgeo.tables.table import Table

POINTS = 65


class Reaching(NamedTuple):
    """What each cell hands on.

    Attributes:
        times: t, (K,), up to T. curves: by the key of the cell, then by the method, log₁₀ of
            ‖∂state^T/∂state^t‖, the median over the sequences, (K,).
        methods: by key. neurons: H. gain: what every gain is.

    """

    times: Array
    curves: dict[str, dict[str, Array]]
    methods: dict[str, Normalizer]
    neurons: int
    gain: float

    @property
    def said(self) -> tuple[str, ...]:
        """In how many cells a change dies, and in how many it explodes, with each method."""
        if not any(self.curves.values()):
            return ()
        dies = self._counted(lambda log: log < -STAYS)
        explodes = self._counted(lambda log: log > STAYS)
        return (
            text(
                "In {T} steps a change of the state dies in {cells}.",
                T=int(self.times[-1]),
                cells=dies or text("no cell"),
            ),
            text("It explodes in {cells}.", cells=explodes or text("no cell")),
        )

    def _counted(self, passes: Callable[[float], bool]) -> str:
        """How many cells meet a condition with each method; "" for none."""
        parts = []
        for key, normalizer in self.methods.items():
            met = [passes(float(own[key][0])) for own in self.curves.values() if key in own]
            if any(met):
                counts = {"met": sum(met), "cells": len(met)}
                parts.append(
                    text("{met} of {cells} cells ({name})", **counts, name=normalizer.title)
                )
        return listed(parts) if parts else ""

    @property
    def about(self) -> str:
        """In a line."""
        return text(
            "dies: below × {least}; explodes: above × {most}; digits read row by row for T = {T} "
            "steps; {H} neurons, gains {gain}, ε = {eps}, weights as they are drawn",
            least=number(10**-STAYS),
            most=number(10**STAYS),
            T=int(self.times[-1]),
            H=self.neurons,
            gain=number(self.gain),
            eps=number(EPS),
        )


def compute(settings: Settings, progress: Progress) -> Reaching:
    """Run each cell with each method; a stop ends it after a cell."""
    H, T, gain = Setup.of(settings).neurons, settings.length, settings.first_gain
    compared = methods(settings)
    rows = sequences()
    X = rows[:, np.arange(T) % rows.shape[1]]
    curves: dict[str, dict[str, Array]] = {}
    times = np.array([0, T])
    for place, key in enumerate(CELLS):
        if progress.stopped:
            break
        own: dict[str, Array] = {}
        for i, (name, normalizer) in enumerate(compared.items()):
            part = progress.part(place, len(CELLS)).part(i, len(compared))
            rng = np.random.default_rng(settings.seed)
            layer = CellLayer.random(key, with_eps(normalizer, EPS), H, X.shape[2], rng, gain=gain)
            start = rng.standard_normal((layer.cell.states, SEQUENCES, H))
            run = run_cell(layer, X, tuple(start))
            found = cell_jacobian_norms(run, points=POINTS, progress=part)
            if found.times[0] == 0:
                times, own[name] = found.times, np.median(found.log10_norms, axis=1)
        curves[key] = own
    return Reaching(times, curves, compared, H, gain)


def _table(result: Reaching) -> Table:
    rows = [
        (CELLS[cell].title, result.methods[method].title, int(t), float(log))
        for cell, own in result.curves.items()
        for method, logs in own.items()
        for t, log in zip(result.times, logs, strict=True)
    ]
    return Table(("cell", "method", "t", "log10_norm"), tuple(rows), result.about)


def _observed(result: Reaching) -> str:
    """Say how much of a first change is left at the end, for each cell and method."""
    T = int(result.times[-1])
    return " ".join(
        text(
            "{cell}, {method}: after {T} steps a change is {size} times as large.",
            cell=CELLS[cell].title,
            method=result.methods[method].title,
            T=T,
            size=power_of_ten(float(logs[0])) if np.isfinite(logs[0]) else number(0),
        )
        for cell, own in result.curves.items()
        for method, logs in own.items()
    )


def cost(settings: Settings) -> Cost:
    """Products of Jacobians of every cell, and their norms."""
    H = Setup.of(settings).neurons
    states = np.array([H * cell.states for cell in CELLS.values()])
    widths = np.array([H * sum(p.gates for p in cell.products) for cell in CELLS.values()])
    entries = SEQUENCES * states * (widths * (2 * H / PRODUCTS + 3 / ENTRIES))
    norms = SEQUENCES * min(POINTS, settings.length) / settings.length * 3 * states**3 / PRODUCTS
    each = float((entries + norms + CALLS).sum())
    seconds = len(methods(settings)) * settings.length * each
    return BASE + Cost(bytes=float(8 * 8 * SEQUENCES * (states * widths).max()), seconds=seconds)


STUDY = Study(
    name="cells",
    title=text("How far a change of the state reaches back in each cell"),
    source=text("section 3.1 and the appendix, Eq. 20 to 25"),
    alt=text(
        "Three panels, for the tanh cell, the LSTM and the GRU: the size of the derivative of the "
        "last state in an earlier one against the time of the earlier one, a line for each method. "
        "A level line remembers; one that falls toward the left has forgotten."
    ),
    uses=("first_gain", "method", "neurons", "length", "seed"),
    compute=compute,
    table=_table,
    observed=_observed,
    cost=cost,
)
