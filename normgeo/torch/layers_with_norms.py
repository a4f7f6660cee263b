"""The layers of a module with their norms, as they are seen while it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
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
from normgeo.torch.network import (
    function_of,
    has_outputs_last,
    parameters_of,
    plain_name,
    unwrapped,
)
from normgeo.torch.norms import Norm, recognized

SAME = {"float64": 1e-6, "float32": 1e-4}
"""Types of numbers → how far apart two results may be that are the same, of their length."""

COARSE = 0.1
"""That of narrower types."""


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
    run = _Run.of(inside, batch)
    proposals = run.proposals()
    if names is not None:
        wanted, known = {*names}, {one.name for one, _ in proposals}
        if unknown := sorted(wanted - known):
            raise Refusal(
                text(
                    "`names` must be of layers of the module, {known!s}; got {unknown!s}.",
                    known=shown(sorted(known)),
                    unknown=shown(unknown),
                )
            )
        proposals = [(one, call) for one, call in proposals if one.name in wanted]
    if not proposals:
        raise Refusal(
            text(
                "The module must call a linear layer or a convolution; it called none. `measure` "
                "tells of all its parameters."
            )
        )
    told = [run.with_norm(one, call) for one, call in proposals]
    shared = with_sharing([found.proposal for found in told])
    return {one.name: found.read(one) for one, found in zip(shared, told, strict=True)}


@final
@dataclass(frozen=True, eq=False)
class _Call:
    """A layer that was called, with what it took and made."""

    path: str
    module: Any
    taken: Any
    made: Any
    times: int

    @property
    def is_kernel(self) -> bool:
        """Whether it is a convolution: its channels are axis 1, those of others the last."""
        return hasattr(self.module, "kernel_size")

    @property
    def parameters(self) -> dict[str, Any]:
        """Its own, by their names in the model."""
        prefix = f"{self.path}." if self.path else ""
        return {f"{prefix}{name}": one for name, one in self.module.named_parameters()}

    def rows(self, values: Any, channels: int) -> Any:
        """What it takes or makes with a case in each row; of a convolution each place is one."""
        return (values.movedim(1, -1) if self.is_kernel else values).reshape(-1, channels)

    def images(self, rows: Any) -> Any:
        """The inverse of `rows` for its outputs."""
        if not self.is_kernel:
            return rows.reshape(self.made.shape)
        return rows.reshape(self.made.movedim(1, -1).shape).movedim(-1, 1)


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


@final
class _Run:
    """A module that was run once, and is run again with a change in one of its layers."""

    def __init__(self, model: Any, f: Callable[..., Any], parameters: Any, batch: Any) -> None:
        import torch

        self.model, self._f, self._parameters, self._batch = model, f, parameters, batch
        self.calls: dict[str, _Call] = {}
        self.norms: dict[tuple[str, int], tuple[Norm, ...]] = {}
        self._paths: dict[int, str] = {id(m): plain_name(n) for n, m in model.named_modules()}
        self._close = COARSE
        self._alone: dict[tuple[str, int, int], bool] = {}
        self._outputs = self._run(self._keep)
        with torch.random.fork_rng():
            torch.rand(1)  # so that dropout draws others
            again = self._run(lambda *_: None)
        if not self._same(again, self._outputs):
            raise Refusal(
                text(
                    "Layers are looked at in several calls of the module, which must agree. Switch "
                    "dropout and other noise off: `.eval()`, and `.train()` of batch norms alone."
                )
            )

    @classmethod
    def of(cls, model: Any, batch: Any) -> _Run:
        """Run it in float64 where that works, otherwise as it is."""
        f = function_of(model)
        own = {name: one.detach() for name, one in parameters_of(model).items()}
        try:
            return cls(model, f, {name: one.double() for name, one in own.items()}, batch)
        except (TypeError, RuntimeError):
            return cls(model, f, own, batch)

    def _run(self, hook: Callable[..., Any]) -> Any:
        """Run it, and return its outputs as one vector.

        Args:
            hook: (path, which call of it, inputs, outputs) → other outputs, or None for these.

        """
        import torch

        times: Counter[str] = Counter()

        def each(module: Any, given: tuple[Any, ...], named: dict[str, Any], made: Any) -> Any:
            path = self._paths[id(module)]
            times[path] += 1
            taken = next((one for one in (*given, *named.values())), None)
            if isinstance(taken, torch.Tensor) and isinstance(made, torch.Tensor):
                return hook(path, times[path], module, taken, made)
            return None

        with _hooked(self.model, each), torch.no_grad(), torch.random.fork_rng():
            found = self._f(self._parameters, self._batch)
        self._close = max(SAME.get(str(one.dtype).rpartition(".")[-1], COARSE) for one in found)
        return torch.cat([one.double().reshape(-1) for one in found])

    def _keep(self, path: str, call: int, module: Any, taken: Any, made: Any) -> None:
        """Keep what layers and norms take and make; copies, as a later module may write to it."""
        if not taken.is_floating_point():
            return
        if _is_layer(module):
            first = self.calls.get(path) or _Call(path, module, taken.clone(), made.clone(), 0)
            self.calls[path] = replace(first, times=call)
        elif read := recognized(path, module, taken, made):
            kept = {"taken": taken.clone(), "made": made.clone()}
            self.norms[path, call] = tuple(replace(norm, **kept) for norm in read)

    def _same(self, one: Any, other: Any) -> bool:
        return bool((one - other).norm() <= self._close * other.norm())

    def proposals(self) -> list[tuple[Proposal, _Call]]:
        """The layers without their norms, in the order of the calls."""
        found = []
        for path, call in self.calls.items():
            module = _module_of(path, call)
            if "weight" not in module.tensors:  # made of another one, as by a spectral norm
                continue
            for name, how in Arrangement.all_of(module, outputs_last=has_outputs_last(call.module)):
                basis, place = Basis(SEEN), PLACES["after"]
                why = text("no norm was seen to take its outputs alone, or to give its inputs")
                one = Proposal(name, how, module, None, NO_NORM, place, why, basis)
                found.append((one, call))
        return found

    def with_norm(self, proposal: Proposal, call: _Call) -> _Found:
        """Look for the norm of a layer: behind it, of a sum with it, then before it."""
        notes = []
        if call.times > 1:
            notes.append(
                text("It is called {times} times; this is the first one.", times=call.times)
            )
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
        elif (behind := self._behind(proposal, call)) is not None:
            norm, place, stream = behind
            why = text("{norm!s} takes its outputs, and nothing else does", norm=norm.path)
            if place == "residual":
                why = text(
                    "{norm!s} takes the sum of its outputs and others, and nothing else does",
                    norm=norm.path,
                )
            found = _normed(proposal, norm, place, why)
        elif (ahead := self._ahead(proposal, call)) is not None:
            norm = ahead
            why = text(
                "its inputs are what {norm!s} makes, and layers alone take that", norm=norm.path
            )
            found = _normed(proposal, norm, "before", why)
            x, sliding = norm.rows(norm.taken), ONE_BY_ONE
        else:
            return self._found(proposal, call, x, None, sliding, notes)
        if found.norm is not None and norm.is_instance:
            notes.append(text("Instance norm is the batch norm of each image by itself."))
        if found.norm is not None and norm.of_images:
            x, sliding = None, ONE_BY_ONE
            notes.append(
                text(
                    "Its inputs are left out: the statistics of its norm are over whole images, "
                    "each by itself."
                )
            )
        return self._found(found, call, x, stream, sliding, notes)

    def _found(
        self,
        proposal: Proposal,
        call: _Call,
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
            what: None if values is None else _tensor(what, values)
            for what, values in given.items()
        }
        return _Found(proposal, files, ONE_BY_ONE if x is None else sliding, (*notes,))

    def _behind(self, proposal: Proposal, call: _Call) -> tuple[Norm, str, Any] | None:
        """The norm that alone reads a layer, its place, and the stream of a sum."""
        import torch

        H = call.made.shape[1 if call.is_kernel else -1]
        part = slice(*(proposal.arrangement.part or (0, H)))
        rows = call.rows(call.made, H)
        noise = torch.randn(
            rows.shape, generator=torch.Generator().manual_seed(0), dtype=rows.dtype
        )
        added = torch.zeros_like(rows)
        added[:, part] = noise[:, part].to(rows.device) * rows.square().mean().sqrt()
        own, changed = added[:, part], call.images(added)
        reader: list[tuple[Norm, bool]] = []
        done = False

        def hook(path: str, number: int, module: Any, taken: Any, made: Any) -> Any:
            nonlocal done
            if path == call.path and not done:
                done = True
                return made + changed
            for norm in self.norms.get((path, number), ()) if done and not reader else ():
                aligned = self._aligned(own, norm.rows(taken - norm.taken), norm)
                if aligned is not None:
                    reader.append((norm, aligned))
                    return norm.made.clone()
            return None

        outputs = self._run(hook)
        if not reader or not self._same(outputs, self._outputs):
            return None
        norm, aligned = reader[0]
        alone, taken = rows[:, part], norm.rows(norm.taken)
        if self._aligned(alone, taken, norm) is not None:
            return norm, "after", None
        return norm, "residual", taken - alone if aligned else None

    def _aligned(self, own: Any, other: Any, norm: Norm) -> bool | None:
        """Whether two sets of cases are the same, in one order; None where they differ.

        Neurons are those of a norm, or of one for each head, which lie one behind the other.
        """
        heads, more = divmod(own.shape[1], norm.channels)
        if more or own.numel() != other.numel():
            return None
        if heads > 1 and (norm.normalizer.shared_by_cases or norm.normalizer.groups > 1):
            return None
        own = own.reshape(-1, norm.channels)
        if self._same(other, own):
            return bool(heads == 1)
        one, another = (values.sort(dim=0).values for values in (other, own))
        return False if self._same(one, another) else None

    def _ahead(self, proposal: Proposal, call: _Call) -> Norm | None:
        """The norm that makes what a layer takes, where layers alone take what it makes."""
        if any(n > 1 for n in proposal.arrangement.kernel):
            return None
        for place, read in reversed(self.norms.items()):
            for norm in read:
                if norm.channels == proposal.arrangement.shape[1] and self._reads(call, norm):
                    return norm if self._is_read_by_layers(place, norm) else None
        return None

    def _reads(self, call: _Call, norm: Norm) -> bool:
        """Whether what a layer takes is what a norm makes."""
        channels = call.taken.shape[1 if call.is_kernel else -1]
        rows = call.rows(call.taken, channels)
        if channels != norm.channels or rows.numel() != norm.made.numel():
            return False
        return self._aligned(rows, norm.rows(norm.made), norm) is not None

    def _is_read_by_layers(self, place: tuple[str, int], norm: Norm) -> bool:
        """Whether outputs stand still where a norm makes twice as much, and its layers the same."""
        key = *place, norm.axis
        if key not in self._alone:
            readers = {path for path, call in self.calls.items() if self._reads(call, norm)}

            def hook(path: str, number: int, module: Any, taken: Any, made: Any) -> Any:
                if (path, number) == place:
                    return 2 * made
                return self.calls[path].made.clone() if path in readers and number == 1 else None

            self._alone[key] = self._same(self._run(hook), self._outputs)
        return self._alone[key]


@contextmanager
def _hooked(model: Any, hook: Callable[..., Any]) -> Iterator[None]:
    """Let a hook see each call of a module; without the fast path, which calls no modules."""
    import torch

    fast = torch.backends.mha.get_fastpath_enabled()
    with ExitStack() as stack:
        torch.backends.mha.set_fastpath_enabled(False)
        stack.callback(torch.backends.mha.set_fastpath_enabled, fast)
        for module in model.modules():
            stack.callback(module.register_forward_hook(hook, with_kwargs=True).remove)
        yield


def _is_layer(module: Any) -> bool:
    import torch

    kinds = (torch.nn.Linear, torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)
    return isinstance(module, kinds) or has_outputs_last(module)


def _module_of(path: str, call: _Call) -> Module:
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


def _sliding(call: _Call) -> Sliding | None:
    """How a kernel moves; None where its padding is none of zeros, or its images are no batch."""
    if not call.is_kernel:
        return ONE_BY_ONE
    module = call.module
    if module.padding_mode != "zeros" or call.taken.ndim != 2 + len(module.kernel_size):
        return None
    padding = 0 if module.padding == "valid" else module.padding
    return Sliding.of(module.stride, padding, module.dilation)
