"""The modules of a checkpoint: which of its tensors belong together, and what each of them is.

Names are those of PyTorch (`layer1.0.bn1.running_mean`) and JAX (`params/Dense_0/kernel`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import final

from normgeo.base.arguments import digits
from normgeo.base.text import text
from normgeo.datasets.tensor import Tensor

ROLES = {
    "weight": text("weights W"),
    "bias": text("bias b"),
    "gain": text("gain g"),
    "running_mean": text("running mean"),
    "running_var": text("running variance"),
    "embedding": text("embedding, no layer"),
    "x": text("activations X"),
    "labels": text("labels y"),
    "gradient": text("gradient of W"),
    "other": text("not used"),
}
"""The roles of tensors, in words."""

_LEAVES = {
    "weight": "weight kernel w in_proj_weight weight_v",
    "bias": "bias b beta in_proj_bias",
    "gain": "gamma scale g gain weight_g",
    "running_mean": "running_mean moving_mean mean",
    "running_var": "running_var moving_variance var",
    "x": "x activations inputs",
    "labels": "y labels targets",
    "gradient": "gradient grad",
    "embedding": "embedding",
}
_ROLE_OF_LEAF = {leaf: role for role, leaves in _LEAVES.items() for leaf in leaves.split()}

LEAST_AXES = {"weight": 2, "bias": 1, "gain": 1, "running_mean": 1, "running_var": 1}
"""The least number of axes of a tensor in each of these roles."""
_COLLECTIONS = re.compile(r"^(params|batch_stats|state_dict|model_state_dict|module)\.")
_PARAMETRIZED = re.compile(r"\.parametrizations\.weight\.original([01])$")
_EMBEDDING = re.compile(
    r"(^|\.)(wte|wpe|shared|emb|\w*embed(ding)?s?|relative_attention_bias|pos_emb|tok_emb"
    r"|(embed|embedding)s?_(in|tokens|positions)|\w*relative_attention_embedding|rel_pos_bias)$",
    re.IGNORECASE,
)
_NORM = re.compile(r"(^|_)(norm|layernorm|batchnorm|ln|bn)_?\d*$", re.IGNORECASE)
_LAYER_SCALE = re.compile(r"^(ls|layer_?scale)_?\d*$")
_EXPERTS = re.compile(r"(^|[._])(experts?|moe)([._]|$)", re.IGNORECASE)
_TABLE = re.compile(r"pos|bias_table|embed|token", re.IGNORECASE)
_RECURRENT = re.compile(r"(^|[./])weight_(ih|hh|hr)(_l\d+)?(_reverse)?$")
_SPECTRAL = re.compile(r"(weight_(orig|u)|parametrizations\.weight\.(original|0\._[uv]))$")


@final
@dataclass(frozen=True, eq=False)
class Module:
    """The tensors under one path.

    Attributes:
        path: with dots, "" at the top. tensors: by their roles.

    """

    path: str
    tensors: Mapping[str, Tensor]

    @property
    def is_layer(self) -> bool:
        """Whether it has weights that mix features."""
        return "weight" in self.tensors

    @property
    def is_norm(self) -> bool:
        """Whether it has a gain, or statistics, and no weights."""
        return self.channels > 0

    @property
    def channels(self) -> int:
        """The length of a norm's gain or statistics, neurons or features; 0 if it is no norm."""
        if self.is_layer or _LAYER_SCALE.search(self.last):
            return 0
        own = [self.tensors[role] for role in ("gain", "running_var") if role in self.tensors]
        return prod(own[0].shape) if own else 0

    @property
    def parent(self) -> str:
        """The path of the module that contains it."""
        return self.path.rpartition(".")[0]

    @property
    def last(self) -> str:
        """Its own name."""
        return self.path.rpartition(".")[2]


def child(parent: str, name: str) -> str:
    """Return the path of what has a name in a module; "" is the top."""
    return f"{parent}.{name}" if parent else name


def role_of(name: str, shape: tuple[int, ...]) -> tuple[str, str]:
    """Return (path of the module, role) of a tensor, by its name and number of axes.

    >>> role_of("layer1.0.bn1.weight", (64,)), role_of("params/Dense_0/kernel", (8, 4))
    (('layer1.0.bn1', 'gain'), ('Dense_0', 'weight'))

    """
    dotted = _PARAMETRIZED.sub(
        lambda found: ".weight_v" if found[1] == "1" else ".weight_g", name.replace("/", ".")
    )
    while (shorter := _COLLECTIONS.sub("", dotted)) != dotted:
        dotted = shorter
    path, _, leaf = dotted.rpartition(".")
    role = _ROLE_OF_LEAF.get(leaf.lower(), "other")
    if path and role in {"x", "labels", "gradient"}:
        role = "other"
    if role == "weight" and len(shape) < 2:
        role = "gain" if len(shape) == 1 and path and leaf != "weight_v" else "other"
    elif role == "weight" and len(shape) == 2 and _EMBEDDING.search(path):
        role = "embedding"
    elif (
        role == "weight"
        and (_NORM.search(path.rpartition(".")[2]) or (len(shape) == 3 and _EXPERTS.search(path)))
    ) or (LEAST_AXES.get(role) == 1 and (not shape or sum(n > 1 for n in shape) > 1)):
        role = "other"
    return path, role


def why_left_out(name: str, shape: tuple[int, ...]) -> str:
    """Say why a tensor of two axes or more is not taken for the weights of a layer."""
    path = role_of(name, shape)[0]
    if _RECURRENT.search(name):
        return text("weights of a recurrent cell, whose parts have a norm each")
    if _SPECTRAL.search(name):
        return text("weights with a spectral norm, which is none of the norms here")
    if _NORM.search(path.rpartition(".")[2]):
        return text("a gain of two axes, one for each head")
    if len(shape) == 3 and _EXPERTS.search(name):
        return text("experts, stacked along an axis")
    if _TABLE.search(name):
        return text("positions or tokens")
    return text("a name that is not known for weights")


def modules(tensors: Iterable[Tensor], roles: Mapping[str, str]) -> dict[str, Module]:
    """Return the modules of a checkpoint by their paths, sorted.

    Args:
        tensors: by their headers. roles: corrections, tensor name → a word of ROLES.

    """
    found: dict[str, dict[str, Tensor]] = {}
    for tensor in tensors:
        path, role = role_of(tensor.name, tensor.shape)
        found.setdefault(path, {})[roles.get(tensor.name, role)] = tensor
    return {path: Module(path, found[path]) for path in sorted(found, key=_natural)}


def _natural(path: str) -> list[tuple[int, str]]:
    """A sort key that puts `blocks.10` after `blocks.9`."""
    parts = [(part, digits(part)) for part in re.split(r"(\d+)", path)]
    return [(-1, part) if number is None else (number, "") for part, number in parts]
