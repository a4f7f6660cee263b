"""A network with the truth about it, and the registry of all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Known:
    """A network and the truth about it.

    Attributes:
        f: parameters → outputs. parameters: drawn anew by `draw`.
        signs: of the changes of each tensor in the order of CHANGES: all ×, row ×, all +, own +,
            column ×, columns +; "-" where there is none to ask. A 1-D tensor has the first three.
        places: where a norm stands to a weight. trades: what is ignored together, sorted lines.
            also: others that are true, sums of these. roles: of vectors that are no plain ones.
        dead, zeros: rows. blocks: of the tensors that have their own.

    """

    f: Callable[[Any], Any]
    draw: Callable[[np.random.Generator], Any]
    signs: dict[str, str]
    places: dict[str, tuple[str, ...]] = field(default_factory=dict)
    trades: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()
    roles: dict[str, str] = field(default_factory=dict)
    dead: dict[str, tuple[int, ...]] = field(default_factory=dict)
    zeros: dict[str, tuple[int, ...]] = field(default_factory=dict)
    blocks: dict[str, int] = field(default_factory=dict)


NETWORKS: dict[str, Known] = {}


def known(name: str, **truth: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        NETWORKS[name] = Known(f, **truth)
        return f

    return register


def drawn(**shapes: Any) -> Callable[[np.random.Generator], Arrays]:
    """Draw matrices around 0, gains around 1½, other vectors small, so that no unit is dead."""

    def draw(rng: np.random.Generator) -> Arrays:
        return {
            name: rng.standard_normal(shape) * (1 if isinstance(shape, tuple) else 0.3)
            + 1.5 * name.startswith("g")
            for name, shape in shapes.items()
        }

    return draw
