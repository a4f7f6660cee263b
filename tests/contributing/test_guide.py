"""The classes that CONTRIBUTING.md shows do what it says."""

import re
from pathlib import Path

import numpy as np
import pytest

from normgeo.invariance.certificate import certify
from normgeo.invariance.transforms import TRANSFORMS
from normgeo.models import families
from normgeo.normalizers import scales
from normgeo.normalizers.normalizer import Normalizer

GUIDE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")


def shown(name, module):
    """The class `name` of the guide, as if it stood in `module`."""
    (block,) = (
        code for code in re.findall(r"```python\n(.*?)```", GUIDE, re.S) if f"class {name}" in code
    )
    namespace = dict(vars(module))
    exec(block, namespace)
    return namespace[name]()


def test_new_scale_is_certified_and_differentiated(monkeypatch, rng):
    monkeypatch.setitem(scales.SCALES, "total", shown("TotalScale", scales))
    normalizer = Normalizer("batch", "total")
    batch_norm = Normalizer("batch", "batch")
    for transform in TRANSFORMS.values():
        expected = certify(batch_norm, transform).invariant
        assert certify(normalizer, transform).invariant == expected

    W, dW = rng.standard_normal((2, 4, 5))
    X, dX = rng.standard_normal((2, 6, 5))
    U, h = rng.standard_normal((6, 4)), 1e-3

    def z(t):
        return normalizer.normalize(W + t * dW, X + t * dX).z

    linearization = normalizer.linearize(W, X)
    dz = linearization.jvp(dW, dX)
    difference = (8 * (z(h) - z(-h)) - (z(2 * h) - z(-2 * h))) / (12 * h)
    np.testing.assert_allclose(dz, difference, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(z(0), axis=0), 1)
    back_W, back_X = linearization.vjp(U)
    assert np.vdot(U, dz) == pytest.approx(np.vdot(back_W, dW) + np.vdot(back_X, dX))


def test_new_family_has_probabilities_and_a_kl(rng):
    trials, bernoulli = shown("Trials", families), families.FAMILIES["bernoulli"]
    s, other = rng.standard_normal((2, 7, 3))
    np.testing.assert_allclose(trials.kl(s, other), 12 * bernoulli.kl(s, other))
    logs = [trials.log_likelihood([[count]], [[0.3]]) for count in range(13)]
    assert np.exp(logs).sum() == pytest.approx(1)
    assert trials.sample(s, rng).shape == s.shape
    with pytest.raises(ValueError, match="must be whole numbers from 0 to 12; got 13"):
        trials.log_likelihood([[13]], [[0.3]])
