"""Storage of a Fisher information: as products, a matrix, or one block for each neuron."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from operator import add
from typing import final

import numpy as np
from scipy.linalg import block_diag

from normgeo.base.arrays import Array
from normgeo.fisher.structure import Curved, FisherStructure, check_size


class Storage(ABC):
    """A storage of a Fisher information, without effect on its values."""

    @classmethod
    @abstractmethod
    def of(cls, structure: FisherStructure, max_bytes: float) -> Storage:
        """Return this kind of storage; raises if it would take more than `max_bytes`."""

    @abstractmethod
    def times(self, V: Array) -> Array:
        """Return F V for V (P, k)."""

    @abstractmethod
    def diagonal(self) -> Array:
        """Return the diagonal, (P,)."""

    @abstractmethod
    def block(self, i: int, j: int) -> Array:
        """Return the block of neurons i and j, (P/H, P/H)."""

    @abstractmethod
    def to_dense(self, max_bytes: float) -> Array:
        """Return F (P, P)."""

    def restrict(self, V: Array) -> Array:
        """Return VᵀFV (k, k) for V (P, k)."""
        restricted: Array = V.T @ self.times(V)
        return restricted


@final
@dataclass(frozen=True, eq=False)
class ProductStorage(Storage):
    """Stores only the linearization: F v = Jᵀ((A''/φ)(J v))/N, two products with X."""

    structure: FisherStructure

    @classmethod
    def of(cls, structure: FisherStructure, max_bytes: float) -> ProductStorage:
        structure.require_curved()
        return cls(structure)

    @property
    def _factor(self) -> float:
        return 1 / (self.structure.at.cases * self.structure.phi)

    def times(self, V: Array) -> Array:
        def step(curved: Iterable[Curved]) -> Array:
            products = np.zeros(V.shape[::-1])
            for at, covariance_times in curved:
                for some in at.stacks(len(products)):
                    products[some] += at.vjp(covariance_times(at.jvp(V.T[some])))
            return products

        products: Array = self.structure.curved(step, add)
        return self._factor * products.T

    def restrict(self, V: Array) -> Array:
        # From the changes of s, in one pass for each vector: a null direction gives its ds²,
        # not the rounding errors of a product with F.
        def step(curved: Iterable[Curved]) -> Array:
            restricted = np.zeros((V.shape[1], V.shape[1]))
            for at, covariance_times in curved:
                ds = np.empty((V.shape[1], *at.s.shape))
                for some in at.stacks(len(ds)):
                    ds[some] = at.jvp(V.T[some])
                flat = ds.reshape(len(ds), -1)
                for some in at.stacks(len(ds)):
                    bent = covariance_times(ds[some])
                    restricted[some] += bent.reshape(len(bent), -1) @ flat.T
            return restricted

        restricted: Array = self.structure.curved(step, add)
        return self._factor * restricted

    def diagonal(self) -> Array:
        return self.structure.diagonal()

    def block(self, i: int, j: int) -> Array:
        return self.structure.block(i, j)

    def to_dense(self, max_bytes: float) -> Array:
        return self.structure.dense(max_bytes)


@final
@dataclass(frozen=True, eq=False)
class DenseStorage(Storage):
    """The matrix F (P, P), read-only."""

    matrix: Array
    per_neuron: int

    @classmethod
    def of(cls, structure: FisherStructure, max_bytes: float) -> DenseStorage:
        matrix = structure.dense(max_bytes)
        matrix.flags.writeable = False
        return cls(matrix, structure.at.layout.per_neuron)

    def times(self, V: Array) -> Array:
        product: Array = self.matrix @ V
        return product

    def diagonal(self) -> Array:
        return self.matrix.diagonal()

    def block(self, i: int, j: int) -> Array:
        p = self.per_neuron
        return self.matrix[i * p : (i + 1) * p, j * p : (j + 1) * p]

    def to_dense(self, max_bytes: float) -> Array:
        return self.matrix


@final
@dataclass(frozen=True, eq=False)
class BlockStorage(Storage):
    """The blocks (H, P/H, P/H) of each neuron with itself; those between neurons are left out."""

    blocks: Array

    @classmethod
    def of(cls, structure: FisherStructure, max_bytes: float) -> BlockStorage:
        blocks = structure.neuron_blocks(max_bytes)
        blocks.flags.writeable = False
        return cls(blocks)

    def times(self, V: Array) -> Array:
        H, p, _ = self.blocks.shape
        product: Array = (self.blocks @ V.reshape(H, p, -1)).reshape(V.shape)
        return product

    def diagonal(self) -> Array:
        diagonal: Array = np.einsum("hpp->hp", self.blocks).reshape(-1)
        return diagonal

    def block(self, i: int, j: int) -> Array:
        return self.blocks[i] if i == j else np.zeros_like(self.blocks[0])

    def to_dense(self, max_bytes: float) -> Array:
        H, p, _ = self.blocks.shape
        check_size((H * p, H * p), max_bytes)
        dense: Array = block_diag(*self.blocks)
        return dense


STORAGES: dict[str, type[Storage]] = {
    "operator": ProductStorage,
    "dense": DenseStorage,
    "blocks": BlockStorage,
}
