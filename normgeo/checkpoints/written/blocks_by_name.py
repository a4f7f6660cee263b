"""The blocks of a checkpoint by the names in them, and which convention each follows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, final

from normgeo.checkpoints.modules import Module, child, role_of
from normgeo.checkpoints.written.conventions import CONVENTIONS, Convention, matcher
from normgeo.datasets.tensor import Tensor

_NUMBER = re.compile(r"\d+|(encoder_layer|encoderblock|encoderdecoderblock)_\d+")
_LEAF = re.compile(r"\.(weight|kernel|scale|gamma|in_proj_weight)$")
DEEPEST = 4
"""How deeply nested blocks are looked at."""


class Written(NamedTuple):
    """How a layer is written: its block, that block's convention, and its name there."""

    block: str
    convention: Convention
    name: str


@final
class Blocks:
    """The blocks of a checkpoint with the conventions they follow."""

    def __init__(
        self,
        found: Mapping[str, Module],
        tensors: Iterable[Tensor],
        conventions: Sequence[Convention] = CONVENTIONS,
    ) -> None:
        self._names: dict[str, set[str]] = {}
        self._norms: dict[str, set[str]] = {}
        of_stacks: dict[str, set[str]] = {}
        self._every: set[str] = set()
        places: dict[str, int] = {}
        count = 0
        for count, tensor in enumerate(tensors, 1):
            path, _ = role_of(tensor.name, tensor.shape)
            name = _plain(path, tensor.name)
            self._every.add(name)
            for block, _ in _blocks_of(path):
                places[block] = count
                self._names.setdefault(block, set()).add(_inner(name[len(block) + 1 :]))
        for path, module in found.items():
            for block, name in _blocks_of(path):
                norms = self._norms.setdefault(block, set())
                of_stack = of_stacks.setdefault(_starred(block), set())
                if module.is_norm and "." not in name:
                    norms.add(name)
                    of_stack.add(name)
        stacks: dict[str, list[str]] = {}
        for block in self._names:
            stacks.setdefault(_starred(block), []).append(block)
        self._conventions: dict[str, Convention | None] = {}
        for stack, blocks in stacks.items():
            names = set().union(*(self._names[block] for block in blocks))
            possible = [
                one
                for one in conventions
                if (one.mixed or set(one.norms.split()) == of_stacks[stack])
                and not (one.lacks and not one.mixed and _any(one.lacks, names))
                # One of several files may end within its only block, and lack some of its norms.
                and not (
                    one.heads
                    and len(blocks) == 1
                    and (places[blocks[0]] == count or not self._beside(blocks[0], one.last))
                )
            ]
            for block in blocks:
                self._conventions[block] = self._convention(block, possible)
        self.heads = self._heads(found)

    def written(self, path: str) -> Written | None:
        """Return how a layer is written; None where its block follows no convention."""
        for block, name in _blocks_of(path):
            convention = self._conventions[block]
            if convention is not None:
                return Written(block, convention, _inner(name))
        return None

    def _convention(self, block: str, possible: Iterable[Convention]) -> Convention | None:
        norms, names = self._norms[block], self._names[block]
        for one in possible:
            if (
                set(one.norms.split()) == norms
                and all(_any(pattern, names) for pattern in one.needs)
                and not (one.mixed and one.lacks and _any(one.lacks, names))
                and (not one.beside or self._beside(block, one.beside))
            ):
                return one
        return None

    def _beside(self, block: str, names: Iterable[str]) -> list[str]:
        """The nearest paths with one of these names, beside the stack of a block or above it."""
        for above in _above(block):
            there = [path for name in names if (path := child(above, name)) in self._every]
            if there:
                return there
        return []

    def _heads(self, found: Mapping[str, Module]) -> dict[str, tuple[str, Convention]]:
        """The last norm of the stack below each head, unless several stacks have one."""
        of_stacks: dict[tuple[str, Convention], str] = {}
        for block, convention in self._conventions.items():
            if convention is not None and convention.heads:
                of_stacks.setdefault((_starred(block), convention), block)
        heads: dict[str, set[tuple[str, Convention]]] = {}
        for (_, convention), block in of_stacks.items():
            last, need = self._beside(block, convention.last), convention.heads_need
            if len(last) != 1 or not (not need or self._beside(block, [need])):
                continue
            for above in _above(block):
                for head in convention.heads:
                    if (path := child(above, head)) in found:
                        heads.setdefault(path, set()).add((last[0], convention))
        return {
            head: next(iter(norms))
            for head, norms in heads.items()
            if len({norm for norm, _ in norms}) == 1
        }


def _any(pattern: str, names: Iterable[str]) -> bool:
    matches = matcher(pattern).fullmatch
    return any(matches(name) for name in names)


def _plain(path: str, tensor: str) -> str:
    """The name of a tensor with dots, without a common ending such as `.weight`."""
    leaf = tensor.replace("/", ".").rpartition(".")[2]
    return _LEAF.sub("", child(path, leaf))


def _blocks_of(path: str) -> Iterable[tuple[str, str]]:
    """The blocks that a module stands in, outermost first, and its name in each."""
    parts = path.split(".", 40)
    places = [i for i, part in enumerate(parts[:-1], 1) if _NUMBER.fullmatch(part)][:DEEPEST]
    for i in places:
        yield ".".join(parts[:i]), ".".join(parts[i:])


def _above(block: str) -> Iterable[str]:
    """The paths of what a stack stands in, the nearest first."""
    above, _, last = block.rpartition(".")
    if not last.isdecimal():
        yield above
    while above:
        above = above.rpartition(".")[0]
        yield above


def _starred(block: str) -> str:
    """The stack of a block."""
    return ".".join("*" if _NUMBER.fullmatch(part) else part for part in block.split("."))


def _inner(name: str) -> str:
    return re.sub(r"\bexperts\.\d+", "experts.*", name)
