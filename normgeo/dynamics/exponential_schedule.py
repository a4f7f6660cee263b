"""Weight decay as an exponential learning rate schedule: two runs with the same directions.

Gradient descent with rate η and decay λ on W gives the same directions w̃/‖w̃‖, and so the same
function at every step, as descent without decay and with the rates

    η_t = η (1 − ηλ)^(−2t−1),    t from 0,

while g and b keep η and no decay: the second run's w̃_t is the first one's over (1 − ηλ)^t.
Exact at ε = 0; rounding parts two runs that are chaotic. Source: Li and Arora, An Exponential
Learning Rate Schedule for Deep Learning, 2019, whose theorem includes momentum β: there the rates
are η α^(−2t−1), with α the larger root of α² − (1 + β − ηλ)α + β.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, real_number
from normgeo.base.arrays import Array
from normgeo.base.progress import Progress, Report
from normgeo.base.refusal import Refusal
from normgeo.dynamics.descent import CHECKPOINT_BYTES, descend
from normgeo.dynamics.schedules import Exponential
from normgeo.dynamics.trajectory import Trajectory
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.blocks import Blocks, angles_between


@final
@dataclass(frozen=True, eq=False)
class DecayAsSchedule:
    """A run with weight decay, and the one with an exponential schedule in its place.

    Attributes:
        decayed, scheduled: the two runs, over B blocks.
        kept: the compared steps, (C,): those that both runs keep.
        angles: between the w̃ of both runs, radians, (C, B) for all blocks.
        growth: ‖w̃‖ of the scheduled run divided by that of the decayed one, for the measured
            blocks.
        tolerance: the angle above which the runs count as different, radians.

    """

    decayed: Trajectory
    scheduled: Trajectory
    kept: Array
    angles: Array
    growth: Array
    tolerance: float

    @property
    def predicted_growth(self) -> Array:
        """(1 − ηλ)^(−t), (C,)."""
        ratio: float = 1 - self.decayed.rate * self.decayed.decay
        growth: Array = ratio ** -self.kept.astype(float)
        return growth

    @property
    def parted(self) -> int | None:
        """The first step in `kept` at which an angle exceeds the tolerance, or None."""
        (indices,) = np.nonzero((self.angles > self.tolerance).any(axis=1))
        return int(self.kept[indices[0]]) if len(indices) else None


def decay_as_schedule(
    model: NormalizedGLM,
    X: ArrayLike,
    y: ArrayLike,
    *,
    rate: float = 0.1,
    decay: float = 0.01,
    steps: int = 100,
    batch_size: int | None = None,
    seed: int = 0,
    tolerance: float = 1e-9,
    block: int | None = None,
    checkpoint_bytes: float = CHECKPOINT_BYTES,
    progress: Report | Progress | None = None,
) -> DecayAsSchedule:
    """Run gradient descent with weight decay and gradient descent with the equivalent schedule.

    Args:
        model: the start; its weights must be in homogeneous blocks. X: (N, D). y: as the family
            takes it.
        rate: η. decay: λ > 0, with ηλ < 1. steps, batch_size, seed: as in `descend`.
        tolerance: the angle above which the runs count as different, radians.
        block, checkpoint_bytes: as in `descend`, of each run.
        progress: called with (steps done, steps of both runs); a stop ends both runs early.

    Raises:
        ValueError: bad arguments, or a normalizer without homogeneous blocks.

    """
    instance_of("model", model, NormalizedGLM)
    if not model.normalizer.homogeneous_blocks(len(model.W)):
        raise Refusal(
            "Weight decay is a growing learning rate only where the length of a block of "
            "weights leaves z alone; {method} has no such block. Use a normalizer with a scale "
            "that is not frozen.",
            method=model.normalizer.title,
        )
    rate, decay = real_number("rate", rate), real_number("decay", decay)
    tolerance = real_number("tolerance", tolerance, least=0)
    if not (rate > 0 and 0 < rate * decay < 1):
        raise Refusal(
            "`rate` and `decay` must be above 0 with a product below 1, so that decay shrinks "
            "the weights and keeps their direction; got rate={rate} and decay={decay}.",
            rate=rate,
            decay=decay,
        )
    kept, progress = 1 - rate * decay, Progress.of(progress)
    decayed, scheduled = (
        descend(
            model,
            X,
            y,
            steps=steps,
            rate=eta,
            affine_rate=rate,
            decay=shrink,
            batch_size=batch_size,
            seed=seed,
            block=block,
            checkpoint_bytes=checkpoint_bytes,
            progress=progress.part(index, 2),
        )
        for index, eta, shrink in (
            (0, rate, decay),
            (1, Exponential(rate / kept, kept**-2.0), 0.0),
        )
    )
    shared, first, second = np.intersect1d(decayed.kept, scheduled.kept, return_indices=True)
    U, V = (_vectors(run)[indices] for run, indices in ((decayed, first), (scheduled, second)))
    growth = scheduled.norms[shared] / decayed.norms[shared]
    return DecayAsSchedule(decayed, scheduled, shared, angles_between(U, V), growth, tolerance)


def _vectors(run: Trajectory) -> Array:
    """Return w̃ of every block at the steps in `kept`, (C, B, K·D)."""
    W = run.parameters[:, run.start.layout.weights].reshape(-1, *run.start.W.shape)
    return Blocks.of(run.start.normalizer, len(run.start.W)).vectors(W)
