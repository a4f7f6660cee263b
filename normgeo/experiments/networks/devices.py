"""What an experiment runs on: the devices that JAX finds, and their memory."""

from __future__ import annotations

import sys

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from normgeo.base.refusal import Refusal


def choose(device: str) -> None:
    """Let JAX compute on a kind of device.

    Raises:
        ValueError: there is none here.

    """
    try:
        jax.config.update("jax_default_device", jax.devices(device)[0])
    except RuntimeError:
        found = ", ".join(dict.fromkeys(each.platform for each in jax.devices()))
        raise Refusal(
            "JAX finds no {device!r} here, but {found}.", device=device, found=found
        ) from None


def most_memory() -> int:
    """The most bytes of memory that this process has had; 0 where no system tells it."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def placements(runs: int) -> tuple[NamedSharding, NamedSharding]:
    """Return where arrays go with a leading axis of so many runs, and those that all runs share.

    Runs are spread over the devices of the chosen kind, over as many as take equally many runs;
    what runs share is copied to each of these.
    """
    chosen = jax.config.jax_default_device
    devices = jax.local_devices(backend=None if chosen is None else chosen.platform)
    count = max(n for n in range(1, len(devices) + 1) if runs % n == 0)
    mesh = Mesh(np.array(devices[:count]), ("runs",))
    return NamedSharding(mesh, PartitionSpec("runs")), NamedSharding(mesh, PartitionSpec())
