"""The findings of a recorded run, block by block, beside the predictions for its optimizer."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import final

import numpy as np

from normgeo.base.arguments import instance_of, real_number
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.dynamics.optimizer import Course, Optimizer
from normgeo.dynamics.optimizers import optimizer_of
from normgeo.dynamics.rotational_equilibrium import RotationalEquilibrium, rotational_equilibrium
from normgeo.normalizers.blocks import lengths
from normgeo.recordings.recording import Recording

FROZEN = 0.01
"""Degrees per step below which a block is called frozen."""
WITHIN = 0.1
"""Largest relative distance of norm and angle from the equilibrium's that counts as near."""

_FEWEST = 4  # records with an angle, at least, for a meaningful last half


@final
@dataclass(frozen=True)
class BlockFinding:
    """One block over the last half of a run; NaN for an unknown number.

    Attributes:
        name: of the block. told: whether an optimizer is known. weights: their number.
        homogeneous: whether a norm follows it.
        norm, angle: root mean squares, the angle in radians from record to record.
        effective_rate: on the unit sphere, at the last record.
        sphere_gradient: √Γ = ‖w‖‖G‖, root mean square.
        norm_off: |predicted/measured − 1| of the last norm, predicted from the first one by the
            law of the optimizer. angle_off: the median of this error over all angles.
        balance: the equilibrium under the mean η and λ; None without decay or a law.
        balanced_angle: the angle at equilibrium, over as many steps as lie between records.
        approach: steps until the norm is near that of the equilibrium.
        broken: the step from which the norm is not finite, or −1.
        frozen, within: the thresholds of `verdict` for frozen, in radians, and for near.

    """

    name: str
    told: bool
    weights: int
    homogeneous: bool
    norm: float
    angle: float
    effective_rate: float
    sphere_gradient: float
    norm_off: float
    angle_off: float
    balance: RotationalEquilibrium | None
    balanced_angle: float
    approach: float
    broken: int
    frozen: float
    within: float

    @property
    def is_frozen(self) -> bool:
        """Whether its angle is below the threshold."""
        return self.angle < self.frozen

    @property
    def is_balanced(self) -> bool:
        """Whether angle and norm, as far as they are predicted, are near the equilibrium."""
        if self.balance is None:
            return False
        norm_off = abs(self.norm / self.balance.norm - 1)
        return abs(self.angle / self.balanced_angle - 1) <= self.within and not (
            norm_off > self.within
        )

    @property
    def verdict(self) -> str:
        """The state of the block, in a few words."""
        if self.broken >= 0:
            return text("not a number from step {step} on", step=self.broken)
        if not self.angle >= 0:
            return text("too short to tell")
        if self.is_frozen:
            return text("frozen")
        if not self.homogeneous:
            return text("no norm behind it: nothing is predicted")
        if not self.told:
            return text("no optimizer stated: nothing is predicted")
        if self.balance is None:
            return text("no balance without decay")
        if self.is_balanced:
            return text("in balance")
        if self.norm < (1 - self.within) * self.balance.norm:
            return text("its norm still grows")
        if self.norm > (1 + self.within) * self.balance.norm:
            return text("its norm still shrinks")
        if self.angle > self.balanced_angle:
            return text("turns more than random gradients would")
        if self.angle < self.balanced_angle:
            return text("turns less than random gradients would")
        return text("needs gradients for a prediction")


