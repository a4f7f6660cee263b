"""How long a cell remembers: the size of ∂state^T/∂state^t, of h alone or of h and c.

    ∂state^T/∂state^t = J^T J^{T−1} … J^{t+1}

It is computed backward, by the adjoint of each step in all directions of the last state at once.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from normgeo.base.arguments import instance_of, whole_number
from normgeo.base.arrays import Array
from normgeo.base.progress import Progress, Report
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.models.jacobian_norms import JacobianNorms, norms_of_products
from normgeo.sequences.cell_run import CellRun
from normgeo.sequences.through_time import run_cell

HELD_NOTE = text(
    "What the sequences of a batch share is held at its values here, as at test time, so that the "
    "past of a sequence is its own."
)


def cell_jacobian_norms(
    past: CellRun, *, points: int = 200, progress: Report | Progress | None = None
) -> JacobianNorms:
    """Return ‖∂state^T/∂state^t‖ (spectral norm) for t up to T = `past.steps`, by sequence.

    The state is everything that a step passes on: (h, c) for an LSTM. The product is rescaled after
    each factor, and its logarithm stored. The cost is O(H³) for each step and sequence.

    Args:
        past: the run. points: the largest number of times to report, evenly spaced, at least 2.
        progress: called with (step, steps), going back from T; a stop returns the times so far.

    Raises:
        ValueError: points below 2, or a Jacobian that overflows.

    """
    instance_of("past", past, CellRun)
    points = whole_number("points", points, 2)
    notes: tuple[str, ...] = ()
    if past.layer.normalizer.shared_by_cases and past.statistics is None:
        X, start = past.inputs.swapaxes(0, 1), tuple(each[0] for each in past.states)
        past = run_cell(past.layer, X, start, statistics=past.own_statistics())
        notes = (HELD_NOTE,)
    (S, H), parts = past.hidden.shape[1:], len(past.states)

    def times_jacobian(product: Array, t: int) -> Array:
        # The rows of the product are adjoint vectors: a leading axis before that of the sequences.
        change = tuple(np.split(product.swapaxes(0, 1), parts, axis=-1))
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            before = np.concatenate(past.back(t - 1, change).state, axis=-1)
        if not np.isfinite(before).all():
            raise Refusal("The Jacobian of step {t} exceeds the largest float.", t=t)
        after: Array = before.swapaxes(0, 1)
        return after

    found = norms_of_products(times_jacobian, (past.steps, S, parts * H), points, progress)
    return replace(found, notes=notes + found.notes)
