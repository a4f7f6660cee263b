"""The modules of a checkpoint: which of its tensors belong together, and what each of them is.

Names are those of PyTorch (`layer1.0.bn1.running_mean`) and JAX (`params/Dense_0/kernel`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import final

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
"""What a tensor is, by the word that a correction gives."""

_LEAVES = {
    "weight": "weight kernel w in_proj_weight weight_v",
    "bias": "bias b beta in_proj_bias",
    "gain": "gamma scale g gain weight_g",
    "running_mean": "running_mean moving_mean mean",
    "running_var": "running_var moving_variance var",
    "x": "x activations inputs",
    "labels": "y labels targets",
    "gradient": "gradient grad",
}
_ROLE_OF_LEAF = {leaf: role for role, leaves in _LEAVES.items() for leaf in leaves.split()}

_COLLECTIONS = re.compile(r"^(params|batch_stats|state_dict|model_state_dict|module)\.")
_PARAMETRIZED = re.compile(r"\.parametrizations\.weight\.original([01])$")
_EMBEDDING = re.compile(r"(^|\.)(wte|wpe|\w*embed\w*|pos_emb|tok_emb)$", re.IGNORECASE)


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
        return not self.is_layer and bool({"gain", "running_var"} & self.tensors.keys())

    @property
    def channels(self) -> int:
        """How many numbers a norm has of each kind, one a neuron or a feature."""
        return next(iter(self.tensors.values())).shape[-1] if self.is_norm else 0

    @property
    def parent(self) -> str:
        """The path of what it stands in."""
        return self.path.rpartition(".")[0]

    @property
    def last(self) -> str:
        """Its own name."""
        return self.path.rpartition(".")[2]


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
    if role == "weight" and _EMBEDDING.search(path):
        role = "embedding"
    elif role == "weight" and len(shape) < 2:
        role = "gain" if len(shape) == 1 and path else "other"
    elif role in {"bias", "gain", "running_mean", "running_var"} and sum(n > 1 for n in shape) > 1:
        role = "other"
    return path, role


def modules(tensors: Iterable[Tensor], roles: Mapping[str, str]) -> dict[str, Module]:
    """Return the modules of a checkpoint by their paths, in the order of these.

    Args:
        tensors: by their headers. roles: corrections, tensor name → a word of ROLES.

    """
    found: dict[str, dict[str, Tensor]] = {}
    for tensor in tensors:
        path, role = role_of(tensor.name, tensor.shape)
        found.setdefault(path, {})[roles.get(tensor.name, role)] = tensor
    return {path: Module(path, found[path]) for path in sorted(found, key=_natural)}


def _natural(path: str) -> list[tuple[int, str]]:
    """What puts `blocks.10` after `blocks.9`."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", path)
    ]
