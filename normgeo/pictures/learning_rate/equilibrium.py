"""Where the growth of the weights and their decay balance: in a simulation, and on real data.

Both run with the same η and λ, and the simulation with the √Γ that the real runs have come to, so
that one norm and one angle are predicted for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Ended, Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.dynamics.equilibrium import (
    Balance,
    settled,
    settled_cosine,
    settled_gradient,
    simulate_balance,
)
from normgeo.dynamics.optimizer import Equilibrium
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.dynamics.trajectory import Trajectory
from normgeo.pictures.learning_rate.block_on_data import BLOCK, block_on_data, sizes_of_block
from normgeo.pictures.learning_rate.runs import (
    MINI_BATCH,
    ONLY,
    RUN,
    STARTS,
    batch_for_run,
    batch_words,
    cost_of_runs,
    decay_for_run,
    endings,
    rate_for_run,
    train_from,
)
from normgeo.pictures.picture import DATA, Study
from normgeo.pictures.work import CALLS, ENTRIES
from normgeo.settings import Settings
from normgeo.tables.table import Table

FEWEST = 4  # steps of a run that has a second half to speak of


class BlockRun(NamedTuple):
    """One block of weights in a run of T steps, simulated or real.

    Attributes:
        norms: ‖w‖, (T+1,). angles: radians, (T,). ended: why it ended early.

    """

    norms: Array
    angles: Array
    ended: Ended | None = None

    @property
    def settled(self) -> Equilibrium:
        """The norm and the angle that the run has come to; NaN without a step."""
        return settled(self.norms, self.angles)


class Settled(NamedTuple):
    """What several runs have come to.

    Attributes:
        norm, angle: the means, radians. norm_off, angle_off: the largest |measured/predicted − 1|,
            None without a law.

    """

    norm: float
    angle: float
    norm_off: float | None
    angle_off: float | None


@final
@dataclass(frozen=True, eq=False)
class Equilibria:
    """Runs with weight decay from three norms, simulated and on data.

    Attributes:
        simulated: with a gradient as theory has it. real: of a model on data.
        block: the place in them of the one that is shown. size: K·D, how many weights it has.
        gradient_norm: √Γ, the root mean square over the last half of the real runs.
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

    @property
    def simulated_runs(self) -> tuple[BlockRun, ...]:
        """Norm and angle by step of the simulation."""
        return tuple(BlockRun(run.norms, run.angles) for run in self.simulated)

    @property
    def real_runs(self) -> tuple[BlockRun, ...]:
        """Norm and angle by step on real data."""
        return tuple(
            BlockRun(run.norms[:, self.block], run.angles[:, self.block], run.diverged)
            for run in self.real
        )

    def settled(self, runs: Sequence[BlockRun]) -> Settled:
        """What those of the runs have come to that took a step, and how far off it is."""
        ends = [run.settled for run in runs if len(run.angles)]
        norms, angles = (np.array([end[i] for end in ends]) for i in (0, 1))
        norm_off = angle_off = None
        if self.predicted is not None:
            norm_off = float(np.abs(norms / self.predicted.norm - 1).max())
            angle_off = float(np.abs(angles / self.predicted.angle - 1).max())
        return Settled(float(norms.mean()), float(angles.mean()), norm_off, angle_off)

    def mean_cosine(self) -> float:
        """The geometric mean of cos θ over the last halves of the real runs."""
        return settled_cosine(self.real, self.block)


