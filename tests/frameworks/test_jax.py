"""Networks of Flax and Equinox are measured as derived by hand, and optax recorded as it steps."""

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

import normgeo
import normgeo.jax
from tests.frameworks.test_architectures import signs

X = jax.random.normal(jax.random.key(0), (24, 5))
KEYS = jax.random.split(jax.random.key(1), 8)


def drawn(parameters):
    """Vectors as after some training."""
    leaves, structure = jax.tree_util.tree_flatten(parameters)
    keys = jax.random.split(jax.random.key(2), len(leaves))
    return structure.unflatten(
        leaf + 0.3 * jax.random.normal(key, leaf.shape) if leaf.ndim == 1 else leaf
        for leaf, key in zip(leaves, keys, strict=True)
    )


class Perceptron(nn.Module):
    norm: type = nn.LayerNorm

    @nn.compact
    def __call__(self, x):
        x = nn.relu(self.norm()(nn.Dense(6)(x)))
        return nn.Dense(3)(x)


def test_flax_layer_norm():
    """Kernels count their neurons along the last axis; the relu passes a gain on."""
    model = Perceptron()
    parameters = drawn(model.init(KEYS[0], X)["params"])
    table = normgeo.jax.measure(lambda p, x: model.apply({"params": p}, x), parameters, [X])
    assert table.kinds == ("float64",)
    assert signs(table.tensors["Dense_0/kernel"]) == "xxixxx"
    assert signs(table.tensors["Dense_0/bias"]) == "xxi"
    assert table.place("Dense_0/kernel") == ("after_with_bias",)
    assert table.place("Dense_1/kernel") == ("before",)
    assert table.roles["LayerNorm_0/scale"] == "gain"


def test_flax_convolutions_and_batch_norm_in_training():
    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Conv(6, (3, 3), use_bias=False)(x)
            x = nn.relu(nn.BatchNorm(use_running_average=False)(x))
            x = nn.Conv(4, (3, 3))(x)
            return nn.Dense(3)(x.mean(axis=(1, 2)))

    model, images = Net(), jax.random.normal(KEYS[1], (8, 8, 8, 3))
    variables = model.init(KEYS[2], images)
    parameters = drawn(variables.pop("params"))

    def f(p, x):
        return model.apply({"params": p, **variables}, x, mutable=["batch_stats"])[0]

    table = normgeo.jax.measure(f, parameters, [images])
    assert signs(table.tensors["Conv_0/kernel"]) == "iixxxx"
    assert table.place("Conv_0/kernel") == ("after",)
    assert table.place("Conv_1/kernel") == ("before",)
    assert table.recorder()["blocks"]["Conv_0/kernel"] == "batch"


