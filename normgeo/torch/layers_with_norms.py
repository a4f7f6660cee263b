"""The layers of a module with their norms, as they are seen while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from normgeo.base.arguments import shown
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.basis import SEEN, Basis
from normgeo.checkpoints.checkpoint import Checkpoint
from normgeo.checkpoints.modules import Module
from normgeo.checkpoints.place import PLACES
from normgeo.checkpoints.proposal import NO_NORM, Proposal, with_sharing
from normgeo.checkpoints.reading import read_layer
from normgeo.checkpoints.trained_layer import TrainedLayer
from normgeo.checkpoints.weights import Arrangement
from normgeo.checkpoints.windows import ONE_BY_ONE, Sliding
from normgeo.datasets.tensor import Tensor
from normgeo.normalizers.named import NORMALIZERS
from normgeo.torch.hooked_run import Call, HookedRun
from normgeo.torch.network import has_outputs_last, parameters_of, unwrapped
from normgeo.torch.norms import Norm


def layers(
    model: Any, batch: Any, *, names: Iterable[str] | None = None
) -> dict[str, TrainedLayer]:
    """Return the layers of a module of PyTorch with their norms, by the names of their weights.

    What the norm of a layer is, and where it stands, is seen while the module runs: a number is
    added to each output of the layer, and the norm is the one whose inputs change by the same; what
    it makes is held, and where the outputs of the module then stand still, nothing else reads the
    layer. A norm before layers is one that no residual stream or product reads beside them.
    `layer_report` tells what follows, with the inputs that the batch gives a layer, and the
    gradient that its weights hold after `backward`.

    Args:
        model: a `torch.nn.Module`, also compiled or parallel. It runs as it is: batch norm in
            evaluation is a fixed scaling, and told as no norm. It is left as it is.
        batch: as of `measure`. names: of the weights; None for all.

    Layers are the linear ones and convolutions that are called; weights that a module takes itself,
    as those of a recurrent cell or of `torch.nn.MultiheadAttention`, and those that are made of
    others, as by a spectral norm, `measure` tells of. Of a layer that is called several times the
    first call is told.

    Raises:
        ValueError: no module, no such name, no layer, or two calls that differ, as with dropout.

    """
    inside = unwrapped(model)
    parameters_of(inside)  # refuses what is no module
    run = HookedRun.of(inside, batch)
    proposals = _proposals(run)
    if names is not None:
        wanted, known = {*names}, {one.name for one, _ in proposals}
        if unknown := sorted(wanted - known):
            raise Refusal(
                "`names` must be of layers of the module, {known!s}; got {unknown!s}.",
                known=shown(sorted(known)),
                unknown=shown(unknown),
            )
        proposals = [(one, call) for one, call in proposals if one.name in wanted]
    if not proposals:
        raise Refusal(
            "`layers` tells of linear layers and convolutions, and the module calls none; "
            "`normgeo.torch.measure` tells of all of its parameters."
        )
    told = [_with_norm(run, one, call) for one, call in proposals]
    shared = with_sharing([found.proposal for found in told])
    return {one.name: found.read(one) for one, found in zip(shared, told, strict=True)}


@final
@dataclass(frozen=True, eq=False)
class _Found:
    """A layer with its norm, and what is known of its cases."""

    proposal: Proposal
    files: Mapping[str, Tensor | None]
    sliding: Sliding
    notes: tuple[str, ...]

    def read(self, proposal: Proposal) -> TrainedLayer:
        """The layer with its numbers; without inputs where they take too much memory."""
        nothing, files = Checkpoint((), {}, ()), dict(self.files)
        try:
            return read_layer(nothing, proposal, files, self.sliding, notes=self.notes)
        except Refusal as refusal:
            if files["x"] is None:
                raise
            files |= {"x": None, "stream": None}
            why = text("Its inputs are left out: {why}", why=refusal.args[0])
            return read_layer(nothing, proposal, files, notes=(*self.notes, why))


def _proposals(run: HookedRun) -> list[tuple[Proposal, Call]]:
    """The layers without their norms, in the order of the calls."""
    found = []
    for path, call in run.calls.items():
        module = _module_of(path, call)
        if "weight" not in module.tensors:  # made of another one, as by a spectral norm
            continue
        for name, how in Arrangement.all_of(module, outputs_last=has_outputs_last(call.module)):
            basis, place = Basis(SEEN), PLACES["after"]
            why = text("no norm was seen to take its outputs alone, or to give its inputs")
            one = Proposal(name, how, module, None, NO_NORM, place, why, basis)
            found.append((one, call))
    return found


def _with_norm(run: HookedRun, proposal: Proposal, call: Call) -> _Found:
    """Look for the norm of a layer: behind it, of a sum with it, then before it."""
    notes = []
    if call.times > 1:
        notes.append(text("It is called {times} times; this is the first one.", times=call.times))
    x, sliding, stream = call.taken, _sliding(call), None
    if sliding is None:
        x, sliding = None, ONE_BY_ONE
        notes.append(text("Its inputs are left out: how it pads them is not told here."))
    if "gain" in proposal.module.tensors:
        found = replace(
            proposal,
            normalizer=NORMALIZERS["weight"],
            why=text("its weights are divided by their lengths"),
        )
    elif (behind := run.behind(proposal, call)) is not None:
        norm, place, stream = behind
        why = text("{norm!s} takes its outputs, and nothing else does", norm=norm.path)
        if place == "residual":
            why = text(
                "{norm!s} takes the sum of its outputs and others, and nothing else does",
                norm=norm.path,
            )
        found = _normed(proposal, norm, place, why)
    elif (ahead := run.ahead(proposal, call)) is not None:
        norm = ahead
        why = text("its inputs are what {norm!s} makes, and layers alone take that", norm=norm.path)
        found = _normed(proposal, norm, "before", why)
        x, sliding = norm.rows(norm.taken), ONE_BY_ONE
    else:
        return _found(proposal, call, x, None, sliding, notes)
    if found.norm is not None and norm.is_instance:
        notes.append(text("Instance norm is the batch norm of each image by itself."))
    if found.norm is not None and norm.of_images:
        x, sliding = None, ONE_BY_ONE
        notes.append(
            text(
                "Its inputs are left out: the statistics of its norm are over whole images, "
                "each by itself. So what all rows of W have in common does not come off."
            )
        )
    return _found(found, call, x, stream, sliding, notes)


def _found(
    proposal: Proposal,
    call: Call,
    x: Any,
    stream: Any,
    sliding: Sliding,
    notes: list[str],
) -> _Found:
    given = {
        "x": x,
        "stream": None if x is None else stream,
        "gradient": call.parameters[proposal.weight.name].grad,
    }
    files = {
        what: None if values is None else _tensor(what, values) for what, values in given.items()
    }
    return _Found(proposal, files, ONE_BY_ONE if x is None else sliding, (*notes,))


def _module_of(path: str, call: Call) -> Module:
    """The tensors of a layer by their roles; of a weight norm its own gain as well."""
    roles = {
        "weight": "weight",
        "bias": "bias",
        **dict.fromkeys(("parametrizations.weight.original0", "weight_g"), "gain"),
        **dict.fromkeys(("parametrizations.weight.original1", "weight_v"), "weight"),
    }
    prefix = len(path) + 1 if path else 0
    own = {roles.get(name[prefix:]): _tensor(name, one) for name, one in call.parameters.items()}
    return Module(path, {role: one for role, one in own.items() if role is not None})


def _normed(proposal: Proposal, norm: Norm, place: str, why: str) -> Proposal:
    """A layer with a norm that was seen."""
    own: dict[str, Any] = dict(norm.parameters)
    if "gain" not in own:
        own["gain"] = np.ones(norm.channels)
    tensors = {role: _tensor(f"{norm.path}.{role}", one) for role, one in own.items()}
    H, D = proposal.arrangement.shape
    heads = (D if place == "before" else H) // norm.channels
    normalizer = norm.normalizer
    if heads > 1:
        title = text("{name} of {groups} groups", name=normalizer.title, groups=heads)
        normalizer = replace(normalizer, groups=heads, name=title)
    return replace(
        proposal,
        norm=Module(norm.path, tensors),
        normalizer=normalizer,
        place=PLACES[place],
        why=why,
        one_plus=norm.one_plus,
    )


def _tensor(name: str, values: Any) -> Tensor:
    return Tensor(name, tuple(values.shape), str(values.dtype), "", partial(_array, values))


def _array(values: Any) -> Array:
    if isinstance(values, np.ndarray):
        return values
    found: Array = values.detach().double().cpu().numpy()
    return found


def _sliding(call: Call) -> Sliding | None:
    """How a kernel moves; None where its padding is none of zeros, or its images are no batch."""
    if not call.is_kernel:
        return ONE_BY_ONE
    module = call.module
    if module.padding_mode != "zeros" or call.taken.ndim != 2 + len(module.kernel_size):
        return None
    padding = 0 if module.padding == "valid" else module.padding
    return Sliding.of(module.stride, padding, module.dilation)
