"""The Fisher information of a normalized GLM (Eq. 8, 9 and 13), one linear operator.

    KL[P_θ ‖ P_{θ+δ}] ≈ ½ δᵀFδ,    F = E_x[ Jᵀ (A''/φ) J ],    J = ∂s/∂θ

It is the expected Fisher (over y, from the model), per case (E_x is the mean over the N cases).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import add
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, cg

from normgeo.base.arguments import instance_of, real_number, whole_number, word_of
from normgeo.base.arrays import Array, real_array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.rows import Rows
from normgeo.fisher.storage import STORAGES
from normgeo.fisher.structure import FisherStructure
from normgeo.fisher.which import COUPLINGS, WhichFisher
from normgeo.models.families import Family
from normgeo.models.glm import NormalizedGLM
from normgeo.models.rows import Linearized

MAX_BYTES = 2 * 2**30
"""The default limit on the bytes of a matrix."""

SATURATED = 1e-4
"""A variance A'' below which an output is called certain."""


@final
class Fisher(LinearOperator):
    """The expected Fisher information of a normalized GLM, per case (Eq. 8, 9 and 13).

        F = E_x[ Jᵀ (A''/φ) J ],    KL[P_θ ‖ P_{θ+δ}] ≈ ½ δᵀFδ nats per case

    A symmetric, positive semi-definite operator on θ (P,), in the order of `layout`: `F @ v`,
    `F.matvec(v)`, `F.matmat(V)`, and all that scipy does with linear operators.

    Attributes:
        which: a description, with its coupling and its scale.
        coupling: "exact", all of J; or "paper", each neuron's outputs by its own parameters
            only, as in Eq. 13 with Eq. 14: the same without a layer statistic.
        form: "operator" (nothing stored), "dense", or "blocks" (parts between neurons left out).
        structure: the linearization and the family behind it.
        phi: φ, the dispersion. N: the number of cases. layout: the places of W, b and g in θ.
        max_bytes: the limit on a matrix made of it, 2 GiB by default.

    Raises:
        ValueError: an unknown form, or a stored one that would take more than `max_bytes`.

    Source: sections 5.2.1 and 5.2.2.

    """

    def __init__(
        self,
        linearization: Linearized,
        family: Family,
        phi: float,
        form: str = "operator",
        max_bytes: float = MAX_BYTES,
    ) -> None:
        word_of("form", form, STORAGES)
        self.coupling = linearization.coupling
        self.form = form
        self.phi = phi
        self.N = linearization.cases
        self.which = WhichFisher(self.coupling, self.N, phi)
        self.layout = linearization.layout
        self.max_bytes = real_number("max_bytes", max_bytes, least=0)
        self.structure = FisherStructure(linearization, family, phi)
        with np.errstate(over="ignore", invalid="ignore"):  # computed on request
            self._storage = STORAGES[form].of(self.structure, max_bytes)
        P = self.layout.size
        super().__init__(np.dtype(np.float64), (P, P))  # type: ignore[call-arg]  # not in its stubs

    def __repr__(self) -> str:
        return f"<{self.which}; {self.form} form, P={self.layout.size}>"

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes for readers, in sentences: on saturated outputs."""
        family = self.structure.family
        if self.form == "operator":
            variance = self.structure.at.gathered(
                lambda parts: sum(
                    share * float(family.covariance_diagonal(at.s).mean()) for share, at in parts
                ),
                add,
            )
        else:  # without a pass: F among the biases is E[A'']/φ
            variance = self.phi * float(self.diagonal()[self.layout.biases].mean())
        return saturation(family, variance)

    def matvec(self, x: Any) -> Any:
        """Return Fx, of the shape of x: (P,), or (P, 1).

        Raises:
            ValueError: an x of another shape, or with values that are not finite numbers.

        """
        vector = self._vectors("x", x)
        if vector.ndim == 2 and vector.shape[1] > 1:
            raise Refusal(
                "`matvec` takes one vector, ({size},) or ({size}, 1); got `x` of shape "
                "{shape}. Use `matmat` for several.",
                size=self.layout.size,
                shape=vector.shape,
            )
        return super().matvec(vector)

    def matmat(self, X: Any) -> Any:
        """Return FX (P, k), for k vectors as the columns of X (P, k); raises as `matvec` does."""
        return super().matmat(self._vectors("X", X, 2))

    def dot(self, x: Any) -> Any:
        """Return `F @ x`: the product with a vector or with columns; with an operator, another one.

        Raises:
            ValueError: as `matvec` does.

        """
        other = isinstance(x, LinearOperator) or np.isscalar(x)
        operand: Any = x if other else self._vectors("x", x)
        return super().dot(operand)

    def rmatvec(self, x: Any) -> Any:
        """Return Fᵀx, which is Fx."""
        return self.matvec(x)

    def rmatmat(self, X: Any) -> Any:
        """Return FᵀX, which is FX."""
        return self.matmat(X)

    def quad(self, v: ArrayLike) -> float:
        """Return vᵀFv, for v (P,): twice the KL of a small step v, in nats per case."""
        return float(self.restrict(real_array("v", v, 1)[:, None])[0, 0])

    def restrict(self, V: ArrayLike) -> Array:
        """Return VᵀFV (k, k), the Fisher on the span of the columns of V (P, k)."""
        columns = self._columns(V)
        R = _finite(lambda: self._storage.restrict(columns))
        symmetric: Array = R / 2 + R.T / 2
        return symmetric

    def factor_times(self, V: ArrayLike) -> Array:
        """Return B V (N·H, k), where F = BᵀB, for V (P, k).

            B = (A''/(φN))^½ J

        Its singular values are the roots of F's eigenvalues, without the digits lost by squaring.

        Raises:
            ValueError: the form "blocks", which is not a product of this B, or over `max_bytes`.

        """
        if self.form == "blocks":
            raise Refusal(
                "A factor B with F = BᵀB is known of the whole Fisher information; got "
                "form='blocks', which leaves parts of it out. Use 'operator' or 'dense'."
            )
        columns = self._columns(V)
        return _finite(lambda: self.structure.factor_times(columns, self.max_bytes))

    def diagonal(self) -> Array:
        """Return the diagonal of F, (P,)."""
        return _finite(self._storage.diagonal)

    def trace(self) -> float:
        """Return the trace of F."""
        return float(_finite(lambda: np.asarray(self.diagonal().sum())))

    def block(self, i: int, j: int) -> Array:
        """Return the block of neurons i and j, (P/H, P/H), in the order [w, b, g].

        Raises:
            ValueError: there is no such neuron.

        """
        last, what = self.layout.neurons - 1, text("the neurons")
        i, j = (whole_number(*index, 0, last, what) for index in (("i", i), ("j", j)))
        return _finite(lambda: self._storage.block(i, j))

    def to_dense(self, max_bytes: float | None = None) -> Array:
        """Return F (P, P), exactly symmetric; read-only if it is stored so.

        Raises:
            ValueError: it would take more than `max_bytes`, None for the Fisher's own.

        """
        most = self.max_bytes
        if max_bytes is not None:
            most = real_number("max_bytes", max_bytes, least=0)
        return _finite(lambda: self._storage.to_dense(most))

    def stored(self) -> Fisher:
        """Return it in a stored form: by blocks if there are no others, or dense.

        Raises:
            ValueError: it would take more than `max_bytes`.

        """
        if self.form != "operator":
            return self
        structure = self.structure
        apart = len(structure.clusters) == self.layout.neurons
        form = "blocks" if apart else "dense"
        return Fisher(structure.at, structure.family, self.phi, form, self.max_bytes)

    def weights(self, max_bytes: float | None = None) -> Array:
        """Return F_WW (H·D, H·D), the part among the weights; raises as `to_dense` does."""
        places = self.layout.weights
        among: Array = self.to_dense(max_bytes)[np.ix_(places, places)]
        return among

    def solve(
        self,
        b: ArrayLike,
        damping: float = 0.0,
        *,
        rtol: float = 1e-8,
        max_iterations: int | None = None,
    ) -> Array:
        """Return x (P,) with (F + damping I) x = b, by conjugate gradients.

        Args:
            b: (P,). damping: 0 or more; F itself is singular if the model has symmetries.
            rtol: of the residual relative to ‖b‖. max_iterations: None for 10 P.

        Raises:
            ValueError: a negative damping, or a b of another shape.
                Or the residual stayed above rtol ‖b‖.

        """
        damping = real_number("damping", damping, least=0)
        rtol = real_number("rtol", rtol, above=0, below=1)
        if max_iterations is not None:
            max_iterations = whole_number("max_iterations", max_iterations, 1)
        target = self._columns(real_array("b", b, 1)[:, None])[:, 0]
        if not target.any():
            return np.zeros(self.layout.size)
        damped = LinearOperator(
            self.shape,
            matvec=lambda v: self._storage.times(v.reshape(-1, 1))[:, 0] + damping * v,
            dtype=self.dtype,
        )
        with np.errstate(all="ignore"):
            x, failed = cg(damped, target, rtol=rtol, maxiter=max_iterations)
            left = float(np.linalg.norm(damped.matvec(x) - target) / np.linalg.norm(target))
        if failed or not np.isfinite(left):
            raise Refusal(
                "Conjugate gradients must bring the residual below {rtol:g} of ‖b‖; after "
                "{failed} iterations it is {left:.2g}. Use more damping (it is "
                "{damping:g}), a larger rtol or more iterations.",
                rtol=rtol,
                failed=failed,
                left=left,
                damping=damping,
            )
        return np.asarray(x)

    def _columns(self, V: ArrayLike) -> Array:
        return self._vectors("V", real_array("V", V, 2))

    def _vectors(self, name: str, V: ArrayLike, *axes: int) -> Array:
        """A vector (P,), or any number of vectors as columns (P, k)."""
        none = getattr(V, "shape", None) == (self.layout.size, 0)
        vectors = (
            np.zeros((self.layout.size, 0)) if none else real_array(name, V, *(axes or (1, 2)))
        )
        if len(vectors) != self.layout.size:
            raise Refusal(
                "Vectors of parameters must be ({size},), or columns ({size}, k), in the order "
                "of `layout`; got `{name}` of shape {shape}. Transpose it where they are its "
                "rows.",
                size=self.layout.size,
                name=name,
                shape=vectors.shape,
            )
        return vectors

    def _matvec(self, x: Array) -> Array:
        return self._matmat(x.reshape(-1, 1))[:, 0]

    def _matmat(self, X: Array) -> Array:
        return _finite(lambda: self._storage.times(X))

    def _adjoint(self) -> Fisher:
        return self

    def _transpose(self) -> Fisher:
        return self


