"""What is planted in modules of PyTorch is found, or refused in a sentence."""

import pytest
import torch
from torch import nn

import normgeo.torch
from normgeo.base.budget import Budget
from normgeo.base.refusal import Refusal

X = torch.randn(40, 5, generator=torch.Generator().manual_seed(3))


def normalized(eps=1e-5):
    model = nn.Sequential(
        nn.Linear(5, 6, bias=False), nn.LayerNorm(6, eps=eps), nn.ReLU(), nn.Linear(6, 3)
    )
    with torch.no_grad():
        model[1].weight += 0.3 * torch.randn(6)
        model[1].bias += 0.3 * torch.randn(6)
    return model


def measured(model, batch=X, **options):
    return normgeo.torch.measure(model, batch, tries=32, **options)


def test_row_of_zeros():
    model = nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, 3))
    with torch.no_grad():
        model[0].weight[2] = 0
    assert measured(model).tensors["0.weight"].zeros == (2,)


def test_dead_relu():
    model = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3))
    with torch.no_grad():
        model[0].bias[4] = -50
    table = measured(model)
    assert table.tensors["0.weight"].dead == table.tensors["0.bias"].dead == (4,)


def test_gain_of_zero():
    model = normalized()
    with torch.no_grad():
        model[1].weight[1], model[1].bias[1] = 0, -1  # and ReLU takes what is left
    table = measured(model)
    assert table.tensors["1.weight"].zeros == (1,)
    assert table.place("0.weight") == ("after",)  # the neuron's row still is in the statistics
    assert table.tensors["0.weight"].dead == ()


@pytest.mark.parametrize("eps", [1e-12, 1e-5, 1e-2])
def test_eps_of_any_size_is_told(eps):
    table = measured(normalized(eps))
    assert table.tensors["0.weight"].verdicts["all_times"].sign in ("≈" if eps > 1e-10 else "✓≈")
    assert table.place("0.weight") == ("after",)


def test_norm_that_is_never_called():
    model = normalized()
    model.other = nn.LayerNorm(6)
    model.forward = lambda x: model[3](model[2](model[1](model[0](x))))
    table = measured(model)
    assert table.place("other.weight") == table.place("other.bias") == ("unused",)
    assert table.groups().of("other.weight").key == "unused"


def test_tied_weights_are_one():
    model = nn.Sequential(nn.Embedding(11, 8), nn.LayerNorm(8), nn.Linear(8, 11, bias=False))
    model[2].weight = model[0].weight
    table = measured(model, torch.arange(11)[None])
    assert "2.weight" not in table.tensors
    assert not table.tensors["0.weight"].ignores("all_times")  # the norm takes it off, the head not


def test_dropout_that_is_left_on_is_refused():
    model = nn.Sequential(nn.Linear(5, 6), nn.Dropout(0.5), nn.Linear(6, 3)).train()
    state = torch.random.get_rng_state()
    with pytest.raises(Refusal, match=r"^Two calls with the same parameters must agree; .* Switch"):
        measured(model)
    assert torch.equal(state, torch.random.get_rng_state())
    assert measured(model.eval()).complete


def test_network_in_bfloat16():
    """What moves much is told, and nothing is told that is not so."""
    model = normalized().bfloat16()
    table = normgeo.torch.measure(model, X.bfloat16(), float64=False)
    assert table.kinds == ("bfloat16",)
    assert table.rounding > 2**-8
    true = measured(normalized())
    for name, one in table.tensors.items():
        assert one.dead == ()
        for change, verdict in one.verdicts.items():
            if verdict is not None and verdict.sign != "?":
                assert one.ignores(change) == true.tensors[name].ignores(change), (name, change)


def test_network_in_bfloat16_is_widened_where_it_can_be():
    table = measured(normalized().bfloat16(), X.bfloat16())
    assert table.kinds == ("float64",)


def test_autocast_is_measured_as_it_runs():
    """It lowers what is of single precision, and leaves what is of double."""
    with torch.autocast("cpu", torch.bfloat16):
        assert measured(normalized()).rounding < 1e-12
        assert normgeo.torch.measure(normalized(), X, float64=False).rounding > 1e-4


def test_outputs_that_are_no_numbers():
    model = normalized()
    model.append(nn.LogSoftmax(0))
    with pytest.raises(Refusal, match=r"^The outputs must be finite numbers; got"):
        measured(model, X * torch.inf)


def test_module_that_writes_to_its_parameters_is_refused_and_left_as_it_is():
    class Writes(nn.Linear):
        def forward(self, x):
            self.weight.data.mul_(1.5)
            return super().forward(x)

    model = Writes(5, 3)
    kept = model.weight.detach().clone()
    with pytest.raises(Refusal):
        measured(model)
    assert torch.equal(model.weight, kept)


def test_parameters_statistics_and_mode_are_left_as_they_are():
    model = nn.Sequential(nn.Linear(5, 6), nn.BatchNorm1d(6), nn.Linear(6, 3)).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    table = measured(model)
    after = model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert model.training
    assert all(parameter.grad is None for parameter in model.parameters())
    assert table.place("0.weight") == ("after",)
    assert table.place("0.bias") == ("unused",)


def test_four_gigabytes_are_refused_before_any_is_touched():
    model = nn.Module()
    model.weight = nn.Parameter(torch.empty(32768, 32768))  # pages that nobody writes to
    model.forward = lambda x: x @ model.weight
    with pytest.raises(Refusal, match=r"^A measurement would take about 43 GB; `budget` allows"):
        normgeo.torch.measure(model, X, budget=Budget(bytes=8e9, seconds=60))


@pytest.mark.parametrize("wrap", [torch.compile, nn.DataParallel])
def test_wrapped_modules_have_the_names_of_the_module_inside(wrap):
    model = normalized()
    assert [*measured(wrap(model)).tensors] == [name for name, _ in model.named_parameters()]


def test_batches_of_several_kinds():
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(5, 3)

        def forward(self, x, scale=1.0):
            return {"logits": scale * self.fc(x), "cache": object(), "tokens": torch.arange(3)}

    model = Named()
    for batch in (X, (X, 2.0), [X], {"x": X, "scale": 0.5}):
        assert measured(model, batch).complete
    assert measured(model, None, inputs=[X, 2 * X]).complete


def test_what_is_no_module_is_refused():
    with pytest.raises(Refusal, match=r"^`model` must be a torch\.nn\.Module; got function\.$"):
        normgeo.torch.measure(lambda x: x, X)


def test_groups_are_taken_by_an_optimizer_and_change_what_decays():
    model = normalized()
    groups = measured(model).groups()
    optimizer = torch.optim.AdamW(groups.for_torch(dict(model.named_parameters()), decay=0.1))
    before = model[0].weight.detach().norm(), model[1].weight.detach().clone()
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    assert model[0].weight.norm() < before[0]
    assert torch.equal(model[1].weight, before[1])
