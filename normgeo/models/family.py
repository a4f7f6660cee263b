"""What an exponential family is: the few functions that it states, and all that follows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normgeo.base.arrays import real_array

Floats = NDArray[np.float64]
LARGEST = 1e150  # squares of it, and of differences of two, are finite floats


class Family(ABC):
    """A distribution of y with natural parameter s and dispersion φ.

    log P(y|s) = (s·y − A(s))/φ + c(y, φ),   E[y] = A'(s) = f(s),   Cov[y] = φ A''(s)

    s and y are (N, H): N cases, H outputs. A family states A, f, A'', its log density, a sampler
    and its support; the rest follows here. Every method raises ValueError for an s that is not a
    finite (N, H) matrix or is out of the range of floating point. Source: Eq. 8 and 9.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    support: ClassVar[str]
    coupled: ClassVar[bool] = False
    has_dispersion: ClassVar[bool] = False

    # What a family states, for s that has been checked.

    @abstractmethod
    def _log_partition(self, s: Floats) -> Floats: ...

    @abstractmethod
    def _mean(self, s: Floats) -> Floats: ...

    @abstractmethod
    def _variance(self, s: Floats) -> Floats: ...

    @abstractmethod
    def _log_density(self, y: Floats, s: Floats, phi: float) -> Floats: ...

    @abstractmethod
    def _sample(self, s: Floats, rng: np.random.Generator, phi: float) -> Floats: ...

    @abstractmethod
    def _supports(self, y: Floats) -> NDArray[np.bool_]: ...

    def _log_base(self, y: Floats) -> Floats | float:
        """A term of log P in y alone that its family leaves out of `_log_density`: it is costly."""
        return 0.0

    def _log_density_and_mean(self, y: Floats, s: Floats, phi: float) -> tuple[Floats, Floats]:
        """`_log_density` and f(s); families restate it to share exponentials."""
        return self._log_density(y, s, phi), self._mean(s)

    def _remainder(self, s: Floats, d: Floats) -> Floats:
        """A(s + d) − A(s) − f(s)·d; families restate it so that no digits cancel."""
        return self._log_partition(s + d) - self._log_partition(s) - self._mean(s) * d

    def _check_natural(self, s: Floats) -> None:
        largest = np.abs(s).max()
        if largest > LARGEST:
            raise ValueError(
                f"Natural parameters must not exceed {LARGEST:g} in size; got {largest:.4g}. "
                "Use smaller weights, gains or inputs."
            )

    # What follows from it.

    def log_partition(self, s: ArrayLike) -> Floats:
        """A(s): one value per output (N, H), or one per case (N,) where outputs are coupled."""
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
        """The map V ↦ A''(s) V of (N, H), or of a stack (…, N, H), with s looked at only once."""
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
            return self._finite("KL divergence", _per_case(remainder) / self._dispersion(phi))

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
            density = self._log_density(targets, natural, self._dispersion(phi))
            return self._finite("log-likelihood", _per_case(density + self._log_base(targets)))

    def likelihood(self, y: ArrayLike, H: int, phi: float = 1.0) -> Likelihood:
        """Return log P(y|s) of fixed y as a function of s (N, H): y is looked at once."""
        targets = np.asfortranarray(self.encode(y, H))
        base = np.broadcast_to(self._log_base(targets), targets.shape)
        return Likelihood(self, targets, _per_case(base), self._dispersion(phi))

    def sample(self, s: ArrayLike, rng: np.random.Generator, phi: float = 1.0) -> Floats:
        """Draw y (N, H) from P(y|s); rows are one-hot for the categorical."""
        return self._sample(self._natural(s), rng, self._dispersion(phi))

    def encode(self, y: ArrayLike, H: int) -> Floats:
        """Return y as targets (N, H); a vector (N,) stands for one column.

        Raises ValueError for another number of columns, or values outside the support.
        """
        values = real_array("y", y, max(np.ndim(y), 1)).astype(np.float64)
        targets = values[:, None] if values.ndim == 1 else values
        if targets.ndim != 2 or targets.shape[1] != H:
            raise ValueError(
                f"`y` must have one column for each of the {H} outputs; "
                f"got an array of shape {values.shape}."
            )
        inside = self._supports(targets)
        if not inside.all():
            raise ValueError(
                f"Targets of the {self.title} family must be {self.support}; "
                f"got {targets[~inside][0]:g}. Choose another family or recode y."
            )
        return targets

    def _natural(self, s: ArrayLike, name: str = "s") -> Floats:
        natural = real_array(name, s, 2).astype(np.float64, copy=False)
        self._check_natural(natural)
        return natural

    def _dispersion(self, phi: float) -> float:
        if not (math.isfinite(phi) and phi > 0):
            raise ValueError(f"`phi` must be a positive number; got phi={phi}.")
        if phi != 1 and not self.has_dispersion:
            raise ValueError(
                f"The {self.title} family has no dispersion to choose; got phi={phi}. "
                "Leave `phi` at 1, or use the Gaussian family, where it is the noise variance."
            )
        return phi

    def _finite(self, what: str, values: Floats) -> Floats:
        if not np.isfinite(values).all():
            raise ValueError(
                f"The {what} of the {self.title} family must be a finite float; it exceeds 1.8e308 "
                "here. Use smaller weights, gains or inputs, or a larger `phi`."
            )
        return values


class LikelihoodPoint(NamedTuple):
    """What a likelihood is at one s: the mean of log P over the cases, in nats, and y − f(s)."""

    log_likelihood: float
    residual: Floats


@final
@dataclass(frozen=True, eq=False)
class Likelihood:
    """The likelihood of fixed y, to be evaluated at many s.

    Attributes:
        family: of y. phi: φ.
        targets: y as the family encodes it, (N, H), each output's cases side by side in memory,
            as a linearization gives s.
        log_base: the part of log P that is of y alone, (N,).

    """

    family: Family
    targets: Floats
    log_base: Floats
    phi: float

    def rows(self, cases: NDArray[np.intp]) -> Likelihood:
        """Return the same of some of the cases, by their indices."""
        return replace(
            self, targets=np.asfortranarray(self.targets[cases]), log_base=self.log_base[cases]
        )

    def at(self, s: ArrayLike) -> LikelihoodPoint:
        """Evaluate at s (N, H); raises ValueError where `log_likelihood` of the family does."""
        natural = self.family._natural(s)
        _same_shape("y", self.targets, natural.shape)
        with np.errstate(over="ignore"):
            density, mean = self.family._log_density_and_mean(self.targets, natural, self.phi)
            total = np.asarray(density.sum() + self.log_base.sum())
        self.family._finite("log-likelihood", total)
        return LikelihoodPoint(float(total) / len(natural), self.targets - mean)


def _per_case(values: Floats) -> Floats:
    return np.asarray(values.reshape(len(values), -1).sum(axis=1))


def _same_shape(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ValueError(
            f"`{name}` must have one value for each case and output, shape {shape}; "
            f"got shape {array.shape}."
        )
