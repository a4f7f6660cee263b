"""The lines of NumPy of a normalizer compute the μ, σ and z of the library."""

from dataclasses import replace

import numpy as np
import pytest

from normgeo.normalizers.in_numpy import gradient_in_numpy, in_numpy, prepared
from normgeo.normalizers.named import GRID
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.scales import SCALES

VARIANTS = [
    replace(method, groups=groups, eps=eps, statistics=statistics)
    for method in GRID.values()
    for groups in ((1, 2, 3) if method.shared_by_neurons else (1,))
    for eps in (0.0, 0.1)
    for statistics in (("current", "frozen") if method.shared_by_cases else ("current",))
]


def written(method: Normalizer, W, X, reference):
    """μ, σ and z by the lines, after the prepared lines at a reference."""
    names = {"np": np, "W": reference[0], "X": reference[1]}
    exec("\n".join(prepared(method, len(W))), names)
    names |= {"W": W, "X": X, "A": X @ W.T}
    exec("\n".join(in_numpy(method)), names)
    return [np.broadcast_to(names[name], names["z"].shape) for name in ("mu", "sigma", "z")]


@pytest.mark.pairwise("method", VARIANTS, ids=str, each=False)
def test_lines_make_the_numbers_of_the_library(method, rng):
    W, W0 = rng.standard_normal((2, 6, 5))
    X, X0 = rng.standard_normal((2, 7, 5)) + 1
    right = method.normalize(W, X, (W0, X0))
    expected = [np.broadcast_to(M, right.z.shape) for M in (right.mu, right.sigma, right.z)]
    np.testing.assert_allclose(written(method, W, X, (W0, X0)), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.pairwise("method", VARIANTS, ids=str, each=False)
def test_gradient_is_that_of_the_library(method, rng):
    W, W0 = rng.standard_normal((2, 6, 5))
    X, X0 = rng.standard_normal((2, 7, 5)) + 1
    U = rng.standard_normal((7, 6))
    names = {"np": np, "W": W0, "X": X0}
    exec("\n".join(prepared(method, 6)), names)
    names |= {"W": W, "X": X, "A": X @ W.T, "U": U}
    exec("\n".join((*in_numpy(method), *gradient_in_numpy(method))), names)
    # G is the gradient in W̃, without the part that the center removes.
    expected, _ = method.linearize(W, X, (W0, X0)).vjp(U)
    np.testing.assert_allclose(names["G"], expected, rtol=1e-9, atol=1e-11)


def test_where_a_word_says_nothing_there_are_no_lines(monkeypatch):
    monkeypatch.setattr(type(SCALES["layer"]), "in_numpy", lambda self, *rest: "")
    assert in_numpy(Normalizer("layer", "layer")) == ()
    assert in_numpy(Normalizer("layer", "batch"))
    monkeypatch.setattr(type(SCALES["batch"]), "adjoint_in_numpy", lambda self, *rest: ("", ""))
    assert gradient_in_numpy(Normalizer("layer", "batch")) == ()
