"""A recurrent layer: a cell with its parameters and the normalizer of its products.

θ holds the products one after the other, each in the order of the paper, vec([W, b, g]ᵀ), and last
the gain and the shift of the memory, if it is normalized.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import flag, instance_of, real_number, shown, whole_number
from normgeo.base.arrays import Array, real_array, require_room
from normgeo.base.constant import Constant
from normgeo.base.refusal import Refusal
from normgeo.models.linearization import ParameterLayout
from normgeo.normalizers.named import normalizer_of
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.statistic import group_size
from normgeo.sequences.cell import Cell, Product
from normgeo.sequences.cells import cell_of
from normgeo.sequences.stream import Stream


class Units(NamedTuple):
    """The parameters of one product: W (K, D), b (K,), g (K,) or None without a gain."""

    W: Array
    b: Array
    g: Array | None


@final
@dataclass(init=False, eq=False)
class CellLayer(Constant):
    """A recurrent layer of H neurons that reads F features at each step.

    Attributes:
        cell: its equations, one of CELLS. normalizer: of each product, and of the memory when h
            reads it, with identity weights.
        units: the parameters of each product in the order of the cell; W of a product that reads
            both is [W_hh, W_xh].
        memory: gain and shift of the memory, its W (H, 0); None if it is not normalized.
        gate_by_gate: whether statistics shared by neurons are separate for each gate, or common to
            all gates of a product, as printed in Eq. 20 and 23.

    Raises:
        ValueError: bad shapes or numbers, a gain for the standard layer, or frozen statistics.

    """

    cell: Final[Cell]
    normalizer: Final[Normalizer]
    units: Final[tuple[Units, ...]]
    memory: Final[Units | None]
    gate_by_gate: Final[bool]

    def __init__(
        self,
        cell: str | Cell,
        normalizer: Normalizer | str,
        units: Sequence[tuple[ArrayLike, ArrayLike, ArrayLike | None]],
        memory: tuple[ArrayLike, ArrayLike | None] | None = None,
        *,
        gate_by_gate: bool = True,
    ) -> None:
        """Take (W, b, g) of each product, and (b, g) of the memory."""
        self.cell = cell_of(cell)
        normalizer = normalizer_of(normalizer)
        if normalizer.statistics == "frozen":
            raise Refusal(
                "A layer computes with current statistics; got a normalizer with frozen "
                "ones. Statistics for test time are an argument of the run."
            )
        self.normalizer = normalizer
        self.gate_by_gate = flag("gate_by_gate", gate_by_gate)
        if not _of_length(units, len(self.cell.products)) or not all(
            _of_length(one, 3) for one in units
        ):
            raise Refusal(
                "`units` must be a list of (W, b, g), one of each of the {count} products of "
                "the {cell}; got {got}.",
                count=len(self.cell.products),
                cell=self.cell.title,
                got=shown(units),
            )
        taken = [
            _checked(f"units[{index}]", real_array(f"units[{index}] W", W, 2), b, g, normalizer)
            for index, (W, b, g) in enumerate(units)
        ]
        H = len(taken[0].W) // self.cell.products[0].gates
        F = [one.W.shape[1] - product.state * H for one, product in self._reading(taken)]
        for index, (one, product) in enumerate(zip(taken, self.cell.products, strict=True)):
            expected = product.gates * H, product.state * H + product.inputs * F[0]
            if one.W.shape != expected or not H:
                raise Refusal(
                    "W of product {place} of the {cell} must be {expected} for {H} neurons and "
                    "{F} features; got {shape}.",
                    place=index,
                    cell=self.cell.title,
                    expected=expected,
                    H=H,
                    F=F[0],
                    shape=one.W.shape,
                )
        self.units = tuple(taken)
        has_memory = self.cell.memory and not normalizer.is_standard
        if memory is not None and not _of_length(memory, 2):
            raise Refusal("`memory` must be (b, g); got {got}.", got=shown(memory))
        if memory is not None and not has_memory:
            raise Refusal("Nothing normalizes a memory here; leave `memory` out.")
        b, g = (np.zeros(H), None) if memory is None else memory
        own = _checked("memory", np.zeros((H, 0)), b, g, normalizer) if has_memory else None
        self.memory = own
        if normalizer.shared_by_neurons:
            group_size(H, normalizer.groups)

    @classmethod
    def random(
        cls,
        cell: str | Cell,
        normalizer: Normalizer | str,
        neurons: int,
        features: int,
        rng: np.random.Generator,
        *,
        gain: float = 1.0,
        gate_by_gate: bool = True,
    ) -> CellLayer:
        """Return a layer with Gaussian weights of variance 1/D and equal initial gains.

        Args:
            gain: the first value of every g: 1 in the paper, 0.1 in Cooijmans et al., Recurrent
                batch normalization, 2017. The standard layer has no gain.

        """
        chosen, H = cell_of(cell), whole_number("neurons", neurons, 1)
        F = whole_number("features", features, 1)
        normalizer = normalizer_of(normalizer)
        instance_of("rng", rng, np.random.Generator)
        first = real_number("gain", gain)
        units = []
        for product in chosen.products:
            shape = product.gates * H, product.state * H + product.inputs * F
            require_room("W", *shape)
            W = rng.standard_normal(shape) / shape[1] ** 0.5
            b = np.repeat(product.first_biases or (0.0,) * product.gates, H)
            units.append((W, b, None if normalizer.is_standard else np.full(shape[0], first)))
        has_memory = chosen.memory and not normalizer.is_standard
        memory = (np.zeros(H), np.full(H, first)) if has_memory else None
        return cls(chosen, normalizer, units, memory, gate_by_gate=gate_by_gate)

    @property
    def neurons(self) -> int:
        """H."""
        return len(self.units[0].W) // self.cell.products[0].gates

    @property
    def features(self) -> int:
        """F."""
        (one, product), *_ = self._reading(self.units)
        return int(one.W.shape[1]) - product.state * self.neurons

    @property
    def layouts(self) -> tuple[ParameterLayout, ...]:
        """Layouts of the parameters of each product, and of the memory, within their part of θ."""
        return tuple(
            ParameterLayout(len(u.W), u.W.shape[1], u.g is not None) for u in self.all_units
        )

    def pack(self) -> Array:
        """Return θ (P,)."""
        parts = zip(self.layouts, self.all_units, strict=True)
        return np.concatenate([layout.pack(*units) for layout, units in parts])

    def unpack(self, theta: Array) -> CellLayer:
        """Return the layer of the same kind with parameters θ (P,)."""
        layouts = self.layouts
        sizes = [layout.size for layout in layouts]
        if np.shape(theta) != (sum(sizes),):
            raise Refusal(
                "`theta` must have shape ({size},), all parameters of the layer; got {shape}.",
                size=sum(sizes),
                shape=np.shape(theta),
            )
        parts = np.split(np.asarray(theta), np.cumsum(sizes)[:-1])
        units = [layout.split(part) for layout, part in zip(layouts, parts, strict=True)]
        memory = units.pop()[1:] if self.memory is not None else None
        return CellLayer(self.cell, self.normalizer, units, memory, gate_by_gate=self.gate_by_gate)

    def streams(self) -> tuple[Stream, ...]:
        """Each product, with W̃ computed, ready to run."""
        products = zip(self.cell.products, self.units, strict=True)
        return tuple(
            Stream.of(self.normalizer, self.blocks(product), units.W, units.g, units.b)
            for product, units in products
        )

    def memory_stream(self) -> Stream | None:
        """The memory as a product, c Iᵀ; None if it is not normalized."""
        if self.memory is None:
            return None
        _, b, g = self.memory
        return Stream.of(self.normalizer, 1, np.eye(self.neurons), g, b)

    def blocks(self, product: Product) -> int:
        """Return the number of blocks of gates with their own statistics in a product."""
        apart = self.gate_by_gate and self.normalizer.shared_by_neurons
        return product.gates if apart else 1

    def whole_normalizer(self, product: Product) -> Normalizer:
        """Return the equivalent single normalizer of all K neurons of a product."""
        blocks = self.blocks(product)
        groups = self.normalizer.groups * blocks
        return replace(self.normalizer, groups=groups) if blocks > 1 else self.normalizer

    def require_defined(self, cases: int) -> None:
        """Raise if z is undefined for this number of sequences, at any weights."""
        for product, units in zip(self.cell.products, self.units, strict=True):
            K, D = units.W.shape
            if reason := self.whole_normalizer(product).undefined(cases, K, D):
                raise Refusal(reason)

    @property
    def all_units(self) -> tuple[Units, ...]:
        """The parameters of each product, and of the memory if it is normalized."""
        return self.units if self.memory is None else (*self.units, self.memory)

    def _reading(self, units: Sequence[Units]) -> list[tuple[Units, Product]]:
        """The products that read the inputs, with their parameters."""
        pairs = zip(units, self.cell.products, strict=True)
        return [(one, product) for one, product in pairs if product.inputs]


def _of_length(values: object, length: int) -> bool:
    return isinstance(values, list | tuple) and len(values) == length


def _checked(
    name: str, W: Array, b: ArrayLike, g: ArrayLike | None, normalizer: Normalizer
) -> Units:
    if g is not None and normalizer.is_standard:
        raise Refusal("The standard layer (none, none) has no gain. Leave g out.")
    gain = np.ones(len(W)) if g is None and not normalizer.is_standard else g
    vectors = [
        None if value is None else real_array(f"{name} {letter}", value, 1).astype(np.float64)
        for letter, value in (("b", b), ("g", gain))
    ]
    for vector in vectors:
        if vector is not None and len(vector) != len(W):
            raise Refusal(
                "`{name}` must have b and g with one number for each of its {K} sums; got {count}.",
                name=name,
                K=len(W),
                count=len(vector),
            )
    first, gains = vectors
    assert first is not None  # noqa: S101 - b is always given
    return Units(W.astype(np.float64, copy=False), first, gains)
