"""Exponential families: the few functions that each states, and all that follows from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import roots_jacobi

from normgeo.base.arguments import real_number
from normgeo.base.arrays import real_array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text

Floats = NDArray[np.float64]
LARGEST = 1e150  # its square, and that of a difference of two, are finite floats

NEAR = 4.0
"""Largest change of s for which a remainder is integrated: A'' of log(1 + eˢ) has poles at ±πi."""

_x, _w = roots_jacobi(16, 1, 0)
NODES = tuple(zip((_x + 1) / 2, _w / 4, strict=True))
"""t and its weight in ∫₀¹ (1 − t) … dt, exact for polynomials of degree 31."""


@dataclass(frozen=True)
class Family(ABC):
    """A distribution of y with natural parameter s and dispersion φ.

    log P(y|s) = (s·y − A(s))/φ + c(y, φ),   E[y] = A'(s) = f(s),   Cov[y] = φ A''(s)

    s and y are (N, H): N cases, H outputs. A family states A, f, A'', c, a sampler and its
    support; the rest follows here. Every method raises ValueError for an s that is not a finite
    (N, H) matrix or is out of the range of floating point. Source: section 5.2.2, Eq. 10 and 11.

    Attributes:
        key, title: its names. support: the values of y, to follow "must be".
        formula: A(s) in LaTeX.
        coupled: whether A is a function of all outputs of a case, which then name one of H classes.
        has_dispersion: whether φ may differ from 1.
        has_classes: whether y names a class, so that the most likely one is right or wrong.
        mean_in_numpy, partition_in_numpy, loss_in_numpy: f(s), and of each case A(s) and
            −log P(y|s) at φ = 1, as expressions of NumPy in s and Y (N, H); "" for none.

    """

    key: ClassVar[str]
    title: ClassVar[str]
    support: ClassVar[str]
    formula: ClassVar[str]
    coupled: ClassVar[bool] = False
    has_dispersion: ClassVar[bool] = False
    has_classes: ClassVar[bool] = False
    mean_in_numpy: ClassVar[str] = ""
    partition_in_numpy: ClassVar[str] = ""
    loss_in_numpy: ClassVar[str] = ""

    # A family defines these, for an s that has been checked.

    @abstractmethod
    def _log_partition(self, s: Floats) -> Floats: ...

    @abstractmethod
    def _mean(self, s: Floats) -> Floats: ...

    @abstractmethod
    def _variance(self, s: Floats) -> Floats: ...

    @abstractmethod
    def _sample(self, s: Floats, rng: np.random.Generator, phi: float) -> Floats: ...

    @abstractmethod
    def _supports(self, y: Floats) -> NDArray[np.bool_]: ...

    # It may override these: c if it is not 0, and methods that can be faster or more accurate.

    def _log_base(self, y: Floats, phi: float) -> Floats | float:
        """c(y, φ)."""
        return 0.0

    def _exponent_and_mean(self, y: Floats, s: Floats, phi: float) -> tuple[Floats, Floats]:
        """(s·y − A(s))/φ, which is log P without `_log_base`, and f(s)."""
        product = (s * y).sum(axis=-1) if self.coupled else s * y
        return (product - self._log_partition(s)) / phi, self._mean(s)

    def _remainder(self, s: Floats, d: Floats) -> Floats:
        """A(s + d) − A(s) − f(s)·d = ∫₀¹ (1 − t) d·A''(s + td) d dt.

        Near s the difference cancels and the integral keeps its digits; farther away than NEAR the
        difference is accurate.
        """
        near = np.clip(d, -NEAR, NEAR)
        remainder = sum(weight * self._curvature(s + t * near, near) for t, weight in NODES)
        far = np.abs(d) > NEAR
        product = self._mean(s) * d
        if self.coupled:
            far, product = np.asarray(far.any(axis=-1)), product.sum(axis=-1)
        difference = self._log_partition(s + d) - self._log_partition(s) - product
        return np.where(far, np.maximum(difference, 0), remainder)

    def _curvature(self, s: Floats, d: Floats) -> Floats:
        """d·A''(s) d, of the shape of A."""
        products = d * self.covariance_operator(s)(d)
        return np.asarray(products.sum(axis=-1)) if self.coupled else products

    def _covariance_products(self, s: Floats, U: Floats) -> Floats:
        if self.coupled:
            covariance = self.covariance_operator(s)
            columns = [(U * covariance(U * unit)).sum(axis=0) for unit in np.eye(U.shape[1])]
            return np.stack(columns, axis=1)
        return np.diag((U * U * self._variance(s)).sum(axis=0))

    def _check_natural(self, s: Floats) -> None:
        largest = np.abs(s).max()
        if largest > LARGEST:
            raise Refusal(
                "Natural parameters must not exceed {limit:g} in size; got {largest:.4g}. "
                "Use smaller weights, gains or inputs.",
                limit=LARGEST,
                largest=largest,
            )

    # These follow from the family's own functions.

    def log_partition(self, s: ArrayLike) -> Floats:
        """A(s): one value per output (N, H), or one per case (N,) if outputs are coupled."""
        return self._log_partition(self._natural(s))

    def mean(self, s: ArrayLike) -> Floats:
        """E[y] = f(s) = A'(s), (N, H)."""
        return self._mean(self._natural(s))

    def covariance_diagonal(self, s: ArrayLike) -> Floats:
        """The diagonal of A''(s), (N, H): the variances of the outputs over φ."""
        return self._variance(self._natural(s))

    def covariance(self, s: ArrayLike) -> Floats:
        """A''(s) = Cov[y]/φ, one matrix per case: (N, H, H)."""
        return self._variance(self._natural(s))[:, :, None] * np.eye(np.shape(s)[1])

    def covariance_operator(self, s: ArrayLike) -> Callable[[Floats], Floats]:
        """The map V ↦ A''(s) V of (N, H), or of a stack (…, N, H), with the work on s done once."""
        variance = self._variance(self._natural(s))
        return lambda V: variance * V

    def covariance_root_operator(self, s: ArrayLike) -> Callable[[Floats], Floats]:
        """The map V ↦ R V of (N, H), or of a stack (…, N, H), where RᵀR = A''(s)."""
        root = np.sqrt(self._variance(self._natural(s)))
        return lambda V: root * V

    def covariance_times(self, s: ArrayLike, V: ArrayLike) -> Floats:
        """A''(s) V, case by case, without forming (N, H, H).

        V is (N, H). Raises ValueError where V has another shape than s.
        """
        directions = np.asarray(V, dtype=np.float64)
        _same_shape("V", directions, np.shape(s))
        return self.covariance_operator(s)(directions)

    def covariance_products(self, s: ArrayLike, U: ArrayLike) -> Floats:
        """The sum over the cases of u_ni A''(s_n)_ij u_nj, (H, H), for U (N, H)."""
        natural, values = self._natural(s), np.asarray(U, dtype=np.float64)
        _same_shape("U", values, natural.shape)
        return self._covariance_products(natural, values)

    def kl(self, s: ArrayLike, s_other: ArrayLike, phi: float = 1.0) -> Floats:
        """The Kullback–Leibler divergence from the distribution at s to the one at s_other.

        KL = [A(s') − A(s) − f(s)·(s' − s)]/φ

        Returns (N,), nats per case. Its relative error stays near that of s' − s, however small or
        large. Raises ValueError for different shapes or a result beyond floating point.

        >>> from normgeo.models.families import Gaussian
        >>> float(Gaussian().kl([[1.0, 2.0]], [[1.0, 5.0]])[0])
        4.5
        """
        natural, other = self._natural(s), self._natural(s_other, "s_other")
        _same_shape("s_other", other, natural.shape)
        with np.errstate(over="ignore"):
            remainder = self._remainder(natural, other - natural)
            divergence = _per_case(remainder) / self.dispersion(phi)
            return self._finite(text("KL divergence"), divergence)

    def log_likelihood(self, y: ArrayLike, s: ArrayLike, phi: float = 1.0) -> Floats:
        """Return log P(y|s) = (s·y − A(s))/φ + c(y, φ), (N,), nats per case.

        y is what `encode` takes. Raises ValueError for y outside the support.

        >>> from normgeo.models.families import Bernoulli
        >>> float(np.exp(Bernoulli().log_likelihood([[1]], [[0.0]]))[0])
        0.5
        """
        natural = self._natural(s)
        targets = self.encode(y, natural.shape[1])
        _same_shape("y", targets, natural.shape)
        with np.errstate(over="ignore"):
            exponent, _ = self._exponent_and_mean(targets, natural, self.dispersion(phi))
            density = exponent + self._log_base(targets, phi)
            return self._finite(text("log-likelihood"), _per_case(density))

    def likelihood(self, y: ArrayLike, H: int, phi: float = 1.0) -> Likelihood:
        """Return log P(y|s) of fixed y as a function of s (N, H), with the work on y done once."""
        targets = np.asfortranarray(self.encode(y, H))
        base = np.broadcast_to(self._log_base(targets, self.dispersion(phi)), targets.shape)
        return Likelihood(self, targets, _per_case(base), phi)

    def sample(self, s: ArrayLike, rng: np.random.Generator, phi: float = 1.0) -> Floats:
        """Draw y (N, H) from P(y|s); rows are one-hot for the categorical."""
        return _floats(self._sample(self._natural(s), rng, self.dispersion(phi)))

    def right(self, y: ArrayLike, s: ArrayLike) -> NDArray[np.bool_]:
        """Whether the most likely class is the observed one, (N,), over all outputs of a case.

        y is what `encode` takes. Raises ValueError for a family without classes.

        >>> from normgeo.models.families import Bernoulli
        >>> Bernoulli().right([[1], [1]], [[0.3], [-0.3]])
        array([ True, False])
        """
        if not self.has_classes:
            raise Refusal("The values of the {family} family are no classes.", family=self.title)
        natural = self._natural(s)
        targets = self.encode(y, natural.shape[1])
        _same_shape("y", targets, natural.shape)
        if self.coupled:
            return np.asarray(natural.argmax(axis=1) == targets.argmax(axis=1))
        return np.asarray(((natural > 0) == (targets > 0)).all(axis=1))

    def encode(self, y: ArrayLike, H: int) -> Floats:
        """Return y as targets (N, H); a vector (N,) means one column.

        Raises ValueError for another number of columns, or values outside the support.
        """
        values = real_array("y", y, 1, 2).astype(np.float64)
        targets = values[:, None] if values.ndim == 1 else values
        if targets.shape[1] != H:
            raise Refusal(
                "`y` must have one column for each of the {H} outputs; "
                "got an array of shape {shape}.",
                H=H,
                shape=values.shape,
            )
        inside = self._supports(targets)
        if not inside.all():
            raise Refusal(
                "Targets of the {family} family must be {support}; got {value:g}. "
                "Choose another family or recode y.",
                family=self.title,
                support=self.support,
                value=targets[~inside][0],
            )
        return targets

    def _natural(self, s: ArrayLike, name: str = "s") -> Floats:
        natural = real_array(name, s, 2).astype(np.float64, copy=False)
        self._check_natural(natural)
        return natural

    def dispersion(self, phi: float) -> float:
        """Return φ as a float.

        Raises:
            ValueError: it is not a finite number above 0, or is not 1 and the family has none.

        """
        phi = real_number("phi", phi, above=0)
        if phi != 1 and not self.has_dispersion:
            raise Refusal(
                "The {family} family has no dispersion to choose; got phi={phi}. "
                "Leave `phi` at 1, or use the Gaussian family, where it is the noise variance.",
                family=self.title,
                phi=phi,
            )
        return phi

    def _finite(self, what: str, values: Floats) -> Floats:
        if not np.isfinite(values).all():
            raise Refusal(
                "The {what} of the {family} family must be a finite float; it exceeds 1.8e308 "
                "here. Use smaller weights, gains or inputs, or a larger `phi`.",
                what=what,
                family=self.title,
            )
        return values


