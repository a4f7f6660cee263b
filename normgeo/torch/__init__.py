"""PyTorch: a module is measured on a batch, its layers are told, and its training recorded."""

from normgeo.torch.layers_with_norms import layers
from normgeo.torch.network import measure
from normgeo.torch.recording import Recorder

__all__ = ["Recorder", "layers", "measure"]
