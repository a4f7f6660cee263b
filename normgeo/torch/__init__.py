"""PyTorch: a module is measured on a batch, and its training recorded."""

from normgeo.torch.network import measure
from normgeo.torch.recording import Recorder

__all__ = ["Recorder", "measure"]
