"""Every verdict on real networks against what hooks on their modules show, as these run themselves.

Nothing of `normgeo.measured` is used for it: parameters are changed in place, the module is called
as its user calls it, and hooks look at what its modules take and make.
"""

import copy
import re
from collections import Counter
from contextlib import contextmanager

import pytest
import torch
from torch import nn

from tests.frameworks.architectures import NETWORKS, built, measured

SINGLE = 2e-5
"""Of the outputs: norms of transformers round to single precision, whatever the network runs in."""

SEEN = 1e-7
"""Of the outputs: what moves more is no rounding; a norm of transformers rounds less of them."""

FACTORS = (1.7, 0.6)


@pytest.fixture(autouse=True)
def every_module_is_called():
    """Hooks see all of them: the fast path of attention calls none."""
    torch.backends.mha.set_fastpath_enabled(False)
    yield
    torch.backends.mha.set_fastpath_enabled(True)


def wide(batch):
    return batch.double() if batch.is_floating_point() else batch


class Hooked:
    """A copy of a network in double precision, with what each of its modules takes and makes."""

    def __init__(self, model, batch):
        self.model, self.batch = copy.deepcopy(model).double(), wide(batch)
        self.names = {id(module): name for name, module in self.model.named_modules()}
        self.base = self.run()

    def run(self, before=None, after=None):
        """Calls in their order, (name, inputs, outputs); hooks may replace either."""
        calls = []

        def taken(module, given):
            if before and given and (new := before(self.names[id(module)], given[0])) is not None:
                return tuple(new if one is given[0] else one for one in given)
            return None

        def made(module, given, answer):
            name = self.names[id(module)]
            new = after(name, answer) if after and isinstance(answer, torch.Tensor) else None
            answer = answer if new is None else new
            tensors = [one.detach().clone() for one in floats(given)]
            calls.append((name, tensors, [one.detach().clone() for one in floats(answer)]))
            return new

        kept = {name: one.clone() for name, one in self.model.named_buffers()}
        hooks = [m.register_forward_pre_hook(taken) for m in self.model.modules()]
        hooks += [m.register_forward_hook(made) for m in self.model.modules()]
        with torch.no_grad():
            self.model(self.batch)
        for hook in hooks:
            hook.remove()
        for name, one in self.model.named_buffers():
            one.copy_(kept[name])
        return calls

    def outputs(self):
        """What the network answers."""
        kept = {name: one.clone() for name, one in self.model.named_buffers()}
        with torch.no_grad():
            found = [one.clone() for one in floats(self.model(self.batch))]
            for name, one in self.model.named_buffers():
                one.copy_(kept[name])
        return found

    @contextmanager
    def changed(self, **values):
        """The network with other values of some parameters."""
        own = dict(self.model.named_parameters())
        kept = {name: own[name].detach().clone() for name in values}
        with torch.no_grad():
            for name, value in values.items():
                own[name].copy_(value)
            yield
            for name, value in kept.items():
                own[name].copy_(value)

    def value(self, name):
        return dict(self.model.named_parameters())[name].detach().clone()


def floats(answer):
    if isinstance(answer, torch.Tensor):
        return [answer] if answer.is_floating_point() else []
    if hasattr(answer, "to_tuple"):
        answer = answer.to_tuple()
    if isinstance(answer, dict):
        answer = answer.values()
    return [x for one in answer for x in floats(one)] if isinstance(answer, tuple | list) else []


def share(before, after):
    """‖after − before‖/‖before‖ of what a module made."""
    one, other = (torch.cat([x.double().ravel() for x in made]) for made in (before, after))
    return float((other - one).norm() / one.norm())


def last_axis(model, name):
    """Whether the neurons of a weight are along its last axis."""
    owner = model.get_submodule(name.rpartition(".")[0]) if "parametriz" not in name else None
    return type(owner).__name__ == "Conv1D"


def changes(one, W, neurons):
    """Changes of Table 1, made here: key → functions of (W, factor, a generator)."""
    long = [axis for axis, n in enumerate(W.shape) if n > 1] or [0]
    rows = long[0] if one.is_vector else neurons
    columns = None if one.is_vector else ((rows - 1) if rows else 1) % W.ndim
    rows %= max(W.ndim, 1)

    def along(values, axis):
        return values.reshape([-1 if a == axis else 1 for a in range(W.ndim)])

    def shaped(generator, *axes):
        shape = [1 if a in axes else n for a, n in enumerate(W.shape)]
        return torch.randn(shape, generator=generator, dtype=W.dtype) * W.square().mean().sqrt()

    def factors(generator, axis, by):
        power = 2 * torch.rand(W.shape[axis], generator=generator, dtype=W.dtype) - 1
        return along(by**power, axis)

    others = [axis for axis in range(W.ndim) if axis != rows]
    made = {
        "all_times": lambda g, by: W * by,
        "row_times": lambda g, by: W * factors(g, rows, by),
        "all_plus": lambda g, by: W + shaped(g, rows),
    }
    if columns is not None:
        made |= {
            "own_plus": lambda g, by: W + shaped(g, *others),
            "column_times": lambda g, by: W * factors(g, columns, by),
            "columns_plus": lambda g, by: W + shaped(g, columns),
        }
    return made


