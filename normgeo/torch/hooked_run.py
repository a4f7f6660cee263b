"""A module that runs under hooks, which show the norm that reads a layer, or that it reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, final

from normgeo.base.refusal import Refusal
from normgeo.checkpoints.proposal import Proposal
from normgeo.torch.network import function_of, has_outputs_last, parameters_of, plain_name
from normgeo.torch.norms import Norm, recognized

SAME = {"float64": 1e-6, "float32": 1e-4}
"""Types of numbers → how far apart two results may be that are the same, of their length."""

COARSE = 0.1
"""That of narrower types."""


@final
@dataclass(frozen=True, eq=False)
class Call:
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
class HookedRun:
    """A module that was run once, and is run again with a change in one of its layers.

    Attributes:
        calls: the first of each of its layers, by path. norms: what each call of another module
            may be read as, by path and number of the call.

    """

    def __init__(self, model: Any, f: Callable[..., Any], parameters: Any, batch: Any) -> None:
        import torch

        self._model, self._f, self._parameters, self._batch = model, f, parameters, batch
        self.calls: dict[str, Call] = {}
        self.norms: dict[tuple[str, int], tuple[Norm, ...]] = {}
        self._paths: dict[int, str] = {id(m): plain_name(n) for n, m in model.named_modules()}
        self._close = COARSE
        self._alone: dict[tuple[str, int, int], bool] = {}
        self._outputs = self._again(self._keep)
        with torch.random.fork_rng():
            torch.rand(1)  # so that dropout draws others
            again = self._again(lambda *_: None)
        if not self._same(again, self._outputs):
            raise Refusal(
                "Layers are looked at in several calls of the module, which must agree. Switch "
                "dropout and other noise off: `.eval()`, and `.train()` of batch norms alone."
            )

    @classmethod
    def of(cls, model: Any, batch: Any) -> HookedRun:
        """Run it in float64 where that works, otherwise as it is."""
        f = function_of(model)
        own = {name: one.detach() for name, one in parameters_of(model).items()}
        try:
            return cls(model, f, {name: one.double() for name, one in own.items()}, batch)
        except (TypeError, RuntimeError):
            return cls(model, f, own, batch)

    def _again(self, hook: Callable[..., Any]) -> Any:
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

        with _hooked(self._model, each), torch.no_grad(), torch.random.fork_rng():
            found = self._f(self._parameters, self._batch)
        self._close = max(SAME.get(str(one.dtype).rpartition(".")[-1], COARSE) for one in found)
        return torch.cat([one.double().reshape(-1) for one in found])

    def _keep(self, path: str, call: int, module: Any, taken: Any, made: Any) -> None:
        """Keep what layers and norms take and make; copies, as a later module may write to it."""
        if not taken.is_floating_point():
            return
        if _is_layer(module):
            first = self.calls.get(path) or Call(path, module, taken.clone(), made.clone(), 0)
            self.calls[path] = replace(first, times=call)
        elif read := recognized(path, module, taken, made):
            kept = {"taken": taken.clone(), "made": made.clone()}
            self.norms[path, call] = tuple(replace(norm, **kept) for norm in read)

    def _same(self, one: Any, other: Any) -> bool:
        return bool((one - other).norm() <= self._close * other.norm())

    def behind(self, proposal: Proposal, call: Call) -> tuple[Norm, str, Any] | None:
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

        outputs = self._again(hook)
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

    def ahead(self, proposal: Proposal, call: Call) -> Norm | None:
        """The norm that makes what a layer takes, where layers alone take what it makes."""
        if any(n > 1 for n in proposal.arrangement.kernel):
            return None
        for place, read in reversed(self.norms.items()):
            for norm in read:
                if norm.channels == proposal.arrangement.shape[1] and self._reads(call, norm):
                    return norm if self._is_read_by_layers(place, norm) else None
        return None

    def _reads(self, call: Call, norm: Norm) -> bool:
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

            self._alone[key] = self._same(self._again(hook), self._outputs)
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
