"""A recording of PyTorch holds what its optimizer did, by other sums, however a step came about."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

import normgeo
import normgeo.torch
from normgeo.base.refusal import Refusal

X = torch.randn(24, 5, generator=torch.Generator().manual_seed(1))
Y = torch.arange(24) % 3


def network():
    return nn.Sequential(
        nn.Linear(5, 6, bias=False), nn.BatchNorm1d(6), nn.ReLU(),
        nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 3),
    )  # fmt: skip


def trained(model, optimizer, steps=6, before=None, schedule=None, micro=1, scaler=None):
    """Train, and return (weights, gradients, η) of each step, as seen from outside."""
    seen = []
    for _ in range(steps):
        for part in range(micro):
            loss = cross_entropy(model(X[part::micro]), Y[part::micro]) / micro
            loss.backward()
        if before:
            before()
        rate = optimizer.param_groups[0]["lr"]
        optimizer.step()
        weight = next(p for p in model.parameters() if p.shape == (6, 5))
        seen.append((weight.detach().double().numpy().copy(), weight.grad.double().numpy(), rate))
        if schedule:
            schedule.step()
        optimizer.zero_grad()
    return seen


def check(path, start, seen):
    run = normgeo.read_recording(path)
    assert len(run.steps) == len(seen) + 1
    rows = [place for place, name in enumerate(run.names) if name.startswith("0.weight")]
    assert len(rows) == 6
    last = start
    for record, (W, G, rate) in enumerate(seen, 1):
        norms = np.linalg.norm(W, axis=1)
        np.testing.assert_allclose(run.norms[record, rows], norms, rtol=1e-6)
        np.testing.assert_allclose(
            run.gradient_norms[record, rows], np.linalg.norm(G, axis=1), rtol=1e-5
        )
        cosine = (W * last).sum(axis=1) / norms / np.linalg.norm(last, axis=1)
        np.testing.assert_allclose(np.cos(run.angles[record, rows]), cosine, atol=1e-9)
        np.testing.assert_allclose(run.rates[record, rows], rate)
        last = W
    return run


def begun(model):
    return model[0].weight.detach().double().numpy().copy()


OPTIMIZERS = {
    "gradient_descent": lambda p: torch.optim.SGD(p, 0.1, weight_decay=1e-3),
    "momentum": lambda p: torch.optim.SGD(p, 0.1, momentum=0.8, weight_decay=1e-3),
    "adam": lambda p: torch.optim.Adam(p, 1e-2, betas=(0.8, 0.9), eps=1e-7, weight_decay=1e-3),
    "adamw": lambda p: torch.optim.AdamW(p, 1e-2, weight_decay=0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_blocks_rates_decay_and_optimizer_come_from_the_two(name, tmp_path):
    model = network()
    optimizer = OPTIMIZERS[name](model.parameters())
    start = begun(model)
    with normgeo.torch.Recorder.of(model, optimizer, tmp_path / "run", batch=X) as recorder:
        seen = trained(model, optimizer)
    run = check(tmp_path / "run", start, seen)
    assert run.optimizer.key == name
    assert {(t.name, t.bias, t.normalizer.words) for t in run.tensors} == {
        ("0.weight", None, ("batch", "batch")),
        ("3.weight", "3.bias", ("layer", "layer")),
        ("5.weight", None, ("none", "none")),
    }
    assert (run.decays == optimizer.param_groups[0]["weight_decay"]).all()
    assert recorder.table.place("0.weight") == ("after",)
    trained(model, optimizer, 1)  # the closed one hears of no step
    assert len(normgeo.read_recording(tmp_path / "run").steps) == 7


@pytest.mark.parametrize(("option", "value"), [("beta", 0.8)])
def test_momentum_is_that_of_the_optimizer(option, value, tmp_path):
    model = network()
    optimizer = OPTIMIZERS["momentum"](model.parameters())
    with normgeo.torch.Recorder.of(model, optimizer, tmp_path / "run", batch=X):
        trained(model, optimizer, 12)
    run = normgeo.read_recording(tmp_path / "run")
    assert getattr(run.optimizer, option) == value
    found = [one for one in normgeo.findings(run) if one.name.startswith("0.weight")]
    assert all(one.norm_off < 1e-4 and one.angle_off < 1e-3 for one in found)  # its exact laws


def test_micro_batches_are_no_steps_and_their_sum_is_the_gradient(tmp_path):
    model = network()
    optimizer = OPTIMIZERS["momentum"](model.parameters())
    start = begun(model)
    with normgeo.torch.Recorder.of(model, optimizer, tmp_path / "run", batch=X):
        seen = trained(model, optimizer, micro=4)
    check(tmp_path / "run", start, seen)


def test_rate_is_that_of_the_step_before_the_schedule_moves_on(tmp_path):
    model = network()
    optimizer = OPTIMIZERS["adamw"](model.parameters())
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    start = begun(model)
    with normgeo.torch.Recorder.of(model, optimizer, tmp_path / "run", batch=X):
        seen = trained(model, optimizer, schedule=schedule)
    assert seen[0][2] == 2 * seen[1][2]
    check(tmp_path / "run", start, seen)


def test_clipped_gradients_are_recorded_as_the_step_took_them(tmp_path):
    model = network()
    optimizer = OPTIMIZERS["momentum"](model.parameters())
    start = begun(model)
    clip = lambda: nn.utils.clip_grad_norm_(model.parameters(), 0.01)  # noqa: E731
    with normgeo.torch.Recorder.of(model, optimizer, tmp_path / "run", batch=X):
        seen = trained(model, optimizer, before=clip)
    check(tmp_path / "run", start, seen)


@pytest.mark.parametrize("wrap", [nn.DataParallel, lambda m: torch.compile(m, backend="eager")])
def test_wrapped_model_under_autocast(wrap, tmp_path):
    model = network()
    optimizer = OPTIMIZERS["momentum"](model.parameters())
    start, wrapped = begun(model), wrap(model)
    with (
        normgeo.torch.Recorder.of(wrapped, optimizer, tmp_path / "run", batch=X),
        torch.autocast("cpu", torch.bfloat16),
    ):
        seen = trained(wrapped, optimizer)
    check(tmp_path / "run", start, seen)


def test_step_that_a_scaler_leaves_out_is_none(tmp_path):
    model = network()
    optimizer = OPTIMIZERS["momentum"](model.parameters())
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    start, seen = begun(model), []
    with normgeo.torch.Recorder.of(model, optimizer, tmp_path / "run", batch=X):
        for step in range(4):
            scaler.scale(cross_entropy(model(X), Y)).backward()
            if step == 1:
                model[0].weight.grad[0, 0] = torch.inf
            scaler.step(optimizer)
            scaler.update()
            if step != 1:
                W, G = model[0].weight, model[0].weight.grad
                seen.append((W.detach().double().numpy().copy(), G.double().numpy().copy(), 0.1))
            optimizer.zero_grad()
    check(tmp_path / "run", start, seen)


def test_own_rate_of_a_group_is_its_tensors_and_a_bias_of_another_decay_is_no_part(tmp_path):
    model = network()
    optimizer = torch.optim.SGD(
        [
            {"params": [model[0].weight, model[3].weight], "lr": 0.3, "weight_decay": 0.1},
            {"params": [model[3].bias]},
        ],
        lr=0.1,
    )
    with normgeo.torch.Recorder.of(model, optimizer, tmp_path / "run", batch=X):
        trained(model, optimizer, 2)
    run = normgeo.read_recording(tmp_path / "run")
    assert [tensor.name for tensor in run.tensors] == ["0.weight", "3.weight"]
    assert run.tensors[1].bias is None
    assert run.tensors[1].normalizer.words == ("none", "none")
    assert (run.rates == 0.3).all()


def test_weight_behind_a_gain_of_zero_is_recorded_without_a_norm(tmp_path):
    """As where residual blocks begin with one: it moves nothing yet, and later it will."""
    model = network()
    nn.init.zeros_(model[1].weight)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    start = begun(model)
    with normgeo.torch.Recorder.of(model, optimizer, tmp_path / "run", batch=X):
        seen = trained(model, optimizer)
    run = check(tmp_path / "run", start, seen)
    assert run.tensors[0].normalizer.words == ("none", "none")


def test_recording_goes_on(tmp_path):
    model = network()
    optimizer = OPTIMIZERS["momentum"](model.parameters())
    recorder = normgeo.torch.Recorder.of(model, optimizer, tmp_path / "run", batch=X)
    trained(model, optimizer, 3)
    recorder.close()
    again = {
        "table": recorder.table,
        "append": True,
        "names": [*recorder.table.recorder()["blocks"]],
    }
    with normgeo.torch.Recorder.of(model, optimizer, tmp_path / "run", **again):
        trained(model, optimizer, 2)
    assert normgeo.read_recording(tmp_path / "run").steps[-1] >= 5


def test_what_is_missing_is_refused(tmp_path):
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    table = normgeo.torch.measure(model, X)
    for given, sentence in [
        ({}, r"^Which weights a norm stands behind is measured: give a `batch`"),
        ({"batch": X, "table": table}, r"^Which weights a norm stands behind is measured"),
        ({"table": table, "names": ["fc"]}, r"^`names` must be of measured matrices"),
    ]:
        with pytest.raises(Refusal, match=sentence):
            normgeo.torch.Recorder.of(model, optimizer, tmp_path / "run", **given)
    with pytest.raises(Refusal, match=r"^`optimizer` must be one of torch\.optim; got dict\.$"):
        normgeo.torch.Recorder.of(model, {}, tmp_path / "run", table=table)
    other = torch.optim.SGD(network().parameters(), 0.1)
    with pytest.raises(Refusal, match=r"^The optimizer must have a matrix of the module"):
        normgeo.torch.Recorder.of(model, other, tmp_path / "run", table=table)
    assert not (tmp_path / "run").exists()
