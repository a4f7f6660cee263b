"""What the tests with real frameworks share; `make frameworks` runs them, and nothing else does."""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ["WANDB_MODE"], os.environ["WANDB_SILENT"] = "offline", "true"

# ruff: noqa: E402
import pytest
import torch

# The plain torchvision has kernels for CUDA alone, which a build of torch for the CPU cannot load.
# None of them is called here; that these two are declared is all that its import needs.
torch.set_num_threads(1)  # threads that wait for each other make small networks sixty times slower
KERNELS = torch.library.Library("torchvision", "FRAGMENT")
for kernel in ("nms", "qnms"):
    if not hasattr(torch.ops.torchvision, kernel):
        KERNELS.define(f"{kernel}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


@pytest.fixture(autouse=True)
def seed() -> None:
    """Draw the same weights in every run."""
    torch.manual_seed(0)
