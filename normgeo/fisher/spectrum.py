"""Eigenvalues of the Fisher information; the largest ones without forming the matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from normgeo.normalizers.blocks import lengths

SMALL = 400
"""Number of parameters up to which the matrix is formed, for any form."""

ROUNDING = 1e-14
"""Fraction of the largest eigenvalue below which eigenvalues are rounding."""

_AT_ONCE = 32  # columns

PRODUCTS = 300
"""First estimate of the products with F that Lanczos needs; the number is not known before."""

FEWEST = 100
"""Fewest products that Lanczos usually needs: a method with less work than these is faster."""


@final
@dataclass(frozen=True, eq=False)
class Spectrum:
    """The largest eigenvalues of a Fisher information, with their vectors.

    Attributes:
        values: (k,), descending. vectors: (P, k), orthonormal; zero along b and g for the weights
            alone. residuals: ‖Fv − λv‖, (k,); each value is within its residual of an eigenvalue.
        trace: the sum of all eigenvalues. size: their number, P, or H·D for the weights.
        method: "lanczos" or "dense". products: with F, taken by Lanczos.
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
        """Whether these are all eigenvalues."""
        return len(self.values) == self.size

    @property
    def share(self) -> float:
        """Their share of the trace; 0 if F is zero."""
        return float(self.values.sum()) / self.trace if self.trace else 0.0


