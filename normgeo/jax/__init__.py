"""JAX: a function of parameters (Flax, Equinox, one's own) is measured, its training recorded."""

from normgeo.jax.network import measure
from normgeo.jax.recording import Recorder

__all__ = ["Recorder", "measure"]