def test_flax_transformer_block_with_rms_norm():
    class Block(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            x = nn.Embed(11, 8)(tokens)
            x = x + nn.SelfAttention(2, use_bias=False)(nn.RMSNorm()(x))
            h = nn.RMSNorm()(x)
            h = nn.silu(nn.Dense(12, use_bias=False)(h))
            x = x + nn.Dense(8, use_bias=False)(h)
            return nn.Dense(5, use_bias=False)(nn.RMSNorm()(x))

    model, tokens = Block(), jnp.arange(24).reshape(4, 6) * 7 % 11
    parameters = drawn(model.init(KEYS[3], tokens)["params"])
    table = normgeo.jax.measure(lambda p: model.apply({"params": p}, tokens), parameters)
    joint = {"Embed_0/embedding", "SelfAttention_0/out/kernel", "Dense_1/kernel"}
    assert {name for name in table.names if "after_sum" in table.place(name)} == joint
    assert table.place("Dense_0/kernel") == table.place("Dense_2/kernel") == ("before",)


def test_nnx_module_is_a_function_of_its_parameters():
    model = nnx.Sequential(
        nnx.Linear(5, 6, use_bias=False, rngs=nnx.Rngs(0)), nnx.RMSNorm(6, rngs=nnx.Rngs(1)),
        nnx.Linear(6, 3, rngs=nnx.Rngs(2)),
    )  # fmt: skip
    graph, parameters = nnx.split(model)
    table = normgeo.jax.measure(lambda p: nnx.merge(graph, p)(X), parameters)
    (first,) = (name for name in table.names if "0/kernel" in name)
    assert signs(table.tensors[first]) == "ixxxxx"
    assert table.place(first) == ("after",)


def test_equinox_module_counts_its_neurons_first():
    model = eqx.nn.Sequential(
        [
            eqx.nn.Linear(5, 6, use_bias=False, key=KEYS[4]), eqx.nn.LayerNorm(6),
            eqx.nn.Lambda(jax.nn.relu), eqx.nn.Linear(6, 3, key=KEYS[5]),
        ]
    )  # fmt: skip
    table = normgeo.jax.measure(lambda m, x: jax.vmap(m)(x), model, [X])
    assert signs(table.tensors["layers/0/weight"]) == "ixixxx"
    assert table.place("layers/0/weight") == ("after",)
    assert table.place("layers/3/weight") == ("before",)
    assert not jax.config.jax_enable_x64  # only while it measures


def test_optax_takes_the_groups_as_a_mask():
    model = Perceptron()
    parameters = drawn(model.init(KEYS[0], X)["params"])
    table = normgeo.jax.measure(lambda p, x: model.apply({"params": p}, x), parameters, [X])
    mask = table.groups().for_optax(parameters)
    rule = optax.adamw(0.1, weight_decay=0.5, mask=mask)
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    updates, _ = rule.update(zeros, rule.init(parameters), parameters)
    assert jnp.allclose(updates["Dense_0"]["kernel"], -0.05 * parameters["Dense_0"]["kernel"])
    assert not updates["LayerNorm_0"]["scale"].any()
    assert not updates["Dense_0"]["bias"].any()


def train(rule, path, steps=6, **options):
    """Train by optax, and return what the recording holds and the kernels of all calls."""
    model = Perceptron(nn.RMSNorm)
    parameters = model.init(KEYS[6], X)["params"]
    f = lambda p: model.apply({"params": p}, X)  # noqa: E731
    table = normgeo.jax.measure(f, parameters)
    state, kernels = rule.init(parameters), [parameters["Dense_0"]["kernel"]]
    with normgeo.jax.Recorder.of(parameters, state, path, table=table, **options) as recorder:
        for _ in range(steps):
            gradients = jax.grad(lambda p: (f(p) ** 2).mean())(parameters)
            updates, state = rule.update(gradients, state, parameters)
            parameters = optax.apply_updates(parameters, updates)
            recorder.step(parameters, state, gradients)
            kernels.append(parameters["Dense_0"]["kernel"])
    return normgeo.read_recording(path), np.array(kernels)


def test_recording_of_optax_with_its_own_hyperparameters(tmp_path):
    rule = optax.inject_hyperparams(optax.adamw)(
        learning_rate=optax.exponential_decay(0.1, 1, 0.5), weight_decay=0.01
    )
    run, _ = train(rule, tmp_path / "run", optimizer="adamw")
    np.testing.assert_allclose(run.rates[1:, 0], 0.1 * 0.5 ** np.arange(6), rtol=1e-6)
    np.testing.assert_allclose(run.decays[1:], 0.01, rtol=1e-6)
    assert [*run.steps] == [0, 1, 2, 3, 4, 5, 6]


def test_recording_of_optax_with_a_stated_schedule(tmp_path):
    schedule = optax.exponential_decay(0.1, 1, 0.5)
    run, kernels = train(optax.sgd(schedule), tmp_path / "run", rate=schedule)
    np.testing.assert_allclose(run.rates[1:, 0], 0.1 * 0.5 ** np.arange(6), rtol=1e-6)
    row = next(i for i, name in enumerate(run.names) if name.startswith("Dense_1/kernel[0]"))
    assert row >= 0
    assert len(kernels) == 7


def test_micro_batches_of_optax_are_no_steps(tmp_path):
    rule = optax.MultiSteps(optax.sgd(0.1), every_k_schedule=3)
    run, kernels = train(rule, tmp_path / "run", steps=9, rate=0.1)
    assert [*run.steps] == [0, 1, 2, 3]
    assert (kernels[0] == kernels[2]).all()
    assert (kernels[2] != kernels[3]).any()


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_single_precision_is_left_where_it_is_asked_for(kind):
    W = jax.random.normal(KEYS[7], (5, 6)).astype(kind)
    table = normgeo.jax.measure(
        lambda p: jnp.tanh(X.astype(kind) @ p["W"]), {"W": W}, float64=False
    )
    assert table.kinds == (kind,)
