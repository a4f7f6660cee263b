"""`measure` on networks of PyTorch, against as many of their forward passes as it makes.

In the environment of the frameworks: `.venv-frameworks/bin/python -m benchmarks measuring`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.peers import there
from benchmarks.recording import NARROW, batch, resnet18, with_timm
from benchmarks.timing import Row, interleaved

TITLE = "Measuring a network"
MOST = 1.3


def rows() -> Iterator[Row]:
    if not (there("torch") and there("timm")):
        return
    import torch

    torch.set_num_threads(1)
    for name, model, inputs in networks():
        found: list[Any] = []
        measured = partial(_measured, model, inputs, found)
        pair = interleaved(measured, partial(_passes, model, inputs, found), 1)
        yield Row(
            f"{name}, {len(found[0].tensors)} tensors, {found[0].calls} forward passes",
            pair.seconds,
            "the passes alone",
            pair.against_seconds,
            f"{pair.ratio:.2f} ×",
            f"≤ {MOST} ×",
        )


def _measured(model: Any, inputs: Any, found: list[Any]) -> None:
    import normgeo.torch

    found.append(normgeo.torch.measure(model, inputs))


def _passes(model: Any, inputs: Any, found: list[Any]) -> None:
    import torch

    with torch.no_grad():
        for _ in range(found[0].calls):
            model(inputs)


def networks() -> Iterator[tuple[str, Any, Any]]:
    """Names of networks, the modules, and their inputs in double precision."""
    import torch

    torch.manual_seed(0)
    X, _ = batch()
    yield "ResNet, 32 digits", resnet18(**NARROW).train().double(), X[:32].double()
    vit = with_timm().create_model("vit_tiny_patch16_224", img_size=32, depth=2, num_classes=10)
    yield "ViT, 16 images", vit.eval().double(), torch.randn(16, 3, 32, 32).double()
