"""Models of Keras are measured as derived by hand, and what `fit` does is recorded."""

import keras
import numpy as np
import pytest

import normgeo
import normgeo.keras
from normgeo.callbacks.keras import RecordingCallback
from tests.frameworks.test_architectures import signs

RNG = np.random.default_rng(0)
IMAGES = RNG.standard_normal((16, 8, 8, 3)).astype(np.float32)
LABELS = np.arange(16) % 3


def drawn(model):
    """Vectors as after some training; embeddings that an ε of 1e-3 is small against."""
    for variable in model.trainable_variables:
        if len(variable.shape) == 1 or variable.path.endswith("embeddings"):
            variable.assign(variable + 0.3 * RNG.standard_normal(variable.shape))
    return model


def named(table, ending):
    (name,) = (name for name in table.names if name.endswith(ending))
    return name


def images():
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((8, 8, 3)), layers.Conv2D(6, 3, use_bias=False, name="first"),
            layers.BatchNormalization(name="bn"), layers.ReLU(),
            layers.Conv2D(4, 3, name="second"), layers.GlobalAveragePooling2D(),
            layers.Dense(3, name="head"),
        ]
    )  # fmt: skip


def test_convolutions_with_batch_norm_in_training_and_not():
    model = drawn(images())
    before = [np.array(v.value) for v in model.variables]
    table = normgeo.keras.measure(model, IMAGES, training=True)
    assert signs(table.tensors[named(table, "first/kernel")]) == "iixxxx"
    assert table.place(named(table, "first/kernel")) == ("after",)
    assert "before" in table.place(named(table, "second/kernel"))
    assert all(
        (np.array(v.value) == old).all() for v, old in zip(model.variables, before, strict=True)
    )
    frozen = normgeo.keras.measure(model, IMAGES)
    assert signs(frozen.tensors[named(frozen, "first/kernel")]) == "xxxxxx"


def test_pre_norm_transformer():
    layers = keras.layers
    tokens = keras.Input((6,), dtype="int32")
    x = layers.Embedding(11, 8, name="embed")(tokens)
    h = layers.LayerNormalization(name="ln")(x)
    x = layers.Add()([x, layers.MultiHeadAttention(2, 4, name="attention")(h, h)])
    outputs = layers.Dense(3, name="head")(layers.LayerNormalization(name="last")(x))
    model = drawn(keras.Model(tokens, outputs))
    table = normgeo.keras.measure(model, np.arange(24).reshape(4, 6) * 7 % 11)
    assert signs(table.tensors[named(table, "attention/key/bias")])[:2] in {"xx", "--"}
    assert table.place(named(table, "head/kernel")) == ("before",)
    assert "after_sum" in table.place(named(table, "embed/embeddings"))


def test_weights_of_one_neuron_are_matrices():
    layers = keras.layers
    stack = [
        keras.Input((8, 8, 3)), layers.Conv2D(1, 1, name="gray"), layers.Conv2D(4, 3, name="conv"),
        layers.GlobalAveragePooling2D(), layers.Dense(1, name="head"),
    ]  # fmt: skip
    table = normgeo.keras.measure(drawn(keras.Sequential(stack)), IMAGES)
    for name, shape in (("gray", (1, 1, 3, 1)), ("head", (4, 1))):
        one = table.tensors[named(table, f"{name}/kernel")]
        assert (one.shape, one.neurons, table.roles[one.name]) == (shape, 1, "matrix")


def test_recurrent_network_has_no_norm():
    model = drawn(
        keras.Sequential([keras.Input((5, 3)), keras.layers.LSTM(6), keras.layers.Dense(3)])
    )
    table = normgeo.keras.measure(model, RNG.standard_normal((8, 5, 3)).astype(np.float32))
    assert {signs(one) for one in table.tensors.values()} == {"xxxxxx", "xxx"}
    assert all(table.place(name) == () for name in table.names)


@pytest.mark.parametrize("accumulated", [None, 2])
def test_callback_records_the_steps_of_fit(accumulated, tmp_path):
    """16 images in batches of 4, twice: 8 steps, or 4 where two are accumulated."""
    model = images()
    rate = keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    model.compile(
        keras.optimizers.SGD(rate, momentum=0.9, gradient_accumulation_steps=accumulated),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    table = normgeo.keras.measure(model, IMAGES, training=True)
    start = np.array(model.get_layer("first").kernel.value)
    callback = RecordingCallback(tmp_path / "run", table=table)
    model.fit(IMAGES, LABELS, batch_size=4, epochs=2, verbose=0, callbacks=[callback])
    run = normgeo.read_recording(tmp_path / "run")
    steps = 8 // (accumulated or 1)
    assert [*run.steps] == [*range(steps + 1)]
    assert run.optimizer.key == "momentum"
    assert run.optimizer.beta == pytest.approx(0.9)
    end = np.array(model.get_layer("first").kernel.value)
    for record, kernel in ((0, start), (-1, end)):
        norms = np.linalg.norm(kernel.reshape(-1, 6), axis=0)
        np.testing.assert_allclose(run.norms[record, :6], norms, rtol=1e-6)
    if accumulated is None:
        np.testing.assert_allclose(run.rates[1:, 0], 0.1 * 0.5 ** np.arange(8), rtol=1e-5)