def _compute(settings: Settings, progress: Progress) -> Equilibria:
    it = block_on_data(settings)
    cases, optimizer = len(it.X), OPTIMIZERS[settings.optimizer]
    steps = max(settings.steps, FEWEST)
    rate = rate_for_run(settings, it, optimizer)
    decay = decay_for_run(settings, rate, min(0.5, optimizer.settling / steps))
    batch = batch_for_run(settings, cases, MINI_BATCH)
    real = train_from(STARTS, it, settings, progress, rate=rate, decay=decay, batch=batch)
    whole = [run for run in real if run.steps >= FEWEST]
    if not whole:
        raise Refusal(
            "An equilibrium takes {least} steps or more, and the runs have {steps}. Take "
            "more steps, or a smaller learning rate η.",
            least=FEWEST,
            steps=max(run.steps for run in real),
        )
    gradient_norm = settled_gradient(whole, ONLY)
    size = len(it.objective.own)
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
    return Equilibria(
        simulated,
        real,
        ONLY,
        size,
        gradient_norm,
        predicted,
        it.name,
        it.symbol,
        it.data,
        batch_words(batch, cases),
        real[0].notes,
    )


def _table(result: Equilibria) -> Table:
    """Return a row for each run and step; the angle is that of the step to come."""
    rows: list[tuple[object, ...]] = []
    norm_star: float | None = None
    angle_star: float | None = None
    if result.predicted is not None:
        norm_star, angle_star = float(result.predicted.norm), float(result.predicted.angle)
    for kind, runs in (("simulation", result.simulated_runs), ("real data", result.real_runs)):
        for start, run in zip(STARTS, runs, strict=True):
            steps = zip(run.norms.tolist(), [*run.angles.tolist(), None], strict=True)
            rows += [
                (kind, start, step, norm, norm_star, angle, angle_star)
                for step, (norm, angle) in enumerate(steps)
            ]
    first = result.real[0]
    title = text(
        "{method}: {optimizer}, η = {rate}, λ = {decay}, Γ = {square}; angles in radians",
        method=first.start.normalizer.title,
        optimizer=first.optimizer.title,
        rate=number(first.rate, 6),
        decay=number(first.decay, 6),
        square=number(result.gradient_norm**2, 6),
    )
    columns = ("run", "start", "step", "norm", "equilibrium_norm", "angle", "equilibrium_angle")
    notes = (first.optimizer.equilibrium_assumes, *endings(result.real, result.block))
    return Table(columns, tuple(rows), title=title, notes=notes)


def _observed(result: Equilibria) -> str:
    """Say which norm and angle the runs have come to, and which were predicted."""
    sentences = []
    for name, runs in (
        (text("In the simulation"), result.simulated_runs),
        (text("On real data"), result.real_runs),
    ):
        if any(len(run.angles) for run in runs):
            ends = result.settled(runs)
            sentences.append(
                text(
                    "{name} the norms are {norm} and the angles {angle}° on average.",
                    name=name,
                    norm=number(ends.norm),
                    angle=number(float(np.degrees(ends.angle))),
                )
            )
    if result.predicted is not None:
        sentences.append(
            text(
                "Predicted are {norm} and {angle}°.",
                norm=number(float(result.predicted.norm)),
                angle=number(float(np.degrees(result.predicted.angle))),
            )
        )
    return " ".join(sentences)


def _cost(settings: Settings) -> Cost:
    """A run from each norm, real and simulated."""
    sizes = sizes_of_block(settings)
    weights_of_block = sizes.D * (sizes.H if settings.normalizer.shared_by_neurons else 1)
    steps = len(STARTS) * max(settings.steps, FEWEST)
    simulated = Cost(seconds=steps * (CALLS + 20 * weights_of_block / ENTRIES))
    return cost_of_runs(settings, len(STARTS), MINI_BATCH) + simulated


STUDY = Study(
    name="equilibrium",
    title=text("Growth and weight decay balance"),
    source=text("van Laarhoven 2017; Wan et al. 2021; Kosson et al. 2024"),
    alt=text(
        "Norm of the weights and angle per step against the step, from norms 1, 2 and 4, in a "
        "simulation and on real data, beside the dashed prediction where there is a law."
    ),
    uses=(*DATA, *BLOCK, *RUN, "optimizer", "decay"),
    compute=_compute,
    table=_table,
    observed=_observed,
    cost=_cost,
)
