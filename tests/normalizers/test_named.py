"""A normalizer may be given by name everywhere."""

import re

import numpy as np
import pytest

from normgeo import (
    NORMALIZERS,
    TRANSFORMS,
    AttentionHead,
    CellLayer,
    NormalizedGLM,
    Recurrence,
    ResidualNetwork,
    attention_ignored,
    batch_drift,
    certify,
    expected_dimension,
    residual_ignored,
    smallest_witness,
)
from normgeo.base.refusal import Refusal

RNG = np.random.default_rng(0)
W, X = RNG.standard_normal((4, 3)), RNG.standard_normal((6, 3))
CONTRAST, SHIFT = TRANSFORMS["case_rescaling"], TRANSFORMS["weight_vector_rescaling"]
TAKERS = {
    "certify": lambda it: certify(it, CONTRAST).word,
    "smallest_witness": lambda it: smallest_witness(it, SHIFT).before.W.tolist(),
    "expected_dimension": lambda it: expected_dimension(it, 4, 5, "gaussian"),
    "batch_drift": lambda it: batch_drift(it, W, X, np.random.default_rng(0)).change.tolist(),
    "glm": lambda it: NormalizedGLM(it, "gaussian", W).natural_parameter(X).tolist(),
    "recurrence": lambda it: (
        Recurrence.random(it, 4, 3, np.random.default_rng(0)).layer.units.normalizer.title
    ),
    "cell": lambda it: (
        CellLayer.random("lstm", it, 4, 3, np.random.default_rng(0)).normalizer.title
    ),
    "residual": lambda it: residual_ignored(it, "pre")["reads_times"].symbol,
    "attention": lambda it: attention_ignored(it)["q_times"].symbol,
    "head": lambda it: AttentionHead.random(it, 4, 3, np.random.default_rng(0)).normalizer.title,
    "network": lambda it: (
        ResidualNetwork.random(it, "pre", 3, 4, 5, 2, np.random.default_rng(0)).normalizer.title
    ),
}


def test_name_is_taken_as_what_it_names_and_no_other_word() -> None:
    words = ", ".join(NORMALIZERS)
    sentence = re.escape(f"`normalizer` must be one of {words}; got 'layers'.")
    for name, take in TAKERS.items():
        assert take("layer") == take(NORMALIZERS["layer"]), name
        with pytest.raises(Refusal, match=f"^{sentence}$"):
            take("layers")
