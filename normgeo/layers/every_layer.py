"""All layers of a checkpoint, one after the other: the report of each, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, final

from normgeo.base.refusal import Refusal
from normgeo.datasets.tensor import Tensor
from normgeo.datasets.tensor_files import File, list_tensors
from normgeo.layers.checkpoint import Checkpoint, Proposal
from normgeo.layers.loading import EXTRA, read_layer
from normgeo.layers.report import LayerReport, layer_report


@final
class Told(NamedTuple):
    """A layer of a checkpoint: its report, or the sentence that refused it."""

    proposal: Proposal
    report: LayerReport | None
    refusal: str


def gradients_of(checkpoint: Checkpoint, file: File) -> dict[str, Tensor]:
    """Return the tensors of a file that are named as weights of a checkpoint: their gradients.

    Raises:
        ValueError: a bad file. OSError: one that can't be read.

    """
    weights = {proposal.weight.name for proposal in checkpoint.proposals}
    return {tensor.name: tensor for tensor in list_tensors(file) if tensor.name in weights}


def every_layer(
    checkpoint: Checkpoint,
    proposals: Iterable[Proposal] | None = None,
    *,
    gradients: Mapping[str, Tensor] = MappingProxyType({}),
    require: Callable[[Proposal], None] | None = None,
    **stated: Any,
) -> Iterator[Told]:
    """Yield what is told of each layer; nothing of one stays in memory when the next is asked for.

    Inputs X, labels and a residual stream are those of one layer, and are left out here.

    Args:
        checkpoint: the files. proposals: layers of it, None for all as it proposes them.
        gradients: by the names of their weights. require: refuses a layer before it is read.
        stated: as `layer_report` takes it, of all layers.

    Raises:
        OSError: a file that can't be read.

    """
    weights_only = checkpoint.without(*EXTRA)
    for proposal in checkpoint.proposals if proposals is None else proposals:
        try:
            if require is not None:
                require(proposal)
            given = {"gradient": gradients.get(proposal.weight.name)}
            layer = read_layer(weights_only, proposal, given)
            told = Told(proposal, layer_report(layer, eigenvalues=0, **stated), "")
            del layer
        except Refusal as refusal:
            told = Told(proposal, None, refusal.args[0])
        yield told
        del told
