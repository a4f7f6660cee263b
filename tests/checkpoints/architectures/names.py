"""Shapes of layers and norms by their names, and the list of networks."""

from typing import NamedTuple

Shapes = dict[str, tuple[int, ...]]
D, F, V, HEAD = 8, 12, 20, 4  # width, width of the MLP, words, width of a head
N = 3  # blocks, so that sizes show the order as often as in real networks


class Architecture(NamedTuple):
    """Shapes by name; layer → (norm, place); how many of these stay unknown."""

    shapes: Shapes
    truth: dict[str, tuple[str, str]]
    untold: int = 0


def lin(path: str, out: int, into: int, bias: bool = True) -> Shapes:
    return {f"{path}.weight": (out, into)} | ({f"{path}.bias": (out,)} if bias else {})


def gpt(path: str, out: int, into: int) -> Shapes:
    return {f"{path}.weight": (into, out), f"{path}.bias": (out,)}


def conv(path: str, out: int, into: int, *kernel: int, bias: bool = False) -> Shapes:
    return {f"{path}.weight": (out, into, *(kernel or (3, 3)))} | (
        {f"{path}.bias": (out,)} if bias else {}
    )


def ln(path: str, size: int = D) -> Shapes:
    return {f"{path}.weight": (size,), f"{path}.bias": (size,)}


def rms(path: str, size: int = D) -> Shapes:
    return {f"{path}.weight": (size,)}


def bn(path: str, size: int) -> Shapes:
    return {f"{path}.num_batches_tracked": ()} | {
        f"{path}.{name}": (size,) for name in ("weight", "bias", "running_mean", "running_var")
    }


def truth(place: str, norm: str, *layers: str) -> dict[str, tuple[str, str]]:
    return {f"{layer}.weight": (norm, place) for layer in layers}


def thirds(place: str, norm: str, weight: str) -> dict[str, tuple[str, str]]:
    return {f"{weight}[{part}]": (norm, place) for part in "qkv"}


def of(prefix: str, names: str) -> list[str]:
    return [f"{prefix}.{name}" for name in names.split()]


NETWORKS: dict[str, Architecture] = {}


def add(
    name: str, shapes: list[Shapes], truths: list[dict[str, tuple[str, str]]], untold: int = 0
) -> None:
    all_shapes: Shapes = {}
    for one in shapes:
        all_shapes |= one
    all_truths: dict[str, tuple[str, str]] = {}
    for true in truths:
        all_truths |= true
    assert all_truths.keys() <= {
        f"{name}{part}" for name in all_shapes for part in ("", "[q]", "[k]", "[v]")
    }
    NETWORKS[name] = Architecture(all_shapes, all_truths, untold)


QKV = "self_attn.q_proj self_attn.k_proj self_attn.v_proj"