def spectrum(
    F: Fisher,
    k: int | None = 20,
    weights_only: bool = False,
    *,
    seed: int = 0,
    progress: Report | Progress | None = None,
) -> Spectrum:
    """Return the k largest eigenvalues of F: by Lanczos from products, or from the matrix itself.

    The matrix, or its blocks if neurons are independent, is formed if F is small or if that takes
    less work than `FEWEST` products. Lanczos continues until the error is rounding: it is
    `scipy.sparse.linalg.eigsh` with tol = 0.

    Args:
        F: of any form. k: from 1 to P (H·D); None for all of them, which forms the matrix.
        weights_only: of F_WW instead of all of F.
        seed: of the first vector of Lanczos, for reproducibility.
        progress: called with (products, products expected) after each product of Lanczos or, for
            the matrix, with the finished share of PRODUCTS.

    Raises:
        ValueError: a k out of range, or a matrix of more than `F.max_bytes`.
            Or Lanczos did not converge. Stop: it was stopped, without a partial result.

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
    size, products, watched = len(places), 0, Progress.of(progress)
    known = F if F.form != "operator" or size <= F.layout.size // 4 else None
    if F.form == "operator" and size > SMALL and count < size // 2 and not _sooner_formed(F):
        known, trace = F, float(F.diagonal()[places].sum())
        if trace == 0:
            values, found = np.zeros(count), np.eye(size, count)
        else:
            values, found, products = _lanczos(F, places, trace, count, seed, watched)
    else:
        known = known or F.stored()
        parts = list(_parts(known, places))
        trace = float(sum(np.trace(matrix) for _, matrix in parts))
        values, found = _largest_of(parts, size, count, watched)
    vectors = np.zeros((F.layout.size, count))
    vectors[places] = found
    residuals = lengths((known.matmat(vectors) - values * vectors)[places].T)
    watched.tell(_steps(products), _steps(products))
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
        known.notes,
    )


def _sooner_formed(F: Fisher) -> bool:
    """Whether its matrix and eigenvectors take less work than `FEWEST` products with F.

    A matrix takes D² for each case and pair of dependent neurons. A product takes 3DH for each
    case: its arrays are long and narrow, so an operation takes three times as long.
    """
    layout, sizes = F.layout, np.array([len(cluster) for cluster in F.structure.clusters])
    pairs = int((sizes * (sizes + 1) // 2).sum())
    decomposing = 4.0 * float(((sizes * layout.per_neuron) ** 3.0).sum())
    forming = float(F.N) * pairs * layout.features**2
    held = 8.0 * (layout.per_neuron * sizes.max()) * layout.size
    products = FEWEST * 9.0 * F.N * layout.features * layout.neurons
    return forming + decomposing < products and held <= F.max_bytes


def _parts(F: Fisher, places: Array) -> Iterator[tuple[Array, Array]]:
    """The independent blocks of F among some parameters: their places (k,), and F (k, k)."""
    if F.form == "operator":
        yield np.arange(len(places)), _by_columns(F, places)
        return
    neurons, p = places // F.layout.per_neuron, F.layout.per_neuron
    if F.form == "blocks":
        for h in np.unique(neurons):
            at = np.flatnonzero(neurons == h)
            inside = places[at] - h * p
            yield at, F.block(h, h)[np.ix_(inside, inside)]
        return
    matrix = F.to_dense()
    for cluster in F.structure.clusters:
        at = np.flatnonzero(np.isin(neurons, cluster))
        if len(at):
            whole = len(at) == F.layout.size
            yield at, matrix if whole else matrix[np.ix_(places[at], places[at])]


def _by_columns(F: Fisher, places: Array) -> Array:
    """F (k, k) among a few of many parameters, by products, without the others."""
    columns = []
    for some in np.array_split(places, -(-len(places) // _AT_ONCE)):
        V = np.zeros((F.layout.size, len(some)))
        V[some, np.arange(len(some))] = 1
        columns.append(F.matmat(V)[places])
    matrix = np.concatenate(columns, axis=1)
    return matrix / 2 + matrix.T / 2


def _largest_of(
    parts: Sequence[tuple[Array, Array]], size: int, count: int, progress: Progress
) -> tuple[Array, Array]:
    """Return the largest eigenvalues of independent blocks, descending, and their vectors."""
    found = []
    for done, (at, matrix) in enumerate(parts, start=1):
        k = len(at)
        some = None if count >= k else (k - count, k - 1)
        found.append((at, *eigh(matrix, subset_by_index=some, driver="evr" if some else "evd")))
        if not progress.tell(done * PRODUCTS // (len(parts) + 1), PRODUCTS):
            raise Stop
    values = np.concatenate([each for _, each, _ in found])
    chosen = np.argsort(-values, kind="stable")[:count]
    vectors, start = np.zeros((size, count)), 0
    for at, each, own in found:
        inside = (chosen >= start) & (chosen < start + len(each))
        vectors[np.ix_(at, inside)] = own[:, chosen[inside] - start]
        start += len(each)
    return values[chosen], vectors


def _steps(products: int) -> int:
    """The estimated number of products of Lanczos, which grows when it is nearly reached."""
    return max(PRODUCTS, products * 5 // 4 + 1)


def _lanczos(
    F: Fisher,
    places: Array,
    trace: float,
    k: int,
    seed: int,
    progress: Progress,
) -> tuple[Array, Array, int]:
    """Return eigenvalues, descending, vectors at `places` of θ, and how many products they took."""
    products = 0
    if trace == 0:
        return np.zeros(k), np.eye(len(places), k), 0

    def product(v: Array) -> Array:
        nonlocal products
        products += 1
        if not progress.tell(products, _steps(products)):
            raise Stop
        theta = np.zeros(F.layout.size)
        theta[places] = v.reshape(-1)
        # Scaled to trace 1, because the squares of a tiny F underflow.
        scaled: Array = F.matvec(theta)[places] / trace
        return scaled

    counted = LinearOperator((len(places), len(places)), matvec=product, dtype=F.dtype)
    start = np.random.default_rng(seed).standard_normal(len(places))
    try:
        values, vectors = eigsh(counted, k, which="LA", v0=start)
    except ArpackNoConvergence as error:
        raise Refusal(
            "Lanczos must converge to {k} eigenvalues; after {products} products with F "
            "{converged} had converged. Ask for fewer, or use form='dense'.",
            k=k,
            products=products,
            converged=len(error.eigenvalues),
        ) from error
    order = np.argsort(-values)
    return trace * values[order], vectors[:, order], products
