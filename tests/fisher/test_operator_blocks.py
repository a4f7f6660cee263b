"""Every kind of block of F against second differences of the KL, from which it is defined."""

from itertools import product

import numpy as np
import pytest

from normgeo import FAMILIES, GRID, NORMALIZERS, Normalizer, fisher, kl
from tests.drawn import varied_model_and_cases

VARIANTS = (
    Normalizer("none", "layer", groups=2, name="grouped RMS norm"),
    Normalizer("batch", "batch", eps=0.3, name="batch norm with eps"),
    Normalizer("layer", "layer", eps=0.3, name="layer norm with eps"),
    Normalizer("batch", "batch", statistics="frozen", name="frozen batch norm"),
)
every_normalizer = pytest.mark.pairwise(
    "normalizer",
    dict.fromkeys([*NORMALIZERS.values(), *GRID.values(), *VARIANTS]),
    ids=lambda normalizer: normalizer.title,
)
every_family = pytest.mark.pairwise("family", FAMILIES)

KINDS = [
    f"{a}{b}, {where} neuron"
    for (a, b), where in product(
        ("WW", "Wb", "bW", "Wg", "gW", "bb", "bg", "gb", "gg"), ("same", "another")
    )
]
every_kind = pytest.mark.pairwise("kind", KINDS)


def directions(model, rng):
    """A unit direction (P,) along the parameters of each kind, of every neuron."""
    rows = np.arange(model.layout.size).reshape(len(model.W), -1)
    D = model.W.shape[1]
    parts = {"W": slice(0, D), "b": slice(D, D + 1), "g": slice(D + 1, None)}
    found = {}
    for (h, row), (name, part) in product(enumerate(rows), parts.items()):
        direction = np.zeros(rows.size)
        if rows[h, part].size:
            direction[row[part]] = rng.standard_normal(row[part].size)
            found[name, h] = direction / np.linalg.norm(direction)
    return found


def hessian_of_the_kl(model, X, u, v):
    """∂²/∂a∂b KL[P_θ ‖ P_{θ + a u + b v}] at 0, by differences of second order, extrapolated."""
    theta = model.pack()

    def at(a, b):
        return kl(model, model.unpack(theta + a * u + b * v), X)

    def difference(h):
        return (at(h, h) - at(h, -h) - at(-h, h) + at(-h, -h)) / (4 * h * h)

    return (4 * difference(5e-3) - difference(1e-2)) / 3


@every_normalizer
@every_family
def test_every_kind_of_block_is_the_second_derivative_of_the_kl(normalizer, family):
    model, X = varied_model_and_cases(normalizer, family, N=8, H=4)
    along, p = directions(model, np.random.default_rng(12)), model.layout.per_neuron
    F, stored = fisher(model, X), fisher(model, X, "blocks")
    dense = fisher(model, X, "dense").to_dense()
    for kind in KINDS:
        if "g" in kind and model.g is None:
            continue  # the standard model has none
        i, j = (1, 1) if "same" in kind else (2, 0)
        u, v = along[kind[0], i], along[kind[1], j]
        measured = hessian_of_the_kl(model, X, u, v)
        # No product is larger than this (Cauchy–Schwarz).
        size = np.sqrt(F.quad(u) * F.quad(v))
        found = {
            "block": u[i * p : (i + 1) * p] @ F.block(i, j) @ v[j * p : (j + 1) * p],
            "dense": u @ dense @ v,
            "restricted": F.restrict(np.stack([u, v], axis=1))[0, 1],
        }
        if i == j:
            found["stored block"] = u @ (stored @ v)
        for form, value in found.items():
            assert abs(value - measured) < 1e-6 * size + 1e-9, (kind, form)


@every_kind
def test_every_kind_of_block_is_there_to_be_measured(kind):
    """Negative control: under layer norm with a softmax none of them is zero."""
    model, X = varied_model_and_cases(NORMALIZERS["layer"], "categorical", N=8, H=4)
    along = directions(model, np.random.default_rng(12))
    i, j = (1, 1) if "same" in kind else (2, 0)
    u, v = along[kind[0], i], along[kind[1], j]
    size = np.sqrt(fisher(model, X).quad(u) * fisher(model, X).quad(v))
    assert abs(hessian_of_the_kl(model, X, u, v)) > 1e-3 * size
