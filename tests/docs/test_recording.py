"""The loops of docs/recording.md run, with arrays that are like those of PyTorch and Flax."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import normgeo

PAGE = (Path(__file__).parents[2] / "docs" / "recording.md").read_text("utf-8")
HEADING = re.compile(r"^## (.*)$", re.MULTILINE)
CODE = dict(zip(HEADING.findall(PAGE), HEADING.split(PAGE)[2::2], strict=True))


def code_of(section):
    (lines,) = re.findall(r"```python\n(.*?)```", CODE[section], re.S)
    return lines


class Parameter:
    """A parameter of PyTorch: no array until it is detached and on the processor."""

    def __init__(self, values):
        self.values, self.grad = values, None

    def detach(self):
        return SimpleNamespace(cpu=lambda: self.values)

    def __array__(self, *_, **__):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")


class Jax:
    """An array of JAX: NumPy views it, and nobody writes into it."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        values = self.values.view()
        values.flags.writeable = False
        return values


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_block_of_python_is_run():
    sections = [name for name, words in CODE.items() if "```python" in words]
    assert sections == [
        "PyTorch",
        "A bias before the norm",
        "Flax",
        "From checkpoints alone",
        "In Python",
    ]


def test_the_loop_of_pytorch_records_every_step(folder, rng, capsys):
    weight = Parameter(rng.standard_normal((4, 3, 2, 2)).astype(np.float32))
    model = SimpleNamespace(named_parameters=lambda: [("conv1.weight", weight)])
    lengths = []

    def train_step(model, inputs, targets):
        weight.grad = Parameter(rng.standard_normal(weight.values.shape).astype(np.float32))
        lengths.append(np.linalg.norm(weight.grad.values.reshape(4, -1), axis=1))
        np.subtract(weight.values, 0.01 * weight.grad.values, out=weight.values, casting="unsafe")

    names = {"normgeo": normgeo, "model": model, "batches": [(1, 2)] * 8}
    exec(code_of("PyTorch"), names | {"train_step": train_step})
    run = normgeo.read_recording("torch.run")
    assert run.is_every_step
    assert run.norms.shape == (8, 4)
    assert (run.angles[1:] > 0).all()
    assert np.isnan(run.gradient_norms[0]).all()
    np.testing.assert_allclose(run.gradient_norms[1:], lengths[:-1], rtol=1e-6)
    exec(code_of("In Python"), {"normgeo": normgeo})
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_a_bias_is_recorded_as_the_page_says(folder, rng):
    W, b = rng.standard_normal((4, 3)), rng.standard_normal(4)
    named = [("fc.weight", Parameter(W)), ("fc.bias", Parameter(b))]
    model = SimpleNamespace(named_parameters=lambda: named)
    exec(code_of("A bias before the norm"), {"normgeo": normgeo, "model": model})
    block = np.column_stack([W, b])
    expected = np.linalg.norm(block - block.mean(axis=0))
    assert normgeo.read_recording("bias.run").norms == pytest.approx(expected, rel=1e-12)


def test_the_loop_of_flax_records_every_step(folder, rng):
    def params():
        return {"Dense_0": {"kernel": Jax(rng.standard_normal((5, 4)))}}

    names = {"normgeo": normgeo, "params": params(), "batches": range(6)}
    exec(code_of("Flax"), names | {"train_step": lambda params_of, batch: params()})
    run = normgeo.read_recording("flax.run")
    assert (run.names, run.norms.shape) == (("Dense_0/kernel",), (6, 1))
    assert run.tensors[0].size == 20


def test_the_loops_are_short():
    assert [len(code_of(section).splitlines()) for section in ("PyTorch", "Flax")] == [7, 5]


def test_checkpoints_are_recorded_as_the_page_says(folder, rng):
    for name in ("start", "later"):
        np.savez(f"{name}.npz", **{"conv1.weight": rng.standard_normal((4, 3))})
    exec(code_of("From checkpoints alone"), {"normgeo": normgeo})
    assert normgeo.read_recording("kept.run").spans.tolist() == [0, 500]
