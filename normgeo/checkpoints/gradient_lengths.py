"""The length of a mini-batch's gradient in each block of a layer.

It comes from a file of gradients, from labels, or from the model's own Fisher information: for
labels drawn from the model, the gradient G of a batch of m cases has mean 0 and

    E‖G‖² = tr F / m,

with F of the block, per case. Without any of the three the length is unknown.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.checkpoints.trained_layer import TrainedLayer
from normgeo.datasets.mini_batches import MiniBatches
from normgeo.fisher.operator import fisher
from normgeo.models.families import Family
from normgeo.models.objective import Objective
from normgeo.normalizers.blocks import lengths

BATCHES = 64
"""The largest number of mini-batches over which the length is averaged, if there are labels."""


class GradientLengths(NamedTuple):
    """‖G‖ of each block, root mean square, (B,), and where it comes from, in words."""

    norms: Array
    source: str


def gradient_lengths(
    layer: TrainedLayer, family: Family | str | None, batch_size: int | None, seed: int = 0
) -> GradientLengths | None:
    """Return the length of the gradient in each block; None if it is unknown.

    Args:
        layer: with a gradient, or with X (and the stream of a residual sum), and labels if known.
        family: of the outputs, for X.
        batch_size: m; None for all cases of X. seed: of the mini-batches.

    Raises:
        ValueError: labels or a batch that the model refuses.

    """
    if layer.gradient is not None:
        norms = lengths(layer.blocks.vectors(layer.gradient)).reshape(-1, len(layer.blocks.neurons))
        return GradientLengths(
            _root_mean_square(norms),
            text("the gradient file, of {count} batches", count=len(norms)),
        )
    if family is None or not layer.knows_inputs:
        return None
    model, X = layer.model(family)
    size = len(X) if batch_size is None else batch_size
    if layer.labels is None:
        F = fisher(model, X)
        diagonal = F.diagonal()[F.layout.weights].reshape(model.W.shape)
        traces = diagonal.sum(axis=1, where=_seen(layer))
        # A trace of 0, as that of a single homogeneous weight, may come out slightly below 0.
        of_blocks = np.maximum(traces[layer.blocks.neurons].sum(axis=1), 0.0)
        return GradientLengths(
            np.sqrt(of_blocks / size),
            text(
                "the model's own Fisher information, for labels that it draws itself, in batches "
                "of {m}",
                m=size,
            ),
        )
    objective, theta = Objective.of(model, X, layer.labels), model.pack().astype(np.float64)
    whole = (cases for cases in MiniBatches.of(len(X), size).draw(seed) if len(cases) == size)
    of_batches = []
    for cases in islice(whole, BATCHES if size < len(X) else 1):
        gradient = objective.rows(cases).at(theta).gradient()
        dW, _, _ = model.layout.split(gradient)
        dW = np.where(_seen(layer), dW, 0)
        of_batches.append(lengths(layer.blocks.vectors(dW)))
    return GradientLengths(
        _root_mean_square(np.array(of_batches)),
        text("the labels, over {count} batches of {m}", count=len(of_batches), m=size),
    )


def _seen(layer: TrainedLayer) -> Array | bool:
    return True if layer.seen is None else layer.seen


def _root_mean_square(norms: Array) -> Array:
    """The root mean square over the first axis, of lengths whose squares may overflow."""
    return np.asarray(lengths(norms.T) / len(norms) ** 0.5)
