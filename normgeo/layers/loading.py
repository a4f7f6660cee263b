"""A layer with its numbers, from files."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.tensor import Tensor
from normgeo.datasets.tensor_files import File, Files, list_tensors
from normgeo.layers.checkpoint import Checkpoint, Proposal
from normgeo.layers.modules import modules
from normgeo.layers.trained_layer import TrainedLayer, with_bias_as_weight
from normgeo.layers.weights import in_groups
from normgeo.layers.windows import ONE_BY_ONE, Counts, Sliding
from normgeo.normalizers.normalizer import Normalizer

WEIGHTS = "weights"
"""What files of weights are for, and of the norms beside them."""
EXTRA = ("x", "stream", "labels", "gradient")
"""What is known of a layer beside its weights and its norm, by the roles of tensors and files."""
OF_CASES = ("x", "stream", "labels")
"""What is known of the cases of one X."""


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
        gradient: of the loss, as the weights stand in their file; of several tensors, that which
            has the name of the weights.
        roles: corrections, tensor → a word of ROLES.
        norm: the path of the norm in the files, "" for none.
        place, normalizer, groups, eps: of it, where they are not what its name says. ε stands in
            no file; where it is None, 1e-5.
        one_plus: whether its gain is 1 and what the file has, as in Gemma; None as its block is
            written.
        stride, padding, dilation: how a kernel moves over images x: one number, or one for each
            axis; "same" pads as JAX does. They stand in no file either.

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
    """Say that inputs X are those of another layer, by their header; "" where they are not.

    Args:
        checkpoint, proposal, files: as of `read_layer`.

    Raises:
        ValueError: a bad file. OSError: one that can't be read.

    """
    there = [t for t in checkpoint.tensors if checkpoint.roles[t.name] == "x"]
    file = files.get("x")
    if file is not None:
        there = [_only(file, "x", proposal.weight.name)]
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


def read_layer(
    checkpoint: Checkpoint,
    proposal: Proposal,
    files: Mapping[str, File | Tensor | None],
    sliding: Sliding = ONE_BY_ONE,
) -> TrainedLayer:
    """Return a proposed layer with its numbers, and what other files hold for it.

    Args:
        checkpoint: that proposes it. proposal: which.
        files: of the words of EXTRA, or a tensor of one; None where it is what a tensor of the
            checkpoint is for.
        sliding: how a kernel moves over "x", where that is images.

    Raises:
        ValueError: bad numbers, or shapes that do not fit. OSError: a file that can't be read.

    """
    proposal.require_possible()
    of_layer = proposal.module.tensors
    alone = checkpoint.of_role
    extra = {
        what: _only(file, what, proposal.weight.name) if file is not None else alone.get(what)
        for what, file in {**dict.fromkeys(EXTRA), **files}.items()
    }
    notes: list[str] = []
    how = proposal.arrangement
    W = how.rows(proposal.weight.read()).astype(np.float64)
    gradient = None
    if extra["gradient"] is not None:
        gradient = _gradient(extra["gradient"], proposal)
    X = None if extra["x"] is None else extra["x"].read().astype(np.float64)
    rows = not how.kernel
    if X is not None and rows and X.ndim > 2 and X.shape[-1] == how.shape[1]:
        X = _as_cases(X)
        notes.append(text("Each vector of the inputs is a case: {N:,} of them.", N=len(X)))
    seen = None
    if X is not None and X.ndim > 2:
        groups = how.groups(X.shape[1])
        X = sliding.windows(X, how)
        if groups > 1:
            _require_own_rows(proposal.normalizer)
            seen = in_groups(np.ones_like(W, dtype=bool), groups)
            W = in_groups(W, groups)
            gradient = None if gradient is None else in_groups(gradient, groups)
            notes.append(
                text(
                    "A convolution in {groups} groups: a neuron sees {D} of {all} features of a "
                    "window, so no vector can be added to all rows of W.",
                    groups=groups,
                    D=W.shape[1] // groups,
                    all=W.shape[1],
                )
            )
        notes.append(text("The inputs are windows of images: {sliding}.", sliding=str(sliding)))
        if proposal.normalizer.shared_by_neurons:
            notes.append(
                text(
                    "The norm is taken at each place of an image by itself, over the channels: as "
                    "a layer norm with the channels last, not one over whole images."
                )
            )
    elif sliding != ONE_BY_ONE:
        raise Refusal(
            text(
                "`stride`, `padding` and `dilation` say how a kernel moves over images, "
                "(N, C, rows, columns); got {given}. Give images as x, or leave them out.",
                given=text("no x") if X is None else text("x of shape {shape}", shape=X.shape),
            )
        )
    bias = how.of_rows(_vector(of_layer, "bias"))
    norm = proposal.norm
    if norm is None:
        own = {} if proposal.basis.is_unknown else of_layer
        gain, shift, running = _vector(own, "gain"), None, None
        if gain is not None:
            shift, bias = bias, None  # weight norm takes no bias in
    else:
        gain, shift, running = (
            _repeated(_vector(norm.tensors, role), proposal.channels)
            for role in ("gain", "bias", "running_var")
        )
        if gain is not None and proposal.one_plus:
            gain = gain + 1
            notes.append(text("The gain is 1 and what the file has, as in Gemma."))
    takes_bias = proposal.normalizer.centering.shared_by_cases
    if bias is not None and norm is not None and proposal.place.takes_outputs:
        if takes_bias:
            notes.append(text("The bias b of the layer changes nothing: the norm takes it off."))
        else:
            notes.append(
                text(
                    "The norm takes the bias b of the layer as well, so it is counted among the "
                    "weights, as that of a feature that is always 1."
                )
            )
            if seen is not None:
                bias = _without_mean(bias, proposal.normalizer)
                seen = np.column_stack([seen, np.ones(len(seen), dtype=bool)])
            W, X, gradient = with_bias_as_weight(W, bias, X, gradient)
        bias = None
    stream = None if extra["stream"] is None else extra["stream"].read()
    if stream is not None and rows:
        stream = _as_cases(stream)
    elif stream is not None and stream.ndim > 2:
        stream = np.moveaxis(stream, 1, -1).reshape(-1, stream.shape[1])  # as the windows are
    labels = None if extra["labels"] is None else extra["labels"].read()
    return TrainedLayer(
        proposal.name,
        W,
        proposal.normalizer,
        proposal.place,
        gain=gain,
        shift=shift,
        bias=bias,
        running_var=running,
        X=X,
        stream=stream,
        labels=None if labels is None else labels.squeeze() if 1 in labels.shape else labels,
        gradient=gradient,
        seen=seen,
        why=proposal.why,
        notes=tuple(notes),
        basis=proposal.basis,
    )


def _require_own_rows(normalizer: Normalizer) -> None:
    """Refuse a norm that takes a mean over all features of a row, of which a neuron sees some."""
    if normalizer.centering.feature_dimensions_lost > 0:
        raise Refusal(
            text(
                "{name} takes the mean of a row of W off, and a convolution in groups has rows of "
                "parts of the features; images of it are not read with this norm. Use another "
                "norm, or leave the images out.",
                name=normalizer.title,
            )
        )


def _without_mean(bias: Array, normalizer: Normalizer) -> Array:
    """The bias without what a mean over the neurons takes off, which no other weight can."""
    if normalizer.centering.neuron_dimensions_lost == 0:
        return bias
    parts = bias.reshape(normalizer.groups, -1)
    without: Array = (parts - parts.mean(axis=1, keepdims=True)).reshape(-1)
    return without


def _as_cases(values: Array) -> Array:
    """Vectors along the last axis, as of the words of sentences (N, T, D), one below the other."""
    return values.reshape(-1, values.shape[-1]) if values.ndim > 2 else values


def _only(path: File | Tensor, what: str, weight: str) -> Tensor:
    """The one tensor of a file, or the one that is named or known for what it is.

    Gradients may be in a file as the weights are, each with the name of its weights.
    """
    if isinstance(path, Tensor):
        return path
    tensors = list_tensors(path)
    if len(tensors) == 1:
        return tensors[0]
    named = [t for t in tensors if t.name == weight] if what == "gradient" else []
    if not named:
        roles = (module.tensors for module in modules(tensors, {}).values())
        named = [of[what] for of in roles if what in of]
    if len(named) != 1:
        raise Refusal(
            text(
                "{path!s} must hold one tensor, or one that is named {what!r}; it holds {count}.",
                path=path,
                what=weight if what == "gradient" else what,
                count=len(tensors),
            )
        )
    return named[0]


def _gradient(tensor: Tensor, proposal: Proposal) -> Array:
    """A gradient (H, D), or those of several batches (K, H, D)."""
    weight, how = proposal.weight, proposal.arrangement
    if tensor.shape not in {weight.shape, (*tensor.shape[:1], *weight.shape)}:
        raise Refusal(
            text(
                "A gradient must have the shape of its weights, or one axis more for several "
                "batches; got {gradient} for weights of shape {weights}.",
                gradient=tensor.shape,
                weights=weight.shape,
            )
        )
    values = tensor.read().astype(np.float64)
    return how.rows(values) if tensor.shape == weight.shape else np.stack([*map(how.rows, values)])


def _vector(tensors: Mapping[str, Tensor], role: str) -> Array | None:
    return tensors[role].read().astype(np.float64).reshape(-1) if role in tensors else None


def _repeated(values: Array | None, channels: int) -> Array | None:
    """A vector with a number for each channel, of one that all heads share."""
    if values is None or len(values) == channels or channels % len(values):
        return values
    return np.tile(values, channels // len(values))
