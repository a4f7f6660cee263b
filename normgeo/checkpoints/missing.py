"""What a report of a layer lacks, in sentences that say what it needs."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.checkpoints.gradient_lengths import GradientLengths
from normgeo.checkpoints.trained_layer import TrainedLayer
from normgeo.dynamics.optimizer import Optimizer
from normgeo.models.families import Family


def missing(
    layer: TrainedLayer,
    rule: Optimizer,
    rate: float | None,
    family: str | Family | None,
    gradients: GradientLengths | None,
    angles: Array | None,
    tells_epsilon: bool,
) -> list[str]:
    """Return sentences on what a report of a layer lacks, and what it needs for that."""
    said = []
    if zeros := int(np.count_nonzero(layer.blocks.vectors(layer.W).any(axis=-1) == 0)):
        said.append(text("{count} blocks are zero: they have no direction.", count=zeros))
    if not layer.blocks.homogeneous and not layer.basis.is_unknown:
        said.append(
            text(
                "W has no homogeneous block here, so its norm is no learning rate: angles are "
                "those of the rows as they are."
            )
        )
    if rate is None:
        said.append(
            text("Learning rates and angles need the learning rate η of the optimizer: state it.")
        )
    if gradients is None:
        said.append(
            text(
                "Angles need gradients: a gradient file, or activations X and the residual stream "
                "with the family of the outputs, and labels if there are any."
            )
            if layer.place.takes_stream
            else text(
                "Angles need gradients: a gradient file, or activations X with the family of the "
                "outputs, and labels if there are any."
            )
        )
    elif rate is not None and angles is None:
        said.append(
            text(
                "No angle is expected of {rule}. {reason}",
                rule=rule.title,
                reason=rule.equilibrium_assumes,
            )
        )
    if not tells_epsilon and layer.normalizer.scaling.takes_eps:
        said.append(
            text("Where ε counts takes the residual stream as well as X.")
            if layer.place.takes_stream
            else text("Where ε counts takes activations X, and an ε that is not 0.")
        )
    if family is None or not layer.knows_inputs:
        said.append(fisher_takes(layer))
    elif layer.seen is not None:
        said.append(
            text(
                "Null directions of a convolution in groups are not counted by their rank: those "
                "up to rounding are told with the spectrum."
            )
        )
    return said


def fisher_takes(layer: TrainedLayer) -> str:
    """A sentence on what F of a layer needs, for a layer that lacks some of it."""
    if layer.place.takes_stream:
        return text(
            "Null directions and the spectrum of F need X, the residual stream and the family of "
            "the outputs."
        )
    return text("Null directions and the spectrum of F need X and the family of the outputs.")