class LikelihoodPoint(NamedTuple):
    """A likelihood at one s: the mean of log P over the cases, in nats, and y − f(s)."""

    log_likelihood: float
    residual: Floats


@final
@dataclass(frozen=True, eq=False)
class Likelihood:
    """The likelihood of fixed y, to be evaluated at many s.

    Attributes:
        family: of y. phi: φ.
        targets: y as the family encodes it, (N, H), with each output's cases contiguous in memory,
            like s of a linearization.
        log_base: the part of log P that depends on y alone, (N,).

    """

    family: Family
    targets: Floats
    log_base: Floats
    phi: float

    def rows(self, cases: NDArray[np.intp]) -> Likelihood:
        """Return the likelihood of some of the cases, by their indices."""
        return replace(
            self, targets=np.asfortranarray(self.targets[cases]), log_base=self.log_base[cases]
        )

    def at(self, s: ArrayLike) -> LikelihoodPoint:
        """Evaluate at s (N, H); raises ValueError where `log_likelihood` of the family does."""
        natural = self.family._natural(s)
        _same_shape("y", self.targets, natural.shape)
        with np.errstate(over="ignore"):
            exponent, mean = self.family._exponent_and_mean(self.targets, natural, self.phi)
            total = np.asarray(exponent.sum() + self.log_base.sum())
        self.family._finite(text("log-likelihood"), total)
        return LikelihoodPoint(float(total) / len(natural), self.targets - mean)


def _floats(values: Any) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _per_case(values: Floats) -> Floats:
    return np.asarray(values.reshape(len(values), -1).sum(axis=1))


def _same_shape(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise Refusal(
            "`{name}` must have one value for each case and output, shape {shape}; "
            "got shape {other}.",
            name=name,
            shape=shape,
            other=array.shape,
        )
