"""A module of PyTorch as a function of its parameters, that leaves the module as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from normgeo.base.refusal import Refusal
from normgeo.measured.measuring import measure as measure_function
from normgeo.measured.table import MeasuredTable

WRAPPERS = ("_orig_mod", "module")
"""What `torch.compile` and parallel modules call the module inside of them."""

LENGTHS = ("weight_g", "original0")
"""What weight norm calls the lengths that it gives the rows."""


def measure(model: Any, batch: Any, **options: Any) -> MeasuredTable:
    """Measure which changes of its parameters a module of PyTorch ignores.

    The module runs as it is: in training or in evaluation, under an autocast that is on, on its
    device. Its parameters, running statistics and the state of the random numbers are left alone.

    Args:
        model: a `torch.nn.Module`; of a compiled or parallel one the module inside is run.
        batch: what it is called with: a tensor, a tuple or list of arguments, or a mapping of
            arguments by name. options: of `normgeo.measure`, `inputs` among them: several batches
            in place of one.

    Raises:
        ValueError: as of `normgeo.measure`. Dropout makes two calls differ, and is refused.

    Outputs are all tensors of floats that the module returns; a cache beside them is none.

    """
    import torch

    inside = unwrapped(model)
    batches = options.pop("inputs", [batch])
    with torch.no_grad(), torch.random.fork_rng():
        parameters = {name: one.detach() for name, one in parameters_of(inside).items()}
        own = {
            "neurons": neurons_of(inside),
            "embeddings": embeddings_of(inside),
            "matrices": matrices_of(inside),
        }
        return measure_function(function_of(inside), parameters, batches, **{**own, **options})


def parameters_of(model: Any) -> dict[str, Any]:
    """Return the parameters of a module by plain name, tied ones once; refuse what is no module."""
    named = getattr(model, "named_parameters", None)
    if not callable(named):
        raise Refusal("`model` must be a torch.nn.Module; got {kind}.", kind=type(model).__name__)
    return {plain_name(name): parameter for name, parameter in named()}


def neurons_of(model: Any) -> dict[str, int]:
    """Return the weights whose neurons are along the last axis: of the Conv1D of transformers."""
    return {
        plain_name(f"{name}.weight"): -1
        for name, module in model.named_modules()
        if has_outputs_last(module)
    }


def has_outputs_last(module: Any) -> bool:
    """Whether a module is the Conv1D of transformers: a linear layer with its weight transposed."""
    return type(module).__name__ == "Conv1D" and hasattr(module, "nf")


def embeddings_of(model: Any) -> list[str]:
    """Return the weights whose rows are picked."""
    import torch

    return [
        plain_name(f"{name}.weight")
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Embedding | torch.nn.EmbeddingBag)
    ]


def matrices_of(model: Any) -> list[str]:
    """Return the weights of layers, whatever their shape; a gain may have that of one of them."""
    import torch

    nn = torch.nn
    linear = (nn.Linear, nn.Bilinear, nn.MultiheadAttention, nn.RNNBase, nn.RNNCellBase)
    convolutions = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
    transposed = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
    picked = (nn.Embedding, nn.EmbeddingBag)
    return [
        plain_name(f"{path}.{name}" if path else name)
        for path, module in model.named_modules()
        if isinstance(module, (*linear, *convolutions, *transposed, *picked))
        or has_outputs_last(module)
        for name, one in module.named_parameters()
        if one.ndim > 1 and not name.endswith(LENGTHS)
    ]


def unwrapped(model: Any) -> Any:
    """Return the module inside of a compiled or parallel one.

    A wrapper has one child, of a name of WRAPPERS, and no parameter of its own.
    """
    while callable(children := getattr(model, "named_children", None)):
        inside = dict(children())
        own = any(True for _ in model.parameters(recurse=False))
        if len(inside) != 1 or own or not {*inside} <= {*WRAPPERS}:
            break
        (model,) = inside.values()
    return model


def plain_name(name: str) -> str:
    """Return a parameter's name without those of modules that were compiled inside of a model.

    >>> plain_name("encoder._orig_mod.fc.weight")
    'encoder.fc.weight'

    """
    return ".".join(part for part in name.split(".") if part != WRAPPERS[0])


def function_of(model: Any) -> Any:
    """Return (parameters, batch) → outputs of a module."""
    import torch

    # Each name of a tied parameter: so torch has not to look for them at each call.
    shared = {id(one): plain_name(name) for name, one in model.named_parameters()}
    names: dict[str, list[str]] = {name: [] for name in shared.values()}
    for name, one in model.named_parameters(remove_duplicate=False):
        names[shared[id(one)]].append(name)
    buffers = {name: buffer.detach() for name, buffer in model.named_buffers()}

    def f(parameters: Mapping[str, Any], batch: Any) -> list[Any]:
        kinds = {parameter.dtype for parameter in parameters.values()}
        wide = torch.float64 if kinds == {torch.float64} else None
        # Statistics that the call writes to are copies.
        state = {name: _as(buffer, wide).clone() for name, buffer in buffers.items()}
        state |= {other: one for name, one in parameters.items() for other in names[name]}
        given = _arguments(_as(batch, wide))
        answer = torch.func.functional_call(model, state, *given, tie_weights=False)
        return [*_floats(answer)]

    return f


def _arguments(batch: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(batch, Mapping):
        return (), dict(batch)
    return (tuple(batch) if isinstance(batch, tuple | list) else (batch,)), {}


def _as(values: Any, kind: Any) -> Any:
    """Return tensors of floats, in containers of any depth, as another type; None leaves them."""
    import torch

    if kind is None:
        return values
    if isinstance(values, torch.Tensor):
        return values.to(kind) if values.is_floating_point() else values
    if isinstance(values, Mapping):
        return {name: _as(value, kind) for name, value in values.items()}
    if isinstance(values, tuple | list):
        return type(values)([_as(value, kind) for value in values])
    return values


def _floats(answer: Any) -> Iterator[Any]:
    """The tensors of floats that a module returned, in containers and dataclasses."""
    import torch

    if isinstance(answer, torch.Tensor):
        if answer.is_floating_point():
            yield answer
    elif isinstance(answer, Mapping):
        yield from _each(answer.values())
    elif isinstance(answer, Sequence) and not isinstance(answer, str):
        yield from _each(answer)
    elif is_dataclass(answer) and not isinstance(answer, type):
        yield from _each(getattr(answer, field.name) for field in fields(answer))


def _each(answers: Any) -> Iterator[Any]:
    for answer in answers:
        yield from _floats(answer)
