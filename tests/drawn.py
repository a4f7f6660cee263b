"""Random models and cases for tests."""

from typing import Any

import numpy as np

from normgeo import FAMILIES, NormalizedGLM, Normalizer
from normgeo.base.arrays import Array


def model_and_cases(
    normalizer: Normalizer,
    family: str = "gaussian",
    N: int = 40,
    H: int = 4,
    D: int = 5,
    *,
    seed: int = 0,
    **parameters: Any,
) -> tuple[NormalizedGLM, Array]:
    """A model with W (H, D), biases and, except for the standard model, gains; and cases (N, D).

    Frozen statistics are those of W and the cases, unless `parameters` give another reference.
    """
    rng = np.random.default_rng(seed)
    W, b, g = rng.standard_normal((H, D)), rng.normal(0, 0.3, H), rng.uniform(0.5, 1.5, H)
    X = rng.normal(0.3, 1, (N, D))
    drawn: dict[str, Any] = {"b": b, "g": None if normalizer.is_standard else g}
    if normalizer.statistics == "frozen":
        drawn["reference"] = W, X
    return NormalizedGLM(normalizer, family, W, **drawn | parameters), X


def varied_model_and_cases(
    normalizer: Normalizer, family: str, *, seed: int = 0, N: int = 9, D: int = 5, H: int = 6
) -> tuple[NormalizedGLM, Array]:
    """A model with gains of both signs, a φ if it has one, and another batch as reference."""
    rng = np.random.default_rng(seed)
    g = rng.uniform(0.4, 1.2, H) * (-1) ** np.arange(H)
    W, (W0, X0) = rng.standard_normal((H, D)), rng.standard_normal((2, 12, D))
    b = 0.3 * rng.standard_normal(H)
    model = NormalizedGLM(
        normalizer,
        family,
        W,
        b,
        None if normalizer.is_standard else g,
        phi=0.7 if FAMILIES[family].has_dispersion else 1.0,
        reference=(W0[:H], X0),
    )
    return model, rng.standard_normal((N, D))
