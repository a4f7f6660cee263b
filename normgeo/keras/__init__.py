"""Keras: a model is measured on a batch, and its training recorded, on any backend."""

from normgeo.keras.network import measure
from normgeo.keras.recording import Recorder

__all__ = ["Recorder", "measure"]
