"""The path of a block of weights, projected on a fixed plane through the origin: a spiral outward.

Each step of gradient descent is tangent to the circle through w̃, so the path turns and moves out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arguments import instance_of, whole_number, word_of
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.subspaces import part_across
from normgeo.dynamics.trajectory import Trajectory
from normgeo.normalizers.blocks import dots, lengths

PLANES = ("principal", "first_step")


@final
@dataclass(frozen=True, eq=False)
class PlanePath:
    """The centered weights of one block at C kept steps, projected on a plane.

    Attributes:
        neurons: of the block, (K,). plane: one of PLANES. steps: (C,).
        axes: two orthonormal vectors (2, K·D), row after row of the block. The path starts on the
            positive side of the first and moves to the positive side of the second.
        coordinates: of w̃ in this basis, (C, 2).
        share: the part of ‖w̃‖² that lies in the plane, (C,).

    """

    neurons: Array
    plane: str
    steps: Array
    axes: Array
    coordinates: Array
    share: Array


def plane_path(run: Trajectory, *, block: int = 0, plane: str = "principal") -> PlanePath:
    """Project the path of one block of weights on a plane through the origin.

    Args:
        run: its kept steps form the path.
        block: the number of one of its blocks.
        plane: "principal" for the plane that contains most of Σ_t ‖w̃_t‖², "first_step" for the
            plane of w̃_0 and the first kept step (for gradient descent w̃_0 and its gradient).

    Raises:
        ValueError: no such block or plane, or a path on one line.

    """
    word_of("plane", plane, PLANES)
    instance_of("run", run, Trajectory)
    block = whole_number("block", block, 0, len(run.blocks.neurons) - 1)
    path = run.vectors()[:, block]
    axes = _principal(path) if plane == "principal" else _of_first_step(path)
    coordinates = path @ axes.T
    signs = np.where(np.array([coordinates[0, 0], coordinates[-1, 1]]) < 0, -1.0, 1.0)
    coordinates = coordinates * signs
    squares = dots(path, path)
    return PlanePath(
        neurons=run.blocks.neurons[block],
        plane=plane,
        steps=run.kept,
        axes=axes * signs[:, None],
        coordinates=coordinates,
        share=dots(coordinates, coordinates) / np.where(squares > 0, squares, 1.0),
    )


def _principal(path: Array) -> Array:
    _, sizes, directions = np.linalg.svd(path, full_matrices=False)
    if len(sizes) < 2 or sizes[1] <= max(path.shape) * np.finfo(float).eps * sizes[0]:
        raise _on_a_line()
    axes: Array = directions[:2]
    return axes


def _of_first_step(path: Array) -> Array:
    along = path[0] / (lengths(path[0]) or 1.0)
    if len(path) < 2:
        raise _on_a_line()
    step = path[1] - path[0]
    across = part_across(step, along[None])
    if lengths(across) <= np.finfo(float).eps * lengths(path[0]):
        raise _on_a_line()
    return np.stack([along, across / lengths(across)])


def _on_a_line() -> Refusal:
    return Refusal(
        "The path spans no plane: the weights did not turn. Take more steps or a larger rate."
    )
