"""Read the numbers of a proposed layer from its files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.checkpoint import Checkpoint, Proposal
from normgeo.checkpoints.modules import modules
from normgeo.checkpoints.trained_layer import TrainedLayer, with_bias_as_weight
from normgeo.checkpoints.weights import Arrangement, in_groups
from normgeo.checkpoints.windows import ONE_BY_ONE, Sliding
from normgeo.datasets.tensor import Tensor
from normgeo.datasets.tensor_files import File, list_tensors
from normgeo.normalizers.normalizer import Normalizer

WEIGHTS = "weights"
"""The role of files that hold weights and norms."""
EXTRA = ("x", "stream", "labels", "gradient")
"""The roles of what may be known of a layer besides its weights and its norm."""
OF_CASES = ("x", "stream", "labels")
"""The roles that have a row for each case of X."""


def read_layer(
    checkpoint: Checkpoint,
    proposal: Proposal,
    files: Mapping[str, File | Tensor | None],
    sliding: Sliding = ONE_BY_ONE,
    notes: tuple[str, ...] = (),
) -> TrainedLayer:
    """Return a proposed layer with its numbers, and what other files hold for it.

    Args:
        checkpoint: the files. proposal: the layer.
        files: a file or a tensor for words of EXTRA; None takes the tensor of this role in the
            checkpoint, if there is one.
        sliding: how a kernel moves over "x", if these are images. notes: on earlier steps.

    Raises:
        ValueError: bad numbers, or shapes that do not fit. OSError: a file that can't be read.

    """
    proposal.require_possible()
    alone = checkpoint.of_role
    extra = {
        what: only_tensor(file, what, proposal.weight.name) if file is not None else alone.get(what)
        for what, file in {**dict.fromkeys(EXTRA), **files}.items()
    }
    numbers = _with_inputs(_weights(proposal, extra["gradient"]), extra["x"], proposal, sliding)
    norm = _norm(proposal)
    bias = proposal.arrangement.of_rows(_vector(proposal.module.tensors, "bias"))
    notes = (*notes, *numbers.notes, *norm.notes)
    if proposal.norm is None and norm.gain is not None:
        norm, bias = norm._replace(shift=bias), None  # weight norm does not normalize the bias
    elif proposal.norm is not None and bias is not None and proposal.place.takes_outputs:
        numbers, note = _with_bias(numbers, bias, proposal.normalizer)
        bias, notes = None, (*notes, note)
    labels = None if extra["labels"] is None else extra["labels"].read()
    return TrainedLayer(
        proposal.name,
        numbers.W,
        proposal.normalizer,
        proposal.place,
        gain=norm.gain,
        shift=norm.shift,
        bias=bias,
        running_var=norm.running_var,
        X=numbers.X,
        stream=_stream(extra["stream"], proposal.arrangement),
        labels=None if labels is None else labels.squeeze() if 1 in labels.shape else labels,
        gradient=numbers.gradient,
        seen=numbers.seen,
        why=proposal.why,
        notes=notes,
        basis=proposal.basis,
    )


class _Numbers(NamedTuple):
    """Weights and inputs as read: W (H, D), gradients (H, D) or (K, H, D), X (N, D).

    `seen` tells which entries of W exist, if a neuron sees only some of the features.
    """

    W: Array
    gradient: Array | None
    X: Array | None = None
    seen: Array | None = None
    notes: tuple[str, ...] = ()


class _Norm(NamedTuple):
    """The vectors of a norm as read, (H,) each."""

    gain: Array | None
    shift: Array | None = None
    running_var: Array | None = None
    notes: tuple[str, ...] = ()


def _weights(proposal: Proposal, gradient: Tensor | None) -> _Numbers:
    W = proposal.arrangement.rows(proposal.weight.read()).astype(np.float64)
    return _Numbers(W, None if gradient is None else _gradient(gradient, proposal))


def _with_inputs(
    numbers: _Numbers, x: Tensor | None, proposal: Proposal, sliding: Sliding
) -> _Numbers:
    """Add inputs X: vectors, one a case, or windows of images."""
    how, X = proposal.arrangement, None if x is None else x.read().astype(np.float64)
    if X is not None and not how.kernel and X.ndim > 2 and X.shape[-1] == how.shape[1]:
        X = _as_cases(X)
        note = text("Each vector of the inputs is a case: {N:,} of them.", N=len(X))
        numbers = numbers._replace(notes=(note,))
    if X is not None and X.ndim > 2:
        return _with_windows(numbers, X, proposal, sliding)
    if sliding != ONE_BY_ONE:
        raise Refusal(
            "`stride`, `padding` and `dilation` say how a kernel moves over images, "
            "(N, C, rows, columns); got {given}. Give images as x, or leave them out.",
            given=text("no x") if X is None else text("x of shape {shape}", shape=X.shape),
        )
    return numbers._replace(X=X)


def _with_windows(
    numbers: _Numbers, images: Array, proposal: Proposal, sliding: Sliding
) -> _Numbers:
    """Add the windows of images that the kernel sees, each as a case."""
    how, normalizer = proposal.arrangement, proposal.normalizer
    X, groups, notes = sliding.windows(images, how), how.groups(images.shape[1]), list[str]()
    numbers = numbers._replace(X=X)
    if groups > 1:
        _require_own_rows(normalizer)
        W, gradient = numbers.W, numbers.gradient
        numbers = numbers._replace(
            W=in_groups(W, groups),
            gradient=None if gradient is None else in_groups(gradient, groups),
            seen=in_groups(np.ones_like(W, dtype=bool), groups),
        )
        notes.append(
            text(
                "A convolution in {groups} groups: a neuron sees {D} of {all} features of a "
                "window, so no vector can be added to all rows of W.",
                groups=groups,
                D=W.shape[1],
                all=numbers.W.shape[1],
            )
        )
    notes.append(text("The inputs are windows of images: {sliding}.", sliding=str(sliding)))
    if normalizer.shared_by_neurons:
        notes.append(
            text(
                "The norm is taken at each place of an image by itself, over the channels: as "
                "a layer norm with the channels last, not one over whole images."
            )
        )
    return numbers._replace(notes=(*notes,))


def _norm(proposal: Proposal) -> _Norm:
    norm = proposal.norm
    if norm is None:
        own = {} if proposal.basis.is_unknown else proposal.module.tensors
        return _Norm(_vector(own, "gain"))
    gain, shift, running = (
        _repeated(_vector(norm.tensors, role), proposal.channels)
        for role in ("gain", "bias", "running_var")
    )
    if gain is None or not proposal.one_plus:
        return _Norm(gain, shift, running)
    note = text("The gain is 1 and what the file has, as in Gemma.")
    return _Norm(gain + 1, shift, running, (note,))


def _with_bias(numbers: _Numbers, bias: Array, normalizer: Normalizer) -> tuple[_Numbers, str]:
    """Take in a bias that the norm normalizes as well, and say how."""
    if normalizer.centering.shared_by_cases:
        return numbers, text("The bias b of the layer changes nothing: the norm takes it off.")
    seen = numbers.seen
    if seen is not None:
        bias = _without_mean(bias, normalizer)
        seen = np.column_stack([seen, np.ones(len(seen), dtype=bool)])
    W, X, gradient = with_bias_as_weight(numbers.W, bias, numbers.X, numbers.gradient)
    note = text(
        "The norm takes the bias b of the layer as well, so it is counted among the "
        "weights, as that of a feature that is always 1."
    )
    return _Numbers(W, gradient, X, seen), note


def _stream(tensor: Tensor | None, how: Arrangement) -> Array | None:
    """What the outputs are added to, (N, H); of images, in the order of the windows."""
    if tensor is None:
        return None
    values = tensor.read()
    if not how.kernel:
        return _as_cases(values)
    return np.moveaxis(values, 1, -1).reshape(-1, values.shape[1]) if values.ndim > 2 else values


def _require_own_rows(normalizer: Normalizer) -> None:
    """Refuse a norm that averages over all features, if a neuron sees only some of them."""
    if normalizer.centering.feature_dimensions_lost > 0:
        raise Refusal(
            "{name} takes the mean of a row of W off, and a convolution in groups has rows of "
            "parts of the features; images of it are not read with this norm. Use another "
            "norm, or leave the images out.",
            name=normalizer.title,
        )


def _without_mean(bias: Array, normalizer: Normalizer) -> Array:
    """Subtract the mean of the bias over the neurons of a group, which the norm removes."""
    if normalizer.centering.neuron_dimensions_lost == 0:
        return bias
    parts = bias.reshape(normalizer.groups, -1)
    without: Array = (parts - parts.mean(axis=1, keepdims=True)).reshape(-1)
    return without


def _as_cases(values: Array) -> Array:
    """Stack the vectors along the last axis, as of words in sentences (N, T, D), as rows."""
    return values.reshape(-1, values.shape[-1]) if values.ndim > 2 else values


def only_tensor(path: File | Tensor, what: str, weight: str) -> Tensor:
    """The only tensor of a file, or the one whose name or role is asked for.

    A file may hold gradients of several layers, each with the name of its weights.
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
            "{path!s} must hold one tensor, or one that is named {what!r}; it holds {count}.",
            path=path,
            what=weight if what == "gradient" else what,
            count=len(tensors),
        )
    return named[0]


def _gradient(tensor: Tensor, proposal: Proposal) -> Array:
    """A gradient (H, D), or those of several batches (K, H, D)."""
    weight, how = proposal.weight, proposal.arrangement
    if tensor.shape not in {weight.shape, (*tensor.shape[:1], *weight.shape)}:
        raise Refusal(
            "A gradient must have the shape of its weights, or one axis more for several "
            "batches; got {gradient} for weights of shape {weights}.",
            gradient=tensor.shape,
            weights=weight.shape,
        )
    values = tensor.read().astype(np.float64)
    return how.rows(values) if tensor.shape == weight.shape else np.stack([*map(how.rows, values)])


def _vector(tensors: Mapping[str, Tensor], role: str) -> Array | None:
    return tensors[role].read().astype(np.float64).reshape(-1) if role in tensors else None


def _repeated(values: Array | None, channels: int) -> Array | None:
    """Repeat a vector that all heads share, so that every channel has a number."""
    if values is None or len(values) == channels or channels % len(values):
        return values
    return np.tile(values, channels // len(values))