def fisher(
    model: NormalizedGLM,
    X: ArrayLike | Rows,
    form: str = "operator",
    coupling: str = "exact",
    *,
    max_bytes: float = MAX_BYTES,
) -> Fisher:
    """Return the expected Fisher information of a model over the cases X (N, D), per case.

    Args:
        model: the point θ. X: the cases of P(x); `Rows` are read once for each product or block.
        form: "operator", "dense" or "blocks". coupling: "exact" or "paper"; see `Fisher`.
        max_bytes: the limit on a matrix made of it, also for a null space or a whole spectrum.

    Raises:
        ValueError: an unknown word, inputs that the model refuses, or more than `max_bytes` to
            store.

    The standard Gaussian model has F = E[ [[xxᵀ, x], [xᵀ, 1]] ] / φ (Eq. 12):

    >>> from normgeo import NORMALIZERS, NormalizedGLM
    >>> model = NormalizedGLM(NORMALIZERS["standard"], "gaussian", [[1.0]], phi=0.5)
    >>> fisher(model, [[1.0], [3.0]]).to_dense()
    array([[10.,  4.],
           [ 4.,  2.]])

    """
    instance_of("model", model, NormalizedGLM)
    word_of("coupling", coupling, COUPLINGS)
    at = model.linearize(X)
    chosen = at if coupling == "exact" else at.own_neuron()
    return Fisher(chosen, model.family, model.phi, form, max_bytes)


def saturation(family: Family, variance: float) -> tuple[str, ...]:
    """Return a sentence on saturated outputs, if their mean variance A'' is very small."""
    if variance >= SATURATED:
        return ()
    return (
        text(
            "The {family} outputs are saturated: their mean variance A'' is {variance:.2g}, so "
            "F is nearly zero, and what it does not see is not always a symmetry.",
            family=family.title,
            variance=variance,
        ),
    )


def _finite(answer: Callable[[], Array]) -> Array:
    """Return an answer without an overflow.

    Raises:
        Refusal: its numbers overflow.

    """
    with np.errstate(over="ignore", invalid="ignore"):
        values = answer()
    if not np.isfinite(values).all():
        raise Refusal(
            "An entry of the Fisher information, or its product with these vectors, exceeds "
            "the largest float. Use smaller inputs, gains or vectors."
        )
    return values
