"""What stands behind the shape of parameter space."""

from __future__ import annotations

from collections.abc import Callable

from normgeo.settings import Settings

DEPTHS: dict[str, tuple[str, Callable[[Settings], None]]] = {
    "equal_kl": ("Equal KL", lambda s: None)
}
