"""What was measured of a run beside what theory predicts, each with what it assumes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.dynamics.trajectory import Trajectory


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """One quantity of a run over B blocks.

    Attributes:
        title: what it is. unit: "" where it has none.
        measured, predicted: of equal shape, (T, B) or (T+1, B).
        assumes: a sentence.

    """

    title: str
    unit: str
    measured: Array
    predicted: Array
    assumes: str

    @property
    def deviation(self) -> float:
        """The largest |predicted/measured − 1|; |predicted| where 0 was measured."""
        off = np.abs(self.predicted - self.measured) / np.where(self.measured, self.measured, 1.0)
        return float(off.max(initial=0.0))


def compare(run: Trajectory) -> dict[str, Comparison]:
    """Return the quantities of a run that theory predicts, by key.

    norm, angle; with gradient descent also effective_learning_rate, measured as tan(angle) over
    the unit-sphere gradient norm ‖w̃‖‖G‖; with weight decay equilibrium_norm and
    equilibrium_angle, which a run reaches only in time. Empty without a homogeneous block.
    """
    if not run.blocks.homogeneous:
        return {}
    law, found = run.optimizer.law, {}
    if run.predicted_norms.size:
        found["norm"] = Comparison("norm", "", run.norms, run.predicted_norms, law.assumes)
    found["angle"] = Comparison(
        "angle per step", "radians", run.angles, run.predicted_angles, law.assumes
    )
    sphere_gradient = run.norms[:-1] * run.gradient_norms
    if run.optimizer.key == "gradient_descent" and sphere_gradient.all():
        found["effective_learning_rate"] = Comparison(
            "effective learning rate",
            "",
            np.tan(run.angles) / sphere_gradient,
            run.effective_learning_rate[:-1],
            law.assumes,
        )
    if (balance := run.equilibrium) is not None:
        found["equilibrium_norm"] = Comparison(
            "norm at equilibrium", "", run.norms[:-1], balance.norm, law.equilibrium_assumes
        )
        found["equilibrium_angle"] = Comparison(
            "angle at equilibrium", "radians", run.angles, balance.angle, law.equilibrium_assumes
        )
    return found
