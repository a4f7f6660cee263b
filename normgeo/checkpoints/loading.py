"""Load layers of checkpoints with their numbers: one by its name, or all in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, final

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.checkpoint import Checkpoint, Proposal
from normgeo.checkpoints.reading import EXTRA, only_tensor, read_layer
from normgeo.checkpoints.report import LayerReport, layer_report
from normgeo.checkpoints.trained_layer import TrainedLayer
from normgeo.checkpoints.windows import Counts, Sliding
from normgeo.datasets.tensor import Tensor
from normgeo.datasets.tensor_files import File, Files, list_tensors
from normgeo.normalizers.normalizer import Normalizer


def load_layer(
    files: Files,
    layer: str | None = None,
    *,
    x: File | None = None,
    stream: File | None = None,
    labels: File | None = None,
    gradient: File | None = None,
    roles: Mapping[str, str] | None = None,
    norm: str | None = None,
    place: str | None = None,
    normalizer: str | Normalizer | None = None,
    groups: int | None = None,
    eps: float | None = None,
    one_plus: bool | None = None,
    stride: Counts = 1,
    padding: Counts | str = 0,
    dilation: Counts = 1,
) -> TrainedLayer:
    """Return a layer of a network with its norm, from files of tensors.

    Args:
        files: .safetensors, .npz, .npy or .csv, one path or more. layer: its name, where the
            files hold several.
        x: a file with inputs of the layer, (N, D) or with more axes before the last, as
            (N, T, D); or images (N, C, rows, columns) of a convolution.
        stream: one with what the outputs are added to, (N, H), (N, T, H), or images of it.
        labels: of the model's outputs.
        gradient: of the loss, in the layout of the weights; among several tensors, the one with
            the name of the weights.
        roles: corrections, tensor → a word of ROLES.
        norm: the path of the norm in the files, "" for none.
        place, normalizer, groups, eps: of the norm, if its name suggests something else. Files do
            not hold ε; None stands for 1e-5.
        one_plus: whether 1 is added to the gain of the file, as in Gemma; None goes by the names
            in its block.
        stride, padding, dilation: how a kernel moves over images x: one number, or one for each
            axis; "same" pads as JAX does. Files do not hold them either.

    Raises:
        ValueError: bad files, names or shapes. OSError: a file that can't be read.

    """
    sliding = Sliding.of(stride, padding, dilation)
    found = Checkpoint.of(
        files,
        roles,
        norm=norm,
        place=place,
        normalizer=normalizer,
        groups=groups,
        eps=eps,
        one_plus=one_plus,
    )
    extra = {"x": x, "stream": stream, "labels": labels, "gradient": gradient}
    return read_layer(found, found.choose(layer), extra, sliding)


def unfitting(
    checkpoint: Checkpoint, proposal: Proposal, files: Mapping[str, File | Tensor | None]
) -> str:
    """Say that inputs X belong to another layer, judged by their shape; "" if they fit.

    Args:
        checkpoint, proposal, files: as of `read_layer`.

    Raises:
        ValueError: a bad file. OSError: one that can't be read.

    """
    there = [t for t in checkpoint.tensors if checkpoint.roles[t.name] == "x"]
    file = files.get("x")
    if file is not None:
        there = [only_tensor(file, "x", proposal.weight.name)]
    if not there or len(there[0].shape) < 2 or proposal.arrangement.takes(there[0].shape):
        return ""
    H, D = proposal.arrangement.shape
    return text(
        "X of shape {shape} is left out here: {name!s} has W of shape ({H}, {D}). It is taken "
        "where a layer of as many features is open.",
        shape=there[0].shape,
        name=proposal.name,
        H=H,
        D=D,
    )


@final
class Told(NamedTuple):
    """A layer of a checkpoint: its report, or the sentence that refused it."""

    proposal: Proposal
    report: LayerReport | None
    refusal: str


def gradients_of(checkpoint: Checkpoint, file: File) -> dict[str, Tensor]:
    """Return the gradients in a file: the tensors with the names of weights of a checkpoint.

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
    """Yield the report of each layer, or why there is none; it is freed before the next is read.

    Inputs X, labels and a residual stream belong to one layer, and are not used here.

    Args:
        checkpoint: the files. proposals: some of its layers; None for all.
        gradients: by the names of their weights. require: refuses a layer before it is read.
        stated: arguments of `layer_report`, the same for all layers.

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
