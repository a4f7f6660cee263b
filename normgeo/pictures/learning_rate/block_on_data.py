"""The block of weights that the Learning rate page speaks of, at norm 1, or why there is none."""

from __future__ import annotations

from typing import NamedTuple

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.models.glm import NormalizedGLM
from normgeo.models.objective import BlockObjective
from normgeo.normalizers.blocks import Blocks, lengths, require_direction
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.model_on_data import data_of, model_on_data
from normgeo.pictures.work import Sizes
from normgeo.settings import Settings

BLOCK = ("method", "groups", "eps", "statistics", "neuron")  # the settings that choose it
FLAT = 1e-11  # of the loss: a smaller slope, per radian, is rounding


class BlockOnData(NamedTuple):
    """One block of a model on data, all blocks scaled to norm 1.

    Attributes:
        data: the title of the data set. X: (N, D). y: targets.
        model: with all blocks at ‖w‖ = 1. block: its number. objective: the loss as a function
            of it. name: of the block, "weights of neuron 3". symbol: of its norm.
        notes: sentences for the reader.

    """

    data: str
    X: Array
    y: Array
    model: NormalizedGLM
    block: int
    objective: BlockObjective
    name: str
    symbol: str
    notes: tuple[str, ...]


def block_on_data(settings: Settings, *, homogeneous: bool = True) -> BlockOnData:
    """Return the block that the settings name.

    Args:
        settings: of the picture.
        homogeneous: False takes the neuron by itself where no block may change its norm and leave
            z alone.

    Raises:
        ValueError: no such neuron, no homogeneous block, or a block that nothing can turn.

    """
    sizes_of_block(settings)
    here = model_on_data(settings, "standardized")
    method, H = here.model.normalizer, len(here.model.W)
    blocks = Blocks.of(method, H)
    block = blocks.holding(settings.neuron)
    if homogeneous and not blocks.homogeneous:
        raise _no_block(method)
    here.model.linearize(here.X)  # undefined z is the better complaint
    model = at_norm(here.model, 1.0)
    objective = BlockObjective.of(model, here.X, here.y, block, homogeneous=homogeneous)
    point = objective.at(objective.own)
    if lengths(point.gradient) * objective.own_norm <= FLAT * max(1.0, abs(point.loss)):
        raise _flat(method, blocks.neurons.shape[1], settings)
    return BlockOnData(
        here.dataset.title,
        here.X,
        here.y,
        model,
        block,
        objective,
        blocks.name(block),
        blocks.symbol,
        here.notes,
    )


def sizes_of_block(settings: Settings) -> Sizes:
    """The sizes of its model; raises where they leave no such block, or nothing that turns it."""
    sizes = Sizes.of(settings, "standardized", normalizer=settings.normalizer)
    dataset = data_of(settings, "standardized")
    if sizes.coupled and dataset.H > sizes.H:
        raise Refusal(
            "{data!s} has {outputs} classes, so its model needs as many neurons; here are {H}. "
            "Use more, or the Bernoulli family: one class against the rest.",
            data=dataset.title,
            outputs=dataset.H,
            H=sizes.H,
            way_out={"neurons": 0},
        )
    sizes.require_z(settings.normalizer)
    blocks = Blocks.of(settings.normalizer, sizes.H)
    blocks.holding(settings.neuron)
    if not sizes.sees_weights(settings.normalizer):
        raise _flat(settings.normalizer, blocks.neurons.shape[1], settings)
    return sizes


def at_norm(model: NormalizedGLM, norm: float) -> NormalizedGLM:
    """Return the model with every block scaled to one norm: the same function at ε = 0."""
    blocks = Blocks.of(model.normalizer, len(model.W))
    vectors = blocks.vectors(model.W)
    require_direction(vectors)
    W = blocks.replaced(model.W, norm * vectors / lengths(vectors)[:, None])
    return model.unpack(model.layout.pack(W, model.b, model.g))


def _no_block(method: Normalizer) -> Refusal:
    if not method.scaling.divides:
        return Refusal(
            "The {method} model does not divide by a scale, so a longer weight vector is another "
            "function, with a larger output: no law ties the turn of a step to ‖w‖. Choose a "
            "method with a scale: batch norm, weight norm or layer norm.",
            method=method.title,
            way_out={"method": Settings.method},
        )
    return Refusal(
        "With frozen statistics {method} divides by a constant, so a longer weight vector is "
        "another function: no law ties the turn of a step to ‖w‖. Choose current statistics.",
        method=method.title,
        way_out={"statistics": "current"},
    )


def _flat(method: Normalizer, neurons: int, settings: Settings) -> Refusal:
    if method.leaves_only_signs(neurons * method.groups):
        # Fitted weights have as many neurons as there are outputs.
        others = {"weights": "random"} if settings.weights == "fitted" else {}
        return Refusal(
            "With two neurons to a group, {method} makes z = ±1 whatever the weights, so the loss "
            "has no gradient and no step turns anything. Take three neurons or more to a group.",
            method=method.title,
            way_out={"neurons": 4 * method.groups} | others,
        )
    return Refusal(
        "The loss does not change where these weights turn: their gradient is zero, so no step "
        "turns them. Choose another method, another neuron or other data."
    )