@pytest.mark.parametrize("name", NETWORKS)
def test_outputs_stand_still_exactly_where_it_is_told(name, subtests):
    hooked, table = Hooked(*built(name)), measured(name)
    base = hooked.outputs()
    for tensor, one in table.tensors.items():
        W = hooked.value(tensor)
        neurons = -1 if last_axis(hooked.model, tensor) else 0
        for change, make in changes(one, W, neurons).items():
            verdict = one.verdicts[change]
            if verdict is None:
                continue
            moved = 0.0
            for by in FACTORS:
                new = make(torch.Generator().manual_seed(7), by)
                with hooked.changed(**{tensor: new}):
                    moved = max(moved, share(base, hooked.outputs()))
                if verdict.sign == "✗" and moved > SEEN:
                    break
            with subtests.test(tensor=tensor, change=change):
                if verdict.sign == "✓":
                    assert moved < SINGLE
                elif verdict.sign == "✗":
                    assert moved > SEEN
                else:
                    grown = 256 * W  # so that ε is small beside them
                    with hooked.changed(**{tensor: grown}):
                        start = hooked.outputs()
                    again = changes(one, grown, neurons)[change]
                    large = again(torch.Generator().manual_seed(7), FACTORS[0])
                    with hooked.changed(**{tensor: large}):
                        assert share(start, hooked.outputs()) < max(moved / 100, SINGLE)


NORM = re.compile(r"norm|BatchNorm", re.IGNORECASE)


def norms_of(hooked):
    """Modules that are called norms, or have weights with one; none is found by running it."""
    return {
        name
        for name, module in hooked.model.named_modules()
        if (NORM.search(type(module).__name__) and not [*module.children()][2:])
        or hasattr(module, "parametrizations")
    }


@pytest.mark.parametrize("name", NETWORKS)
def test_norm_behind_a_weight_takes_its_factor_off(name, subtests):
    """The module makes δ times as much, and from a norm on everything stands still."""
    hooked, table = Hooked(*built(name)), measured(name)
    norms = norms_of(hooked)
    for tensor in table.tensors:
        place = table.place(tensor)
        if not {"after", "after_with_bias"} & {*place} or "parametriz" in tensor:
            continue
        parts = [tensor, *table.bias(tensor)]
        scaled = {part: 256 * hooked.value(part) for part in parts}  # beyond ε
        twice = {part: 2 * value for part, value in scaled.items()}
        owner = tensor.rpartition(".")[0]
        with subtests.test(tensor=tensor):
            with hooked.changed(**scaled):
                before = hooked.run()
            with hooked.changed(**twice):
                after = hooked.run()
            names = [call[0] for call in before]
            assert names == [call[0] for call in after]
            start = names.index(owner)
            ratio = after[start][2][0] / before[start][2][0]
            if len(parts) > 1 or not hasattr(hooked.model.get_submodule(owner), "bias"):
                torch.testing.assert_close(ratio, torch.full_like(ratio, 2.0))
            behind = [
                a[0]
                for b, a in zip(before[start:], after[start:], strict=True)
                if a[0] in norms
                and share(b[1][:1], a[1][:1]) > 0.1
                and share(b[2][:1], a[2][:1]) < 1e-3
            ]
            assert behind
            assert share(before[-1][2], after[-1][2]) < 1e-3


@pytest.mark.parametrize("name", NETWORKS)
def test_weight_that_reads_norms_takes_twice_as_much_where_they_make_it(name, subtests):
    """Each norm makes twice what it made, whatever it takes; sums and ReLU of these follow."""
    hooked, table = Hooked(*built(name)), measured(name)
    norms = norms_of(hooked)
    made: dict[str, list[torch.Tensor]] = {}
    for at, _, outputs in hooked.base:
        made.setdefault(at, []).extend(outputs[:1])
    reads: set[str] = set()
    while True:
        times = Counter()

        def halved(at, taken, reads=frozenset(reads)):
            return taken / 2 if at in reads else None

        def twice(at, answer, times=times):
            times[at] += 1
            return 2 * made[at][times[at] - 1] if at in norms else None

        after = hooked.run(before=halved, after=twice)
        more = {
            here[0]
            for here, there in zip(hooked.base, after, strict=True)
            if here[1] and is_twice(here, there) and weights_of(hooked.model, here[0], table)
        } - reads
        if not more:
            break
        reads |= more
    follow = {tensor for at in reads for tensor in weights_of(hooked.model, at, table)}
    for tensor in table.roles:
        if "before" in table.place(tensor):
            with subtests.test(tensor=tensor):
                assert tensor in follow


