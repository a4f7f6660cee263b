"""A model of Keras as a function of its variables, run without a write to any of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from normgeo.measured.measuring import measure as measure_function
from normgeo.measured.table import MeasuredTable

KERNELS = ("kernel", "recurrent_kernel", "depthwise_kernel", "pointwise_kernel", "embeddings")
"""What the layers of Keras call their weights, whatever the shape of these."""


def measure(model: Any, batch: Any, *, training: bool = False, **options: Any) -> MeasuredTable:
    """Measure which changes of its trainable variables a model of Keras ignores.

    A model that `keras.models.clone_model` can make again runs in double precision as well.

    Args:
        model: a built `keras.Model`, on any backend. batch: its inputs.
        training: as the model takes it: whether batch norm takes the statistics of the batch.
        options: of `normgeo.measure`; kernels of Keras count their neurons along the last axis.

    Raises:
        ValueError: as of `normgeo.measure`.

    """
    weights = [v.path for v in model.trainable_variables if v.name in KERNELS]
    given: dict[str, Any] = {"neurons": -1, "matrices": weights, "inputs": [batch], **options}
    with _without_gradients():
        twins = {False: model, True: _in_double(model)}
        calls = {wide: _compiled(twin, training) for wide, twin in twins.items()}
        named = {v.path: v.value for v in model.trainable_variables}

        def f(variables: Mapping[str, Any], x: Any) -> Any:
            wide = {str(v.dtype).rpartition(".")[-1] for v in variables.values()} == {"float64"}
            twin = twins[wide]
            if twin is None:
                raise TypeError("This model is not made again in double precision.")
            others = [v.value for v in model.non_trainable_variables]
            return calls[wide]([*variables.values()], others, x)

        return measure_function(f, named, **given)


def _compiled(model: Any, training: bool) -> Any:
    """(Trainable values, others, inputs) → outputs, compiled where the backend is JAX."""
    import keras

    def call(variables: Any, others: Any, x: Any) -> Any:
        return model.stateless_call(variables, others, x, training=training)[0]

    if keras.backend.backend() != "jax":
        return call
    import jax

    return jax.jit(call)


def _in_double(model: Any) -> Any:
    """The model made again with layers of double precision; None where Keras cannot."""
    import keras

    def widened(layer: Any) -> Any:
        return type(layer).from_config({**layer.get_config(), "dtype": "float64"})

    try:
        return keras.models.clone_model(model, clone_function=widened)
    except (TypeError, ValueError, NotImplementedError, AttributeError):
        return None


@contextmanager
def _without_gradients() -> Iterator[None]:
    """Let the backend keep no graph, and have numbers of double precision."""
    import keras

    if keras.backend.backend() == "jax":
        import jax

        with jax.enable_x64(True):
            yield
    elif keras.backend.backend() == "torch":
        import torch

        with torch.no_grad():
            yield
    else:
        yield
