"""Small networks with the names and shapes of real checkpoints, and the norms they really have.

Names and places are those of the sources of transformers, timm, torchvision, flax and of plain
PyTorch. A layer that is in no truth has no norm of its own: what it takes is normalized for
others as well, as in post-norm streams, or something stands between, as an activation.
"""

from tests.checkpoints.architectures import convolutions, decoders, encoders, others, vision
from tests.checkpoints.architectures.names import NETWORKS

__all__ = ["NETWORKS", "convolutions", "decoders", "encoders", "others", "vision"]
