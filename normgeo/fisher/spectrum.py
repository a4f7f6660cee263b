"""Eigenvalues of the Fisher information, the largest ones without ever forming it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from normgeo.base.arguments import flag, instance_of, seed_number, whole_number
from normgeo.base.arrays import Array
from normgeo.base.progress import Progress, Report, Stop
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.fisher.operator import Fisher
from normgeo.fisher.which import WhichFisher

SMALL = 400
"""Parameters up to which the matrix is formed, whatever the form."""

ROUNDING = 1e-14
"""Of the largest eigenvalue: what is below it is only rounding."""

_AT_ONCE = 32  # columns

PRODUCTS = 2000
"""Products with F that Lanczos is told to take, for progress: how many it takes is not known."""


@final
@dataclass(frozen=True, eq=False)
class Spectrum:
    """The largest eigenvalues of a Fisher information, with their vectors.

    Attributes:
        values: (k,), descending. vectors: (P, k), orthonormal; zero along b and g for the weights
            alone. residuals: ‖Fv − λv‖, (k,); each value is within its residual of an eigenvalue.
        trace: the sum of all eigenvalues. size: how many there are, P, or H·D of the weights.
        method: "lanczos" or "dense". products: with F, that Lanczos took.
        form, which, notes: of the Fisher information, as in `Fisher`.

    """

    values: Array
    vectors: Array
    residuals: Array
    trace: float
    size: int
    method: str
    products: int
    form: str
    which: WhichFisher
    notes: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether these are all of them."""
        return len(self.values) == self.size

    @property
    def share(self) -> float:
        """Their part of the trace; 0 where F is zero."""
        return float(self.values.sum()) / self.trace if self.trace else 0.0


def spectrum(
    F: Fisher,
    k: int | None = 20,
    weights_only: bool = False,
    *,
    seed: int = 0,
    progress: Report | Progress | None = None,
) -> Spectrum:
    """Return the k largest eigenvalues of F: by Lanczos from products, or densely where F is small.

    Args:
        F: of any form. k: from 1 to P (H·D); None for all of them, which forms the matrix.
        weights_only: of F_WW rather than of all of F.
        seed: of the first vector of Lanczos, so that a run can be repeated.
        progress: told (products, PRODUCTS) after each of Lanczos.

    Raises:
        ValueError: a k out of range, or a matrix of more than `F.max_bytes`.
            Or Lanczos did not converge. Stop: it was asked to, and has nothing to keep.

    >>> from normgeo import NORMALIZERS, NormalizedGLM
    >>> from normgeo.fisher.operator import fisher
    >>> model = NormalizedGLM(NORMALIZERS["standard"], "gaussian", [[1.0]], phi=0.5)
    >>> spectrum(fisher(model, [[1.0], [-1.0]]), None).values
    array([2., 2.])

    """
    instance_of("F", F, Fisher)
    seed, weights_only = seed_number(seed), flag("weights_only", weights_only)
    places = F.layout.weights if weights_only else np.arange(F.layout.size)
    size, letter = len(places), "H·D" if weights_only else "P"
    every = text("which is {letter}, or None for all", letter=letter)
    count = size if k is None else whole_number("k", k, 1, size, every)
    return spectrum_among(F, places, count, seed=seed, progress=progress)


def spectrum_among(
    F: Fisher,
    places: Array,
    count: int,
    *,
    seed: int = 0,
    progress: Report | Progress | None = None,
) -> Spectrum:
    """Return the largest eigenvalues of F among some parameters, given by their places in θ.

    Args:
        F: of any form. places: rising. count: from 1 to their number.
        seed, progress: as in `spectrum`.

    Raises:
        ValueError: as `spectrum`.

    """
    size, products = len(places), 0
    watched, trace = Progress.of(progress), float(F.diagonal()[places].sum())
    if trace == 0:
        values, found = np.zeros(count), np.eye(size, count)
    elif F.form == "operator" and size > SMALL and count < size // 2:
        values, found, products = _lanczos(F, places, trace, count, seed, watched)
    else:
        matrix = _among(F, places)
        if count == size:
            values, found = eigh(matrix, driver="evd")
        else:
            values, found = eigh(matrix, subset_by_index=(size - count, size - 1))
    values, vectors = values[::-1], np.zeros((F.layout.size, count))
    vectors[places] = found[:, ::-1]
    watched.tell(PRODUCTS, PRODUCTS)
    residuals = np.linalg.norm((F.matmat(vectors) - values * vectors)[places], axis=0)
    return Spectrum(
        values,
        vectors,
        residuals,
        trace,
        size,
        "lanczos" if products else "dense",
        products,
        F.form,
        F.which,
        F.notes,
    )


def _among(F: Fisher, places: Array) -> Array:
    """F (k, k) among some parameters; of few of many by products, without the others."""
    if len(places) == F.layout.size:
        return F.to_dense()
    if len(places) > F.layout.size // 4:
        matrix: Array = F.to_dense()[np.ix_(places, places)]
        return matrix
    columns = []
    for some in np.array_split(places, -(-len(places) // _AT_ONCE)):
        V = np.zeros((F.layout.size, len(some)))
        V[some, np.arange(len(some))] = 1
        columns.append(F.matmat(V)[places])
    matrix = np.concatenate(columns, axis=1)
    return matrix / 2 + matrix.T / 2


def _lanczos(
    F: Fisher,
    places: Array,
    trace: float,
    k: int,
    seed: int,
    progress: Progress,
) -> tuple[Array, Array, int]:
    """Return eigenvalues, ascending, vectors at `places` of θ, and how many products they took."""
    products = 0

    def product(v: Array) -> Array:
        nonlocal products
        products += 1
        if not progress.tell(min(products, PRODUCTS - 1), PRODUCTS):
            raise Stop
        theta = np.zeros(F.layout.size)
        theta[places] = v.reshape(-1)
        # Of trace 1, because the squares of a tiny F underflow.
        scaled: Array = F.matvec(theta)[places] / trace
        return scaled

    counted = LinearOperator((len(places), len(places)), matvec=product, dtype=F.dtype)
    start = np.random.default_rng(seed).standard_normal(len(places))
    try:
        values, vectors = eigsh(counted, k, which="LA", v0=start)
    except ArpackNoConvergence as error:
        raise Refusal(
            text(
                "Lanczos must converge to {k} eigenvalues; after {products} products with F "
                "{converged} had converged. Ask for fewer, or use form='dense'.",
                k=k,
                products=products,
                converged=len(error.eigenvalues),
            )
        ) from error
    order = np.argsort(values)
    return trace * values[order], vectors[:, order], products
