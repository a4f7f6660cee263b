"""Measure the networks whose tables ship, in NumPy, and write the tables into the package.

    python -m tools.example_tables [NAME…]

The tables are the same on every machine, up to rounding. The networks are narrow, with random
weights; blocks and norms are those of the networks whose names they have.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from normgeo.measured.measuring import measure
from normgeo.measured.saved.examples import EXAMPLES
from normgeo.measured.table import MeasuredTable
from tools.numpy_layers import (
    attend,
    batch_norm,
    convolve,
    heads,
    layer_norm,
    relu,
    rms_norm,
    silu,
    turned,
)

Arrays = dict[str, np.ndarray]
Shapes = dict[str, tuple[int, ...] | int]
Network = tuple[Callable[[Arrays], Any], Arrays]

EPS = 1e-5
TOKENS = np.arange(24).reshape(3, 8) * 5 % 11
VOCABULARY, WIDTH, HEADS, BLOCKS = 11, 16, 2, 2
STAGES = 4
CHANNELS = 4  # of the first stage of the ResNet; the published one has 64


def drawn(**shapes: tuple[int, ...] | int) -> Arrays:
    """Draw weights that give outputs of unit size, gains around 1, and other small vectors."""
    rng = np.random.default_rng(0)
    found = {}
    for name, shape in shapes.items():
        if isinstance(shape, int):
            around = 1.0 if name.endswith(("norm.weight", "norm1.weight", "norm2.weight")) else 0.0
            around = 1.0 if ".bn" in name and name.endswith("weight") else around
            found[name] = around + 0.2 * rng.standard_normal(shape)
        else:
            found[name] = rng.standard_normal(shape) / np.prod(shape[1:]) ** 0.5
    return found


def _block(name: str) -> Shapes:
    shapes: Shapes = {}
    for part, rows, columns in (
        *((f"attn.{letter}_proj", WIDTH, WIDTH) for letter in "qkvo"),
        *(("mlp.up", 4 * WIDTH, WIDTH), ("mlp.down", WIDTH, 4 * WIDTH)),
    ):
        shapes[f"{name}.{part}.weight"], shapes[f"{name}.{part}.bias"] = (rows, columns), rows
    for norm in ("norm1", "norm2"):
        shapes[f"{name}.{norm}.weight"] = shapes[f"{name}.{norm}.bias"] = WIDTH
    return shapes


def _parts(p: Arrays) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """A linear map, a layer norm and attention, with parameters by name."""

    def linear(x: Any, name: str) -> Any:
        return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]

    def norm(x: Any, name: str) -> Any:
        return layer_norm(x, EPS) * p[f"{name}.weight"] + p[f"{name}.bias"]

    def attention(x: Any, name: str) -> Any:
        q, k, v = (heads(linear(x, f"{name}.{letter}_proj"), HEADS) for letter in "qkv")
        return linear(attend(q, k, v), f"{name}.o_proj")

    return linear, norm, attention


def _ends(**more: tuple[int, ...] | int) -> Arrays:
    blocks = {n: shape for i in range(BLOCKS) for n, shape in _block(f"blocks.{i}").items()}
    embedding = {"embedding.weight": (VOCABULARY, WIDTH), "position.weight": (8, WIDTH)}
    return drawn(**embedding, **blocks, **more, **{"head.weight": (VOCABULARY, WIDTH)})


def transformer() -> Network:
    def f(p: Arrays) -> Any:
        linear, norm, attention = _parts(p)
        x = p["embedding.weight"][TOKENS] + p["position.weight"]
        for i in range(BLOCKS):
            block = f"blocks.{i}"
            x = x + attention(norm(x, f"{block}.norm1"), f"{block}.attn")
            h = relu(linear(norm(x, f"{block}.norm2"), f"{block}.mlp.up"))
            x = x + linear(h, f"{block}.mlp.down")
        return norm(x, "norm") @ p["head.weight"].T

    return f, _ends(**{"norm.weight": WIDTH, "norm.bias": WIDTH})


def post_norm() -> Network:
    def f(p: Arrays) -> Any:
        linear, norm, attention = _parts(p)
        x = p["embedding.weight"][TOKENS] + p["position.weight"]
        for i in range(BLOCKS):
            block = f"blocks.{i}"
            x = norm(x + attention(x, f"{block}.attn"), f"{block}.norm1")
            h = relu(linear(x, f"{block}.mlp.up"))
            x = norm(x + linear(h, f"{block}.mlp.down"), f"{block}.norm2")
        return x @ p["head.weight"].T

    return f, _ends()


def decoder() -> Network:
    """One block: two heads of queries share one head of keys and values."""
    size, hidden = WIDTH // 4, 2 * WIDTH
    shapes: Shapes = {"embed_tokens.weight": (VOCABULARY, WIDTH)}
    for i in range(BLOCKS):
        of: Shapes = {
            "input_norm": WIDTH,
            "attn.q_proj": (4 * size, WIDTH),
            "attn.k_proj": (8, WIDTH),
        }
        of |= {"attn.v_proj": (8, WIDTH), "attn.q_norm": size, "attn.k_norm": size}
        of |= {"attn.o_proj": (WIDTH, 4 * size), "post_norm": WIDTH}
        of |= {"mlp.gate_proj": (hidden, WIDTH), "mlp.up_proj": (hidden, WIDTH)}
        of |= {"mlp.down_proj": (WIDTH, hidden)}
        shapes |= {f"layers.{i}.{name}.weight": shape for name, shape in of.items()}
    shapes |= {"norm.weight": WIDTH, "lm_head.weight": (VOCABULARY, WIDTH)}

    def f(p: Arrays) -> Any:
        def norm(x: Any, name: str) -> Any:
            return rms_norm(x, EPS) * p[f"{name}.weight"]

        x = p["embed_tokens.weight"][TOKENS]
        for i in range(BLOCKS):
            block = f"layers.{i}"
            h = norm(x, f"{block}.input_norm")
            q, k, v = (
                heads(h @ p[f"{block}.attn.{letter}_proj.weight"].T, count)
                for letter, count in (("q", 4), ("k", 2), ("v", 2))
            )
            q, k = norm(q, f"{block}.attn.q_norm"), norm(k, f"{block}.attn.k_norm")
            k, v = np.repeat(k, 2, axis=1), np.repeat(v, 2, axis=1)
            x = x + attend(turned(q), turned(k), v) @ p[f"{block}.attn.o_proj.weight"].T
            h = norm(x, f"{block}.post_norm")
            gate = silu(h @ p[f"{block}.mlp.gate_proj.weight"].T)
            up = h @ p[f"{block}.mlp.up_proj.weight"].T
            x = x + (gate * up) @ p[f"{block}.mlp.down_proj.weight"].T
        return norm(x, "norm") @ p["lm_head.weight"].T

    return f, drawn(**shapes)


def resnet_18() -> Network:
    """Four stages of two blocks of two convolutions, with training-mode batch statistics."""
    shapes: Shapes = {"conv1.weight": (CHANNELS, 3, 3, 3)}

    def normed(name: str, channels: int) -> None:
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = channels

    normed("stem.bn1", CHANNELS)
    before = CHANNELS
    for stage in range(STAGES):
        channels = CHANNELS * 2**stage
        for block in (0, 1):
            name = f"layer{stage + 1}.{block}"
            shapes[f"{name}.conv1.weight"] = (channels, before, 3, 3)
            normed(f"{name}.bn1", channels)
            shapes[f"{name}.conv2.weight"] = (channels, channels, 3, 3)
            normed(f"{name}.bn2", channels)
            if before != channels:
                shapes[f"{name}.downsample.conv.weight"] = (channels, before, 1, 1)
                normed(f"{name}.downsample.bn", channels)
            before = channels
    shapes |= {"fc.weight": (10, before), "fc.bias": 10}
    images = np.random.default_rng(1).standard_normal((6, 3, 16, 16))

    def f(p: Arrays) -> Any:
        def norm(a: Any, name: str) -> Any:
            z = batch_norm(np.moveaxis(a, 1, -1), EPS)
            return np.moveaxis(z * p[f"{name}.weight"] + p[f"{name}.bias"], -1, 1)

        x = relu(norm(convolve(images, p["conv1.weight"], 1, 1), "stem.bn1"))
        for stage in range(STAGES):
            for block in (0, 1):
                name, stride = f"layer{stage + 1}.{block}", 2 if stage and not block else 1
                h = convolve(x, p[f"{name}.conv1.weight"], stride, 1)
                h = convolve(relu(norm(h, f"{name}.bn1")), p[f"{name}.conv2.weight"], 1, 1)
                h, shortcut = norm(h, f"{name}.bn2"), f"{name}.downsample"
                if f"{shortcut}.conv.weight" in p:
                    x = convolve(x, p[f"{shortcut}.conv.weight"], stride)
                    x = norm(x, f"{shortcut}.bn")
                x = relu(x + h)
        return x.mean(axis=(2, 3)) @ p["fc.weight"].T + p["fc.bias"]

    return f, drawn(**shapes)


NETWORKS: dict[str, Callable[[], Network]] = {
    "transformer": transformer,
    "post_norm": post_norm,
    "resnet_18": resnet_18,
    "decoder": decoder,
}


def table(name: str) -> MeasuredTable:
    """Measure one of NETWORKS."""
    return measure(*NETWORKS[name]())


def main() -> None:
    for name in sys.argv[1:] or NETWORKS:
        path = EXAMPLES[name].path
        path.parent.mkdir(exist_ok=True)
        table(name).save(path)
        print(f"{path}: {path.stat().st_size:,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
