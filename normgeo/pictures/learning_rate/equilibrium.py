"""Where the growth of the weights and their decay balance: in a simulation, and on real data.

Both run with the same η and λ, and the simulation with the √Γ that the real runs have come to, so
that one norm and one angle are predicted for both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.text import text
from normgeo.dynamics.equilibrium import (
    Balance,
    settled_cosine,
    settled_gradient,
    simulate_balance,
)
from normgeo.dynamics.optimizer import Equilibrium
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.dynamics.trajectory import Trajectory
from normgeo.pictures.learning_rate.block_on_data import BLOCK, block_on_data
from normgeo.pictures.learning_rate.descent import RUN, STARTS, endings, silent, train_from
from normgeo.pictures.learning_rate.equilibrium_figure import Course, equilibrium_figure
from normgeo.pictures.learning_rate.rates import (
    FIRST_TURN,
    MINI_BATCH,
    batch_for_run,
    batch_words,
    decay_for_run,
    rate_for_run,
)
from normgeo.pictures.style.template import Figure
from normgeo.pictures.view import DATA, Progress, View
from normgeo.settings import Settings
from normgeo.tables.table import Table

FEWEST = 4  # steps of a run that has a second half to speak of


class EquilibriumPicture(NamedTuple):
    """Runs with weight decay from three norms, simulated and on data.

    Attributes:
        simulated: with a gradient as theory has it. real: of a model on data.
        block: whose norm and angle are shown. size: K·D, how many weights it has.
        gradient_norm: √Γ, the root mean square over the second half of the real runs.
        predicted: the norm and the angle of the equilibrium; None without a law.
        name, symbol: of the block and its norm. data: its title. batches: what a step sees.
        notes: sentences for the reader.

    """

    simulated: tuple[Balance, ...]
    real: tuple[Trajectory, ...]
    block: int
    size: int
    gradient_norm: float
    predicted: Equilibrium | None
    name: str
    symbol: str
    data: str
    batches: str
    notes: tuple[str, ...]

    def courses(self) -> tuple[list[Course], list[Course]]:
        """Return norm and angle by step, simulated and real."""
        return (
            [Course(run.norms, run.angles) for run in self.simulated],
            [
                Course(run.norms[:, self.block], run.angles[:, self.block], run.diverged)
                for run in self.real
            ],
        )

    def mean_cosine(self) -> float:
        """Return the geometric mean of cos θ over the last halves of the real runs."""
        return settled_cosine(self.real, self.block)


def _equilibrium(settings: Settings, tell: Progress = silent) -> EquilibriumPicture:
    it = block_on_data(settings)
    cases, optimizer = len(it.X), OPTIMIZERS[settings.optimizer]
    steps = max(settings.steps, FEWEST)
    rate = rate_for_run(settings, it, optimizer, FIRST_TURN)
    decay = decay_for_run(settings, rate, min(0.5, optimizer.settling / steps))
    batch = batch_for_run(settings, cases, MINI_BATCH)
    real = train_from(STARTS, it, settings, tell, rate=rate, decay=decay, batch=batch)
    whole = [run for run in real if run.steps >= FEWEST]
    if not whole:
        raise ValueError(
            text(
                "An equilibrium takes {least} steps or more, and the runs have {steps}. Take more "
                "steps, or a smaller step size η.",
                least=FEWEST,
                steps=max(run.steps for run in real),
            )
        )
    gradient_norm = settled_gradient(whole, it.block)
    size = real[0].blocks.neurons.shape[1] * it.X.shape[1]
    simulated = tuple(
        simulate_balance(
            optimizer,
            rate=rate,
            decay=decay,
            gradient_norm=gradient_norm,
            weights=max(3, size),
            norm=norm,
            steps=steps,
            seed=settings.seed,
        )
        for norm in STARTS
    )
    predicted = optimizer.equilibrium(rate, decay, np.asarray(gradient_norm), size)
    return EquilibriumPicture(
        simulated,
        real,
        it.block,
        size,
        gradient_norm,
        predicted,
        it.name,
        it.symbol,
        it.data,
        batch_words(batch, cases),
        real[0].notes,
    )


def _equilibrium_figure(picture: EquilibriumPicture, theme: str) -> Figure:
    simulated, real = picture.courses()
    first = picture.real[0]
    return equilibrium_figure(
        simulated,
        real,
        picture.predicted,
        first.start.normalizer,
        symbol=picture.symbol,
        about=about(picture),
        data=text("{data}, {batches}", data=picture.data, batches=picture.batches),
        assumes=first.optimizer.equilibrium_assumes,
        theme=theme,
    )


def about(picture: EquilibriumPicture) -> str:
    """Return what runs, in a line."""
    run = picture.real[0]
    return text(
        "<b>{method}</b>, {name}: {optimizer}, η = {rate:.3g}, λ = {decay:.3g}, ηλ = {share:.3g}",
        method=run.start.normalizer.title,
        name=picture.name,
        optimizer=run.optimizer.title,
        rate=run.rate,
        decay=run.decay,
        share=run.rate * run.decay,
    )


def _equilibrium_table(picture: EquilibriumPicture) -> Table:
    """Return a row for each run and step; the angle is that of the step to come."""
    rows: list[tuple[object, ...]] = []
    predicted: tuple[float | None, float | None] = (None, None)
    if picture.predicted is not None:
        predicted = (float(picture.predicted.norm), float(picture.predicted.angle))
    for kind, courses in zip(("simulation", "real data"), picture.courses(), strict=True):
        for start, course in zip(STARTS, courses, strict=True):
            angles = [*course.angles.tolist(), None]
            steps = zip(course.norms.tolist(), angles, strict=True)
            rows += [
                (kind, start, step, norm, predicted[0], angle, predicted[1])
                for step, (norm, angle) in enumerate(steps)
            ]
    run = picture.real[0]
    title = text(
        "{method}: {optimizer}, η = {rate:g}, λ = {decay:g}, Γ = {square:g}; angles in radians",
        method=run.start.normalizer.title,
        optimizer=run.optimizer.title,
        rate=run.rate,
        decay=run.decay,
        square=picture.gradient_norm**2,
    )
    columns = ("run", "start", "step", "norm", "equilibrium_norm", "angle", "equilibrium_angle")
    notes = (run.optimizer.equilibrium_assumes, *endings(picture.real, picture.block))
    return Table(columns, tuple(rows), title=title, notes=notes)


EQUILIBRIUM = View(
    "equilibrium",
    text("Growth and weight decay balance"),
    (*DATA, *BLOCK, *RUN, "optimizer", "decay"),
    _equilibrium,
    _equilibrium_figure,
    _equilibrium_table,
    watched=_equilibrium,
)
