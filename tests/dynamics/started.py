"""Starting points for tests of descents: small models of every normalizer, and their axis."""

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS, NormalizedGLM, Normalizer

HOMOGENEOUS = [
    *(normalizer for normalizer in GRID.values() if normalizer.homogeneous_blocks(4)),
    NORMALIZERS["group"],
]
every_homogeneous = pytest.mark.pairwise("normalizer", HOMOGENEOUS)


def start(normalizer: Normalizer, family: str = "categorical") -> NormalizedGLM:
    """A model of 4 neurons, or of 6 if groups share them: z of a group of 2 is only a sign."""
    rng, H = np.random.default_rng(3), 4 if normalizer.groups == 1 else 6
    gain = None if normalizer.words == ("none", "none") else rng.uniform(0.5, 1.5, H)
    W, b = rng.normal(0.3, 1, (H, 5)), rng.normal(0, 0.3, H)
    return NormalizedGLM(normalizer, family, W, b, gain)
