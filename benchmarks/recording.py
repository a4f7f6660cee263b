"""A training step of ResNet-18 on digits with a recorder of all its weights, against one without.

In the environment of the frameworks: `.venv-frameworks/bin/python -m benchmarks recording`.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.datasets import load_digits

from benchmarks.peers import there
from benchmarks.timing import Row, interleaved

TITLE = "Recorder in a training step"
CASES = 128  # of a batch
REPETITIONS = 30
NARROW = {"channels": (64, 64, 64, 64)}
KEPT: list[Any] = []
"""Declarations of kernels, which end with their objects."""

MOST_COST, MOST_COPIES = 1.10, 3.0


def rows() -> Iterator[Row]:
    if not (there("torch") and there("timm")):
        return
    import torch

    import normgeo.torch

    torch.set_num_threads(1)
    X, y = batch()
    table = normgeo.torch.measure(resnet18(**NARROW).train(), X[:32])  # which has the same names
    (plain, _, _), (recorded, model, optimizer) = training(X, y), training(X, y)
    with TemporaryDirectory() as folder:
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        recorder = normgeo.torch.Recorder.of(model, optimizer, Path(folder, "run"), table=table)
        recorded()
        copies = (tracemalloc.get_traced_memory()[1] - before) / size(recorder, model)
        tracemalloc.stop()
        pair = interleaved(recorded, plain, REPETITIONS)
        recorder.close()
    yield Row(
        f"ResNet-18, 8 × 8 digits, batches of {CASES}, {copies:.2f} copies of what is recorded",
        pair.seconds,
        "step without it",
        pair.against_seconds,
        f"{pair.ratio:.2f} ×",
        f"≤ {MOST_COST:.2f} ×, ≤ {MOST_COPIES:.0f} copies",
    )


def batch() -> tuple[Any, Any]:
    import torch

    images, labels = load_digits(return_X_y=True)
    X = torch.from_numpy(images[:CASES]).float().reshape(-1, 1, 8, 8) / 16
    return X, torch.from_numpy(labels[:CASES])


def resnet18(**widths: Any) -> Any:
    return with_timm().create_model(
        "resnet18", in_chans=1, num_classes=10, zero_init_last=False, **widths
    )


def training(X: Any, y: Any) -> tuple[Callable[[], None], Any, Any]:
    """A step, the module that it trains, and its optimizer."""
    import torch

    torch.manual_seed(0)
    model = resnet18()
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, weight_decay=5e-4)

    def step() -> None:
        torch.nn.functional.cross_entropy(model(X), y).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step, model, optimizer


def with_timm() -> Any:
    """The package, whose torchvision may have kernels for CUDA alone, and needs two declared."""
    import torch

    kernels = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            kernels.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
            KEPT.append(kernels)
    import timm

    return timm


def size(recorder: Any, model: Any) -> int:
    """Bytes of the weights that are recorded."""
    own, held = dict(model.named_parameters()), recorder.table.recorder()
    names = [*held["blocks"], *held["biases"].values()]
    return sum(own[name].numel() * own[name].element_size() for name in names)