def is_twice(here, there):
    return share([2 * here[1][0]], there[1][:1]) < SINGLE


@pytest.mark.parametrize("name", NETWORKS)
def test_weights_that_alone_read_a_norm_are_told(name, subtests):
    """What a norm makes is doubled, and halved again where weights take it: the rest stands still.

    A norm that a residual stream or a product reads as well shows itself by this.
    """
    hooked, table = Hooked(*built(name)), measured(name)
    norms = norms_of(hooked)
    for norm in sorted(norms):
        channels = max(
            (p.numel() for p in hooked.model.get_submodule(norm).parameters()), default=0
        )
        readers = []
        while True:

            def halved(at, taken, readers=readers):
                return taken / 2 if at in readers else None

            def twice(at, made, norm=norm):
                return 2 * made if at == norm else None

            after = hooked.run(before=halved, after=twice)
            more = next(
                (
                    here[0]
                    for here, there in zip(hooked.base, after, strict=True)
                    if here[0] not in (*norms, *readers)
                    and here[1]
                    and is_twice(here, there)
                    and takes(hooked.model, here[0], table, channels)
                ),
                None,
            )
            if more is None:
                break
            readers.append(more)
        if not readers or share(hooked.base[-1][2], after[-1][2]) > SINGLE:
            continue
        for reader in readers:
            for tensor in weights_of(hooked.model, reader, table):
                with subtests.test(norm=norm, tensor=tensor):
                    assert "before" in table.place(tensor)


def takes(model, path, table, channels):
    """Whether a module has a weight with a column for each of so many channels."""
    own = dict(model.named_parameters())
    columns = [0 if last_axis(model, name) else 1 for name in weights_of(model, path, table)]
    shapes = [own[name].shape for name in weights_of(model, path, table)]
    return channels in [shape[axis] for shape, axis in zip(shapes, columns, strict=True)]


def weights_of(model, path, table):
    """The measured matrices that a module takes what it is called with into."""
    owned = [f"{path}.{n}" for n, p in model.get_submodule(path).named_parameters(recurse=False)]
    return [name for name in owned if table.roles.get(name) == "matrix"]


@pytest.mark.parametrize("name", NETWORKS)
def test_dead_rows_are_those_without_a_gradient(name, subtests):
    """A row that × δ switches on again is not called dead, and has none either."""
    hooked, table = Hooked(*built(name)), measured(name)
    for module in hooked.model.modules():
        if isinstance(module, nn.Embedding):
            module.padding_idx = None  # which has no gradient, and moves the outputs
    sums: dict[str, torch.Tensor] = {}
    for seed in range(3):
        outputs = floats(hooked.model(hooked.batch))
        generator = torch.Generator().manual_seed(seed)
        total = sum((x * torch.randn(x.shape, generator=generator)).sum() for x in outputs)
        hooked.model.zero_grad()
        total.backward()
        for tensor, parameter in hooked.model.named_parameters():
            grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.abs()
            sums[tensor] = sums.get(tensor, 0) + grad
    most = max(one.max() for one in sums.values())
    for tensor, one in table.tensors.items():
        axis = -1 if last_axis(hooked.model, tensor) else 0
        rows = sums[tensor].movedim(axis, 0).reshape(one.neurons, -1).amax(dim=1)
        slight, still = (
            {*torch.nonzero(kind).ravel().tolist()} for kind in (rows < 1e-9 * most, rows == 0)
        )
        revived = {row for row, verdict in one.rows.items() if verdict.sign == "✗"}
        with subtests.test(tensor=tensor):
            assert {*one.dead} <= slight
            assert still <= {*one.dead, *one.undecided, *one.untried, *revived}


def test_dead_rows_are_units_that_no_case_switches_on():
    """Of a network that is planted with three of them, by what hooks see its units make."""
    import normgeo.torch

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 3))
    with torch.no_grad():
        model[0].bias[[1, 4, 8]] = -40
    X = torch.randn(60, 5)
    off = Hooked(model, X).base[1][2][0].amax(dim=0) == 0
    assert off.nonzero().ravel().tolist() == [1, 4, 8]
    table = normgeo.torch.measure(model, X, tries=64)
    assert table.tensors["0.weight"].dead == table.tensors["0.bias"].dead == (1, 4, 8)
