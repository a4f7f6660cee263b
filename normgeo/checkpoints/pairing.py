"""Which norm belongs to which weights, and where it stands, by the names of checkpoints.

Each rule looks at one layer and returns the path of a norm, its place and the reason, or None. The
first answer is proposed. Where networks with the same names differ, no rule answers, and the norm
is unknown. Names tell how a network is usually built, not how this one is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple, final

from normgeo.base.arguments import digits
from normgeo.base.text import text
from normgeo.checkpoints.basis import NAMES, TENSORS, UNKNOWN
from normgeo.checkpoints.modules import Module, child
from normgeo.checkpoints.written.blocks_by_name import Blocks
from normgeo.checkpoints.written.conventions import CONVENTIONS, Convention
from normgeo.datasets.tensor import Tensor
from normgeo.normalizers.named import GRID
from normgeo.normalizers.normalizer import Normalizer


class Standing(NamedTuple):
    """A norm that a rule has found.

    Attributes:
        norm: its path. place: a key of PLACES. why: the reason. basis: how it is known.
        is_rms: whether a norm without a bias is an RMS norm. one_plus: whether 1 is added to its
            gain.

    """

    norm: str
    place: str
    why: str
    basis: str = NAMES
    is_rms: bool = False
    one_plus: bool = False


@final
@dataclass(frozen=True, eq=False)
class Norms:
    """The norms of a checkpoint, and what the names of all its layers tell together.

    Attributes:
        by_path: the norms. blocks: with their conventions. numbered: modules and patterns of
            convolutions that are followed by the norm with the same number.

    """

    by_path: Mapping[str, Module]
    blocks: Blocks
    numbered: frozenset[tuple[str, str]]

    @classmethod
    def of(
        cls,
        found: Mapping[str, Module],
        tensors: Iterable[Tensor],
        conventions: Sequence[Convention] = CONVENTIONS,
    ) -> Norms:
        """Find the norms among modules, and the blocks among all tensors."""
        by_path = {path: module for path, module in found.items() if module.is_norm}
        return cls(by_path, Blocks(found, tensors, conventions), _numbered_pairs(found, by_path))

    def channels(self, path: str) -> int:
        """How many channels a norm has; 0 where there is none of this path."""
        return self.by_path[path].channels if path in self.by_path else 0


_TELLING = re.compile(r"(^|_)(bn|batch)|rms")
"""Names of a batch norm or an RMS norm."""


def standing(layer: Module, H: int, D: int, pixels: int, norms: Norms) -> Standing:
    """Return the norm that names suggest for a layer of H neurons, D features and some pixels."""
    if H and D:
        for rule in (_own_gain, _of_queries, _written, _numbered, _in_sequence, _called_after):
            found = rule(layer, H, D, norms)
            if found and not (found.place == "before" and pixels > 1):
                return found
    return Standing("", "after", text("no name tells it"), UNKNOWN)


def normalizer_of(norm: Module | None, layer: Module, neurons: int) -> Normalizer:
    """Return the normalizer of a norm, from its tensors and its name, with ε = 0.

    Args:
        norm: its module, None for weight norm or none. layer: the weights.
        neurons: how many the norm takes; a shorter gain means groups, as one for each head.

    """
    if norm is None:
        return GRID["none", "weight" if "gain" in layer.tensors else "none"]
    name = norm.last.lower()
    if "running_var" in norm.tensors or re.search(r"(^|_)(bn|batch)", name):
        return GRID["batch", "batch"]
    center = "layer" if "bias" in norm.tensors and not re.search("rms", name) else "none"
    groups = neurons // norm.channels if neurons % norm.channels == 0 else 1
    whole = GRID[center, "layer"]
    if groups < 2:
        return whole
    name = text("{name} of {groups} groups", name=whole.title, groups=groups)
    return replace(whole, groups=groups, name=name)


def may_center(norm: Module | None, is_rms: bool = False) -> bool:
    """Whether an RMS norm may as well be a layer norm without a bias, by its name."""
    if norm is None or is_rms or {"bias", "running_var"} & norm.tensors.keys():
        return False
    return not _TELLING.search(norm.last.lower())


def _own_gain(layer: Module, H: int, D: int, norms: Norms) -> Standing | None:
    if "gain" not in layer.tensors or not layer.path:
        return None
    shape = layer.tensors["gain"].shape
    if prod(shape) != H or shape[0] != H:
        why = text("the weights have a gain of their own, but not one number for each neuron")
        return Standing("", "after", why, UNKNOWN)
    why = text("the weights have a gain of their own, as weight norm has")
    return Standing("", "after", why, TENSORS)


_QUERIES = re.compile(r"(?:^|_)(q|k|query|key)(?:_proj|_lin)?$")


def _of_queries(layer: Module, H: int, D: int, norms: Norms) -> Standing | None:
    if not (found := _QUERIES.search(layer.last)):
        return None
    letter = found[1][0]
    for name in f"{letter}_norm norm_{letter} {letter}_layernorm {letter}_ln".split():
        path = child(layer.parent, name)
        if (channels := norms.channels(path)) and H % channels == 0:
            written = norms.blocks.written(layer.path)
            if channels == D and written is None:
                return None  # it may take the features
            why = text("{name!r} normalizes what it makes", name=name)
            return _standing(path, "after", why, written and written.convention)
    return None


def _standing(path: str, place: str, why: str, convention: Convention | None) -> Standing:
    is_rms, one_plus = (
        (False, False) if convention is None else (convention.is_rms, convention.one_plus)
    )
    return Standing(path, place, why, is_rms=is_rms, one_plus=one_plus)


def _written(layer: Module, H: int, D: int, norms: Norms) -> Standing | None:
    """The norm of a layer by the convention of its block; of a head, the last norm of its stack."""
    head = norms.blocks.heads.get(layer.path)
    if head is not None and norms.channels(head[0]) == D:
        path, convention = head
        why = text("{name!r} is the last norm of the blocks before it", name=path)
        return _standing(path, "before", why, convention)
    written = norms.blocks.written(layer.path)
    found = None if written is None else written.convention.place(written.name)
    if written is None or found is None:
        return None
    name, place = found
    path = child(written.block, name.format(parent=written.name.rpartition(".")[0]))
    if norms.channels(path) != (D if place == "before" else H):
        return None
    why = text(
        "the block is written as those of {networks}, with {name!r} there",
        networks=written.convention.networks,
        name=path[len(written.block) + 1 :],
    )
    if written.convention.but:
        why = text("{why}; {but}", why=why, but=written.convention.but)
    return _standing(path, place, why, written.convention)


_PAIRS = {r"conv(\d+)": "bn{}", r"Conv_(\d+)": "BatchNorm_{}", "conv()": "bn{}"}
"""Names of a convolution, and of the batch norm with the same number."""

LEAST = 3
"""How many pairs of one kind, in blocks, must show by their sizes that the norm follows."""


def _number_of(last: str) -> tuple[str, str] | None:
    """The pattern that the name of a convolution matches, and its number."""
    matches = ((pattern, re.fullmatch(pattern, last)) for pattern in _PAIRS)
    return next(((pattern, found[1]) for pattern, found in matches if found), None)


def _numbered_pairs(
    found: Mapping[str, Module], norms: Mapping[str, Module]
) -> frozenset[tuple[str, str]]:
    """The modules and patterns of convolutions that are followed by their norms.

    Each convolution of the module has a norm, and wherever the sizes of a pair show the order, the
    norm follows: in LEAST blocks or more.
    """
    numbers: dict[tuple[str, str], tuple[set[str], set[str]]] = {}
    for path, module in found.items():
        for pattern, norm in _PAIRS.items():
            of_norm = norm.format(r"(\d+)" if "d" in pattern else "()")
            for side, named in enumerate((pattern, of_norm)):
                if match := re.fullmatch(named, path.rpartition(".")[2]):
                    pair = numbers.setdefault((module.parent, pattern), (set(), set()))
                    pair[side].add(match[1])
    follows, precedes = dict.fromkeys(_PAIRS, 0), set()
    for (parent, pattern), (layers, of_norms) in numbers.items():
        for number in layers & of_norms:
            layer = found[child(parent, _named(pattern, number))]
            beside = norms.get(child(parent, _PAIRS[pattern].format(number)))
            if beside is None or not layer.is_layer:
                continue
            weight = layer.tensors["weight"]
            kernel = weight.name.endswith("kernel")
            into, out = weight.shape[-2:] if kernel else weight.shape[1::-1]
            if beside.channels == into != out:
                precedes.add(pattern)
            elif beside.channels == out != into:
                follows[pattern] += bool(re.search(r"\d(\.|$)", parent))
    return frozenset(
        (parent, pattern)
        for (parent, pattern), (layers, of_norms) in numbers.items()
        if layers == of_norms and follows[pattern] >= LEAST and pattern not in precedes
    )


def _named(pattern: str, number: str) -> str:
    return re.sub(r"\(.*\)", number, pattern)


def _numbered(layer: Module, H: int, D: int, norms: Norms) -> Standing | None:
    if not (named := _number_of(layer.last)) or (layer.parent, named[0]) not in norms.numbered:
        return None
    name = _PAIRS[named[0]].format(named[1])
    path = child(layer.parent, name)
    if norms.channels(path) != H:
        return None
    why = text("{name!r} has its number, and follows in blocks where sizes tell it", name=name)
    return Standing(path, "after", why)


def _in_sequence(layer: Module, H: int, D: int, norms: Norms) -> Standing | None:
    if (place := digits(layer.last)) is None:
        return None
    for step, channels, where in ((1, H, "after"), (-1, D, "before")):
        path = child(layer.parent, str(place + step))
        if norms.channels(path) == channels:
            why = text("{name!r} is beside it in a sequence", name=path)
            return Standing(path, where, why)
    return None


def _called_after(layer: Module, H: int, D: int, norms: Norms) -> Standing | None:
    """A norm that is named after the layer, as `hidden_norm`, and has the size of its outputs."""
    for ending in ("bn", "norm", "ln"):
        path = f"{layer.path}_{ending}"
        if layer.path and norms.channels(path) == H != D:
            why = text("{name!r} is named after it and has a number for each neuron", name=path)
            return Standing(path, "after", why)
    return None
