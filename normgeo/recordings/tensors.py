"""One array of weights in a recording: its shape, its norm and its blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from normgeo.base.arguments import whole_number
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.normalizers.blocks import Blocks
from normgeo.normalizers.normalizer import Normalizer
from normgeo.recordings.foreign import GRADIENTS, WEIGHTS, viewed


@final
@dataclass(frozen=True)
class Tensor:
    """An array of weights whose rows are neurons, and the norm that follows it.

    Attributes:
        name: in the mapping of the weights. shape: in that mapping.
        axis: the axis of the neurons: 0 in PyTorch, −1 in Flax.
        normalizer: decides the homogeneous blocks and the center.
        bias: the name of the bias added before the norm, (H,), a part of the block; None for none.

    """

    name: str
    shape: tuple[int, ...]
    axis: int
    normalizer: Normalizer
    bias: str | None = None

    @classmethod
    def of(
        cls, name: str, values: Any, axis: int, normalizer: Normalizer, bias: str | None = None
    ) -> Tensor:
        """Return the description of an array, from an example of it.

        Raises:
            ValueError: no matrix or convolution of weights, or no split into homogeneous blocks.

        """
        shape = viewed(name, values).shape
        if len(shape) < 2 or 0 in shape:
            raise Refusal(
                "Recorded weights are matrices or convolutions, with an axis for the neurons "
                "and others for what each of them weighs; {name!r} has the shape {shape}. "
                "Leave it out.",
                name=name,
                shape=shape,
            )
        tensor = cls(name, shape, axis, normalizer, bias)
        tensor.blocks  # noqa: B018 - refuses a number of groups that does not split the neurons
        return tensor

    @cached_property
    def blocks(self) -> Blocks:
        """The homogeneous blocks or, if there are none, each neuron by itself."""
        return Blocks.of(self.normalizer, self.shape[self.axis])

    @property
    def size(self) -> int:
        """K·D, the number of weights of a block, or K·(D + 1) with biases."""
        biases = self.shape[self.axis] if self.bias is not None else 0
        return (int(np.prod(self.shape)) + biases) // len(self.blocks.neurons)

    @property
    def of_bias(self) -> Tensor | None:
        """The bias as the weight of one more feature that is always 1."""
        if self.bias is None:
            return None
        return Tensor(self.bias, (self.shape[self.axis],), 0, self.normalizer)

    def array(self, values: Any, what: str = WEIGHTS) -> Array:
        """Return values as an array of this shape, as a view if possible.

        Raises:
            ValueError: another shape, or no numbers.

        """
        array = viewed(self.name, values, what)
        if array.shape != self.shape and what == GRADIENTS:
            raise Refusal(
                "A gradient has the shape of its weights; that of {name!r} has {now}, and the "
                "weights have {shape}. Check which gradient is whose.",
                name=self.name,
                shape=self.shape,
                now=array.shape,
            )
        if array.shape != self.shape:
            raise Refusal(
                "The weights of a run keep their shapes; {name!r} had {shape} when the "
                "recording began and has {now} now. Begin another recording.",
                name=self.name,
                shape=self.shape,
                now=array.shape,
            )
        return array

    def matrix(self, values: Any, what: str = WEIGHTS) -> Array:
        """Return an array of this shape as W (H, D), as a view if possible.

        Raises:
            ValueError: another shape, or no numbers.

        """
        array = self.array(values, what)
        H = self.shape[self.axis]
        return array.reshape(H, -1) if self.axis == 0 else array.reshape(-1, H).T

    def described(self) -> dict[str, Any]:
        """The description that a file keeps."""
        words = self.normalizer.words
        kept: dict[str, Any] = {"name": self.name, "shape": [*self.shape], "axis": self.axis}
        if self.bias is not None:
            kept["bias"] = self.bias
        return kept | {"center": words[0], "scale": words[1], "groups": self.normalizer.groups}

    @classmethod
    def from_description(cls, kept: dict[str, Any]) -> Tensor:
        """Return the tensor of a `described` description.

        Raises:
            ValueError, KeyError, TypeError: it is not a description.

        """
        shape = tuple(whole_number("shape", length, 1) for length in kept["shape"])
        normalizer = Normalizer(kept["center"], kept["scale"], groups=kept["groups"])
        bias = kept.get("bias")
        name = None if bias is None else str(bias)
        tensor = cls(str(kept["name"]), shape, kept["axis"], normalizer, name)
        if tensor.axis not in (0, -1) or len(shape) < 2 or not len(tensor.blocks.neurons):
            raise ValueError(kept["axis"])
        return tensor
