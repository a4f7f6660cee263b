"""Runs of training from several norms: what the settings leave open, the runs, and their ends.

All pictures of the page have one learning rate of gradient descent: the settings' `rate`, or where
that is 0 one whose first step, at ‖w‖ = 1, turns the weights by an angle that a reader can see.
"""

from __future__ import annotations

from collections.abc import Sequence

from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.dynamics.descent import descend
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.dynamics.trajectory import Trajectory
from normgeo.normalizers.blocks import Blocks
from normgeo.pictures.learning_rate.block_on_data import BlockOnData, at_norm, sizes_of_block
from normgeo.pictures.work import BYTES, ENTRIES, weights
from normgeo.settings import Settings

RUN = ("rate", "steps", "mini_batch")  # the settings of a run, whatever its optimizer
STARTS = (1.0, 2.0, 4.0)  # norms that runs of one function begin from
MINI_BATCH = 32
ONLY = 0  # the place of the block in runs that measure no other


def rate_for_run(settings: Settings, it: BlockOnData, optimizer: Optimizer) -> float:
    """Return η: as set, or the one that an optimizer suggests, for all parameters together.

    With it the longest first step of a block, of b or of g turns by what the optimizer takes for a
    first step.
    """
    if settings.rate:
        return settings.rate
    model = it.model
    dW, db, dg = model.layout.split(model.gradient(it.X, it.y))
    blocks = Blocks.of(model.normalizer, len(model.W)).vectors(dW)
    others = (db,) if dg is None else (db, dg)
    return optimizer.suggested_rate(optimizer.first_turn, blocks, others)


def decay_for_run(settings: Settings, rate: float, share: float) -> float:
    """Return λ > 0 as set, or one with which decay takes a share ηλ of the weights at each step.

    Raises:
        ValueError: a decay of 0, or ηλ ≥ 1.

    """
    decay = share / rate if settings.decay is None else settings.decay
    if decay == 0:
        raise Refusal(
            "Without weight decay nothing stops the growth of the norm, so there is no "
            "balance to show. Choose a weight decay λ above 0, or leave the field empty.",
            way_out={"decay": None},
        )
    if rate * decay >= 1:
        raise Refusal(
            "A step of decay multiplies the weights by 1 − ηλ, which must be above 0 to "
            "keep their direction; got η = {rate} and λ = {decay}, so ηλ = {product}. "
            "Choose a smaller λ, or leave the field empty.",
            rate=number(rate, 4),
            decay=number(decay, 4),
            product=number(rate * decay, 4),
            way_out={"decay": None},
        )
    return decay


def batch_for_run(settings: Settings, cases: int, suggested: int = 0) -> int | None:
    """Return m as set, or the suggested one; None stands for all cases.

    Raises:
        ValueError: more cases than there are.

    """
    size = settings.mini_batch
    if size is None:
        size = min(suggested, cases // 4)
    if size > cases:
        raise Refusal(
            "A mini-batch has at most the {cases} cases of the data, not {size}. "
            "Choose a smaller one, or 0 for all cases.",
            cases=cases,
            size=size,
            way_out={"mini_batch": None},
        )
    return size if 0 < size < cases else None


def batch_words(size: int | None, cases: int) -> str:
    """Return what each step sees, in words."""
    if size is None:
        return text("all {cases:,} cases", cases=cases)
    return text("mini-batches of {size}", size=size)


def train_from(
    starts: Sequence[float],
    it: BlockOnData,
    settings: Settings,
    progress: Progress,
    *,
    rate: float,
    decay: float = 0.0,
    batch: int | None,
    optimizer: Optimizer | None = None,
    checkpoint_bytes: float = 0,
) -> tuple[Trajectory, ...]:
    """Train one function from several norms of its weights; one stop ends all runs.

    By the settings' optimizer where none is given. The runs are those of the block alone.
    """
    return tuple(
        descend(
            at_norm(it.model, norm),
            it.X,
            it.y,
            OPTIMIZERS[settings.optimizer] if optimizer is None else optimizer,
            steps=settings.steps,
            rate=rate,
            decay=decay,
            batch_size=batch,
            seed=settings.seed,
            block=it.block,
            checkpoint_bytes=checkpoint_bytes,
            progress=progress.part(place, len(starts)),
        )
        for place, norm in enumerate(starts)
    )


def start_of(run: Trajectory, block: int) -> float:
    """The norm of a block that a run began from."""
    return float(run.norms[0, block])


def endings(runs: Sequence[Trajectory], block: int) -> tuple[str, ...]:
    """A sentence on each run that ended early."""
    return tuple(
        text(
            "From {norm} ended at step {step}: {reason}",
            norm=number(start_of(run, block)),
            step=run.diverged.step,
            reason=run.diverged.reason,
        )
        for run in runs
        if run.diverged
    )


def cost_of_runs(
    settings: Settings, runs: int, suggested: int = 0, checkpoint_bytes: float = 0
) -> Cost:
    """What so many runs take, each of the settings' steps in batches as of `batch_for_run`."""
    sizes = sizes_of_block(settings)
    batch = batch_for_run(settings, sizes.N, suggested)
    kept = min(BYTES * settings.steps * sizes.parameters, checkpoint_bytes)
    # An optimizer goes through all parameters some 20 times; a step is some 40 numbers.
    update = 20 * settings.steps * sizes.parameters / ENTRIES
    measured = 40 * BYTES * settings.steps
    return (
        weights(settings, sizes)
        + Cost(4 * kept + runs * measured, runs * update)
        + sizes.evaluations(1)
        + sizes.of_cases(batch).evaluations(runs * settings.steps)
    )