def findings(
    run: Recording,
    optimizer: str | Optimizer | None = None,
    *,
    frozen: float = FROZEN,
    within: float = WITHIN,
) -> tuple[BlockFinding, ...]:
    """Judge each block of a run by its last half.

    Args:
        run: what was recorded.
        optimizer: the rule of the run, in place of the recorded one. Without either, norms and
            angles are reported, and nothing is predicted.
        frozen: degrees from record to record, above 0. within: above 0 and below 1.

    Raises:
        ValueError: numbers outside these ranges, or a run without a record.

    """
    rule = optimizer_of_run(instance_of("run", run, Recording), optimizer)
    frozen = float(np.radians(real_number("frozen", frozen, above=0)))
    within = real_number("within", within, above=0, below=1)
    if not len(run.steps):
        raise Refusal(
            "A run is judged by its records, and this recording has none yet. Call `step` "
            "once for each step."
        )
    half = np.arange(len(run.steps) - max(1, len(run.steps) // 2), len(run.steps))
    norm_off, angle_off = _off(run, rule)
    homogeneous = np.array([tensor.blocks.homogeneous for tensor in run.tensors])[run.places]
    sizes = np.array([tensor.size for tensor in run.tensors])[run.places]
    enough = np.isfinite(run.angles).sum(axis=0) >= _FEWEST
    # If only the norm after the step is known, its error is of the size of the step.
    before = np.where(np.isfinite(run.norms_before), run.norms_before, run.norms)
    spheres = _root_mean_square((before * run.gradient_norms)[half])
    norms, angles = _root_mean_square(run.norms[half]), _root_mean_square(run.angles[half])
    found = []
    for b, name in enumerate(run.names):
        # Squared angles are proportional to η, so under a schedule the mean η gives their mean.
        rate, decay = float(run.rates[half, b].mean()), float(run.decays[half, b].mean())
        balance, turned, approach = None, nan, nan
        if rule is not None and homogeneous[b] and rate > 0 and 0 < rate * decay < 1:
            sphere = float(spheres[b])
            balance = rotational_equilibrium(
                rule,
                rate=rate,
                decay=decay,
                weights=int(sizes[b]),
                gradient_norm=sphere if np.isfinite(sphere) and sphere > 0 else None,
            )
        if balance is not None:
            turned = _turned(run, balance, half, b)
            last = float(run.norms[-1, b])
            if np.isfinite(balance.norm) and np.isfinite(last) and last > 0:
                approach = balance.steps_from(last, within)
        finite = np.isfinite(run.norms[:, b])
        effective = nan
        if rule is not None and homogeneous[b] and run.norms[-1, b] > 0:
            last_rates = run.rates[-1:, [b]], float(run.decays[-1, b]), run.norms[-1:, [b]]
            with np.errstate(all="ignore"):
                effective = float(rule.effective_rates(*last_rates)[0, 0])
        found.append(
            BlockFinding(
                name=name,
                told=rule is not None,
                weights=int(sizes[b]),
                homogeneous=bool(homogeneous[b]),
                norm=float(norms[b]),
                angle=float(angles[b]) if enough[b] else nan,
                effective_rate=effective,
                sphere_gradient=float(spheres[b]),
                norm_off=float(norm_off[b]),
                angle_off=float(angle_off[b]),
                balance=balance,
                balanced_angle=turned,
                approach=approach,
                broken=-1 if finite.all() else int(run.steps[np.argmin(finite)]),
                frozen=frozen,
                within=within,
            )
        )
    return tuple(found)


def optimizer_of_run(run: Recording, optimizer: str | Optimizer | None = None) -> Optimizer | None:
    """Return the given optimizer, or the recorded one; None if neither is known."""
    return run.optimizer if optimizer is None else optimizer_of(optimizer)


def _turned(run: Recording, balance: RotationalEquilibrium, half: Array, b: int) -> float:
    """The angle at equilibrium from record to record, over as many steps as lie between."""
    spans = run.spans[half]
    if (spans == 1).all():
        return balance.angle
    kept = (1 - balance.forgotten) ** spans[spans > 0]
    return float(_root_mean_square(np.arccos(kept)[:, None])[0]) if len(kept) else nan


def laws(run: Recording, optimizer: Optimizer | None) -> tuple[Array, Array]:
    """The norms (R, B) and angles (R − 1, B) predicted by the optimizer's laws; NaN without a law.

    The laws use the recorded η, λ and gradients, and only the first of the norms; the angles use
    the norm before each step. They need a record of each step.
    """
    norms = np.full(run.norms.shape, nan)
    angles = norms[1:].copy()
    if optimizer is None or not run.is_every_step or len(run.steps) < 2:
        return norms, angles
    for place, tensor in enumerate(run.tensors):
        own = np.flatnonzero(run.places == place)
        decays = run.decays[1:, own[0]]
        if not tensor.blocks.homogeneous or np.ptp(decays) > 0:
            continue
        course = Course(
            run.rates[1:, own[:1]],
            float(decays[0]),
            run.norms[:, own],
            run.gradient_norms[1:, own],
            run.step_norms[1:, own],
        )
        with np.errstate(all="ignore"):
            if (predicted := optimizer.norms(course)).size:
                norms[:, own] = predicted
            angles[:, own] = optimizer.angles(course)
    return norms, angles


def _off(run: Recording, optimizer: Optimizer | None) -> tuple[Array, Array]:
    """The errors of norm and angles against the optimizer's laws, (B,); NaN without a law."""
    norms, angles = laws(run, optimizer)
    with np.errstate(all="ignore"):
        norm_off = np.abs(norms[-1] / run.norms[-1] - 1)
        off = np.abs(angles / run.angles[1:] - 1)
    angle_off, known = np.full(len(run.names), nan), np.isfinite(off).all(axis=0)
    if len(off):
        angle_off[known] = np.median(off[:, known], axis=0)
    return norm_off, angle_off


def _root_mean_square(values: Array) -> Array:
    """Over the first axis, of the known values; NaN if there are none."""
    known = np.isfinite(values)
    counts = np.where(known.any(axis=0), known.sum(axis=0), nan)
    root: Array = lengths(np.where(known, values, 0).T) / np.sqrt(counts)
    return root
