"""Which norm belongs to which weights, and where it stands, by the names of checkpoints.

Each rule looks at one layer and answers with the path of a norm, its place and why, or None. The
first that answers is proposed; a name says how a network is usually written, not how this one is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from normgeo.base.text import text
from normgeo.layers.modules import Module
from normgeo.normalizers.named import GRID
from normgeo.normalizers.normalizer import Normalizer


class Standing(NamedTuple):
    """A norm, by its path, its place by the key in PLACES, and why."""

    norm: str
    place: str
    why: str


Norms = Mapping[str, Module]
Rule = Callable[[Module, int, int, Norms], Standing | None]
"""(layer, H, D, norms by path) → where a norm stands."""


def standing(layer: Module, H: int, D: int, norms: Norms) -> Standing:
    """Return the norm of a layer with H neurons and D features as its names propose it."""
    for rule in (_own_gain, _of_queries, _numbered, _in_sequence, _residual, _pre_norm, _beside):
        if found := rule(layer, H, D, norms):
            return found
    return Standing("", "after", text("no norm of this layer was recognized by its name"))


def normalizer_of(norm: Module | None, layer: Module, neurons: int) -> Normalizer:
    """Return the normalizer that a norm is by its tensors and its name, ε = 0.

    Args:
        norm: its module, None for weight norm or none. layer: the weights.
        neurons: whose groups a gain of fewer numbers is for, as one a head.

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


def _child(parent: str, name: str) -> str:
    return f"{parent}.{name}" if parent else name


def _first(parent: str, names: str, norms: Norms, channels: int) -> str:
    """The path of the first of these norms in a module that has as many channels; "" for none."""
    paths = (_child(parent, name) for name in names.split())
    return next((p for p in paths if p in norms and norms[p].channels == channels), "")


def _own_gain(layer: Module, H: int, D: int, norms: Norms) -> Standing | None:
    if "gain" not in layer.tensors or not layer.path:
        return None
    return Standing("", "after", text("the weights have a gain of their own, as weight norm has"))


_QUERIES = re.compile(r"(?:^|_)(q|k|query|key)(?:_proj|_lin)?$")


def _of_queries(layer: Module, H: int, D: int, norms: Norms) -> Standing | None:
    if not (found := _QUERIES.search(layer.last)):
        return None
    letter = found[1][0]
    for name in f"{letter}_norm norm_{letter} {letter}_layernorm {letter}_ln".split():
        path = _child(layer.parent, name)
        if path in norms and H % norms[path].channels == 0:
            return Standing(path, "after", text("{name!r} normalizes what it makes", name=name))
    return None


_CONVOLUTION = re.compile(r"^(conv|conv2d_|conv_)(\d*)$", re.IGNORECASE)


def _numbered(layer: Module, H: int, D: int, norms: Norms) -> Standing | None:
    if not (found := _CONVOLUTION.match(layer.last)):
        return None
    for stem in ("bn", "batch_norm", "BatchNorm_", "norm", "gn", "GroupNorm_", "ln"):
        path = _child(layer.parent, stem + found[2])
        if path in norms and norms[path].channels in {H, D}:
            return _by_size(path, H, norms)
    return None


def _by_size(path: str, H: int, norms: Norms) -> Standing:
    place = "after" if norms[path].channels == H else "before"
    why = text("{name!r} is named and sized as its norm", name=norms[path].last)
    return Standing(path, place, why)


def _in_sequence(layer: Module, H: int, D: int, norms: Norms) -> Standing | None:
    if not layer.last.isdecimal():
        return None
    place = int(layer.last)
    for step, channels, where in ((1, H, "after"), (-1, D, "before")):
        path = _child(layer.parent, str(place + step))
        if path in norms and norms[path].channels == channels:
            why = text("{name!r} is beside it in a sequence", name=path)
            return Standing(path, where, why)
    return None


def _residual(layer: Module, H: int, D: int, norms: Norms) -> Standing | None:
    """BERT's `output.dense` beside `output.LayerNorm`, and PyTorch's own encoder layer."""
    of_output = layer.last == "dense" and layer.parent.endswith("output")
    if of_output and (path := _first(layer.parent, "LayerNorm layer_norm", norms, H)):
        why = text("its output is added to the stream, whose sum {name!r} takes", name=path)
        return Standing(path, "residual", why)
    block, own = (
        (layer.parent.rpartition(".")[0], "norm1")
        if layer.path.endswith("self_attn.out_proj")
        else (layer.parent, "norm2" if layer.last == "linear2" else "")
    )
    path = _child(block, own)
    if own and path in norms and norms[path].channels == H:
        why = text(
            "PyTorch's encoder layer normalizes the sum unless it was made with norm_first=True, "
            "which no name tells"
        )
        return Standing(path, "residual", why)
    return None


_INTO_ATTENTION = re.compile(
    r"(attn|attention|self_attention|self_attn|mixer|temporal_block)(\.self|\.attention)*\."
    r"(c_attn|in_proj|qkv\w*|wqkv|query_key_value|[qkv]_proj|query|key|value|w[qkv]|to_[qkv])$",
    re.IGNORECASE,
)
_INTO_MLP = re.compile(
    r"(mlp|ffn|feed_forward|feedforward|intermediate|MlpBlock_\d)\."
    r"(c_fc|fc1|up_proj|gate_proj|gate_up_proj|w1|w3|dense|0|lin1|Dense_0|dense_h_to_4h)$"
    r"|(^|\.)fc1$",
    re.IGNORECASE,
)
_BEFORE_ATTENTION = (
    "ln_1 norm1 input_layernorm attention_norm layernorm_before LayerNorm_0 ln1 layer_norm1 "
    "self_attn_layer_norm attn_norm input_norm"
)
_BEFORE_MLP = (
    "ln_2 norm2 post_attention_layernorm ffn_norm layernorm_after LayerNorm_1 LayerNorm_2 ln2 "
    "layer_norm2 final_layer_norm mlp_norm pre_feedforward_layernorm"
)
_HEAD = re.compile(r"(^|\.)(lm_head|head|classifier|output|score)$")
_BEFORE_HEAD = "norm ln_f final_norm model.norm transformer.ln_f encoder_norm final_layernorm"


def _pre_norm(layer: Module, H: int, D: int, norms: Norms) -> Standing | None:
    # PyTorch's attention has the weights of its projections itself, where others have a part.
    fused = layer.tensors["weight"].name.endswith("in_proj_weight")
    into_part = f"{layer.path}.in_proj" if fused else layer.path
    for into, names in (
        (_INTO_ATTENTION, _BEFORE_ATTENTION),
        (_INTO_MLP, _BEFORE_MLP),
        (_HEAD, _BEFORE_HEAD),
    ):
        if not (found := into.search(into_part)):
            continue
        block = into_part[: found.start()].rstrip(".")
        path = _first(block, names, norms, D)
        if fused and path.endswith("norm1"):
            continue  # PyTorch's own encoder layer, whose norms stand after their sums
        if path:
            why = text("{name!r} stands before this part of its block", name=norms[path].last)
            return Standing(path, "before", why)
    return None


def _beside(layer: Module, H: int, D: int, norms: Norms) -> Standing | None:
    """The one norm in the same module."""
    near = [
        path
        for path, norm in norms.items()
        if norm.parent == layer.parent and norm.channels in {H, D}
    ]
    named = [path for path in near if norms[path].last.rpartition("_")[2] == _number(layer.last)]
    chosen = named if len(named) == 1 else near
    return _by_size(chosen[0], H, norms) if len(chosen) == 1 else None


def _number(name: str) -> str:
    return name.rpartition("_")[2]
