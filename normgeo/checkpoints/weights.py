"""Where the rows of W are in a tensor: transposed kernels, convolutions, fused projections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import final

import numpy as np

from normgeo.base.arrays import Array, require_room
from normgeo.base.text import text
from normgeo.checkpoints.modules import Module

_THIRDS = re.compile(
    r"in_proj_weight$|(^|\.)(c_attn|Wqkv|self_attn\.qkv_proj)\.\w+$"
    r"|(^|\.)(blocks|layers?)\.\d+\.attn\.qkv\.\w+$"
)
"""Names of tensors that stack queries, keys and values; CodeGen has them in four partitions."""
_OF_HEADS, _FROM_HEADS = ("query", "key", "value"), "out"
_INPUTS_FIRST = re.compile(r"(^|\.)(c_attn|c_fc)$")


@final
@dataclass(frozen=True)
class Arrangement:
    """Where the rows of W, one for each neuron, are in a tensor.

    Attributes:
        tensor: its shape, as it is looked at.
        outputs_last: whether its last axis is that of the neurons, as in JAX.
        part: the rows of a fused projection, from and to; None for all.

    """

    tensor: tuple[int, ...]
    outputs_last: bool
    part: tuple[int, int] | None = None

    @classmethod
    def all_of(
        cls, module: Module, outputs_last: bool | None = None
    ) -> Iterator[tuple[str, Arrangement]]:
        """Yield the name and arrangement of each layer in a module's weights.

        Args:
            module: of the weights. outputs_last: if it is known; None goes by names and sizes.

        """
        weight = module.tensors["weight"]
        shape, last = weight.shape, _outputs_last(module) if outputs_last is None else outputs_last
        if last and len(shape) == 3 and module.last in _OF_HEADS:
            shape = (shape[0], shape[1] * shape[2])  # JAX has an axis for the heads
        elif last and len(shape) == 3 and module.last == _FROM_HEADS:
            shape = (shape[0] * shape[1], shape[2])
        how = cls(shape, last)
        H, D = how.shape
        if _THIRDS.search(weight.name.replace("/", ".")) and H == 3 * D > 0:
            for i, letter in enumerate("qkv"):
                yield f"{weight.name}[{letter}]", replace(how, part=(i * D, (i + 1) * D))
        else:
            yield weight.name, how

    @property
    def shape(self) -> tuple[int, int]:
        """(H, D)."""
        if self.part is not None:
            return self.part[1] - self.part[0], prod(self.tensor) // self._outputs
        return self._outputs, prod(self.tensor) // max(self._outputs, 1)

    @property
    def kernel(self) -> tuple[int, ...]:
        """The sizes of the axes of a convolution, () for a matrix."""
        return self.tensor[:-2] if self.outputs_last else self.tensor[2:]

    @property
    def channels(self) -> int:
        """How many channels of images a neuron of a convolution sees."""
        return self.tensor[-2 if self.outputs_last else 1]

    def groups(self, channels: int) -> int:
        """The number of groups for images with so many channels; 0 if they do not fit."""
        if not self.kernel:
            return 0
        groups, more = divmod(channels, self.channels)
        return 0 if more or not groups or self._outputs % groups else groups

    def takes(self, inputs: tuple[int, ...]) -> bool:
        """Whether inputs of a shape, cases or images, have the features of these weights."""
        images = len(inputs) == 2 + len(self.kernel) and bool(self.groups(inputs[1]))
        rows = len(inputs) == 2 if self.kernel else len(inputs) >= 2
        return images or (rows and inputs[-1] == self.shape[1])

    @property
    def _outputs(self) -> int:
        return self.tensor[-1 if self.outputs_last else 0]

    def rows(self, values: Array) -> Array:
        """Return W (H, D): the features of a convolution in the order channels, height, width."""
        values = values.reshape(self.tensor)
        if self.outputs_last:
            values = np.moveaxis(np.moveaxis(values, -1, 0), -1, 1)
        return self._of_part(values.reshape(len(values), -1))

    def of_rows(self, values: Array | None) -> Array | None:
        """Return the numbers of the part, from a vector with a number for each row."""
        return None if values is None else self._of_part(values)

    def _of_part(self, values: Array) -> Array:
        return values if self.part is None else values[slice(*self.part)]


def in_groups(rows: Array, groups: int) -> Array:
    """Widen rows of a convolution in groups to the features of all channels, (…, H, groups · D).

    A neuron sees the features of its own group; its other weights are 0.
    """
    H, D = rows.shape[-2:]
    require_room(text("The weights of a convolution in groups"), H, groups * D)
    wide = np.zeros((*rows.shape[:-1], groups * D), rows.dtype)
    for group, neurons in enumerate(np.split(np.arange(H), groups)):
        wide[..., neurons, group * D : (group + 1) * D] = rows[..., neurons, :]
    return wide


def _outputs_last(module: Module) -> bool:
    """Whether the neurons are the last axis: by the name of the tensor, or by the bias's size."""
    weight = module.tensors["weight"]
    kernel = weight.name.replace("/", ".").rpartition(".")[2] == "kernel"
    first, last = weight.shape[0], weight.shape[-1]
    if len(weight.shape) != 2 or first == last:
        return kernel
    bias = module.tensors["bias"].shape if "bias" in module.tensors else ()
    if bias in {(first,), (last,)}:
        return bias == (last,)
    if kernel:
        return True
    return bool(_INPUTS_FIRST.search(module.path)) and last > first
