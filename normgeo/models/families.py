"""The distributions of the output: Gaussian, Bernoulli, Poisson and categorical."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, gammaln

from normgeo.base.arguments import entry_of
from normgeo.base.arrays import real_array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.models.exponential import exp_remainder, log_exp_remainder
from normgeo.models.family import Family, Floats

__all__ = ["FAMILIES", "Bernoulli", "Categorical", "Family", "Gaussian", "Poisson", "family_of"]

MILD = 600.0  # a change of s whose exponential does not overflow
TINY = np.finfo(np.float64).tiny


@final
class Gaussian(Family):
    """Real outputs with noise variance φ: A = s²/2, f = s, A'' = 1."""

    key = "gaussian"
    title = text("Gaussian")
    support = text("real numbers")
    formula = "s^2/2"
    mean_in_numpy = "s"
    partition_in_numpy = "(s**2).sum(axis=1) / 2"
    loss_in_numpy = "((Y - s) ** 2 + np.log(2 * np.pi)).sum(axis=1) / 2"
    has_dispersion = True

    def _log_partition(self, s: Floats) -> Floats:
        return s**2 / 2

    def _mean(self, s: Floats) -> Floats:
        return s.copy(order="K")

    def _variance(self, s: Floats) -> Floats:
        return np.ones_like(s)

    def _remainder(self, s: Floats, d: Floats) -> Floats:
        return d**2 / 2

    def _log_base(self, y: Floats, phi: float) -> float:
        return -math.log(2 * math.pi * phi) / 2

    def _exponent_and_mean(self, y: Floats, s: Floats, phi: float) -> tuple[Floats, Floats]:
        return -((y - s) ** 2) / (2 * phi), s.copy(order="K")

    def _sample(self, s: Floats, rng: np.random.Generator, phi: float) -> Floats:
        return rng.normal(s, math.sqrt(phi))

    def _supports(self, y: Floats) -> NDArray[np.bool_]:
        return np.isfinite(y)


@final
class Bernoulli(Family):
    """Outputs 0 or 1 with log odds s: A = log(1 + eˢ), f = p = 1/(1 + e⁻ˢ), A'' = p(1 − p)."""

    key = "bernoulli"
    title = text("Bernoulli")
    support = text("0 or 1")
    formula = r"\log(1 + \mathrm{e}^s)"
    mean_in_numpy = "1 / (1 + np.exp(-s))"
    partition_in_numpy = "np.logaddexp(0, s).sum(axis=1)"
    loss_in_numpy = "(np.logaddexp(0, s) - Y * s).sum(axis=1)"
    has_classes = True

    def _log_partition(self, s: Floats) -> Floats:
        return np.logaddexp(0, s)

    def _mean(self, s: Floats) -> Floats:
        return _float(expit(s))

    def _variance(self, s: Floats) -> Floats:
        return _float(expit(s) * expit(-s))

    def _remainder(self, s: Floats, d: Floats) -> Floats:
        # The log of E[exp(d(y − p))], with 1 = E[1 + d(y − p)] taken out of the expectation.
        p, q = expit(s), expit(-s)
        # Four times as fast as the logarithms of both parts, if neither vanishes.
        if np.abs(d).max(initial=0) < MILD and min(p.min(initial=1), q.min(initial=1)) > TINY:
            return np.log1p(p * exp_remainder(d * q) + q * exp_remainder(-d * p))
        one = -np.logaddexp(0, -s) + log_exp_remainder(d * q)
        zero = -np.logaddexp(0, s) + log_exp_remainder(-d * p)
        return np.logaddexp(0, np.logaddexp(one, zero))

    def _exponent_and_mean(self, y: Floats, s: Floats, phi: float) -> tuple[Floats, Floats]:
        odds = np.exp(-np.abs(s))  # of the less likely value
        density = np.minimum((2 * y - 1) * s, 0) - np.log1p(odds)
        return _float(density), _float(np.where(s < 0, odds, 1) / (1 + odds))

    def _sample(self, s: Floats, rng: np.random.Generator, phi: float) -> Floats:
        return _float(rng.random(s.shape) < expit(s))

    def _supports(self, y: Floats) -> NDArray[np.bool_]:
        return np.isin(y, (0, 1))


@final
class Poisson(Family):
    """Counts with log mean s: A = f = A'' = eˢ."""

    key = "poisson"
    title = text("Poisson")
    support = text("counts (0, 1, 2, …)")
    formula = r"\mathrm{e}^s"
    mean_in_numpy = "np.exp(s)"
    partition_in_numpy = "np.exp(s).sum(axis=1)"

    def _check_natural(self, s: Floats) -> None:
        super()._check_natural(s)
        limit = math.log(np.finfo(np.float64).max)
        if s.max() > limit:
            raise Refusal(
                "Natural parameters of the Poisson family must not exceed {limit:.2f}, so that "
                "the mean exp(s) is a finite float; got {largest:.4g}. "
                "Use smaller weights, gains or inputs.",
                limit=limit,
                largest=s.max(),
            )

    def _log_partition(self, s: Floats) -> Floats:
        return np.exp(s)

    _mean = _variance = _log_partition

    def _remainder(self, s: Floats, d: Floats) -> Floats:
        return np.exp(s + log_exp_remainder(d))

    def _exponent_and_mean(self, y: Floats, s: Floats, phi: float) -> tuple[Floats, Floats]:
        mean = self._mean(s)
        return s * y - mean, mean

    def _log_base(self, y: Floats, phi: float) -> Floats:
        return _float(-gammaln(y + 1))

    def _sample(self, s: Floats, rng: np.random.Generator, phi: float) -> Floats:
        if s.max() > 43:
            raise Refusal(
                "A Poisson sample must fit in 64-bit integers, so s must not exceed 43; "
                "got {largest:.4g}. Use smaller weights, gains or inputs.",
                largest=s.max(),
            )
        return _float(rng.poisson(np.exp(s)))

    def _supports(self, y: Floats) -> NDArray[np.bool_]:
        return np.equal(y, np.floor(np.abs(y)), dtype=np.bool_)


@final
class Categorical(Family):
    """One of H classes: A = logsumexp(s) per case, f = p = softmax(s), A'' = diag(p) − ppᵀ.

    Adding a constant to s for each case does not change the distribution: A''·1 = 0.
    """

    key = "categorical"
    title = text("categorical")
    support = text("class labels")
    formula = r"\log \textstyle\sum_h \mathrm{e}^{s_h}"
    mean_in_numpy = "np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)"
    partition_in_numpy = "np.log(np.exp(s).sum(axis=1))"
    loss_in_numpy = "np.log(np.exp(s).sum(axis=1)) - (Y * s).sum(axis=1)"
    coupled = True
    has_classes = True

    def _log_partition(self, s: Floats) -> Floats:
        return _float(s.max(axis=-1) + np.log1p(_odds(s)[2])[:, 0])

    def _mean(self, s: Floats) -> Floats:
        _, odds, others = _odds(s)
        return odds / (1 + others)

    def _variance(self, s: Floats) -> Floats:
        top, odds, others = _odds(s)
        rest = 1 + others - odds
        np.put_along_axis(
            rest, top, others, -1
        )  # 1 − p of a nearly certain class, without cancellation
        return odds * rest / (1 + others) ** 2

    def covariance(self, s: ArrayLike) -> Floats:
        natural = self._natural(s)
        p, diagonal = self._mean(natural), np.arange(natural.shape[1])
        covariance = -p[:, :, None] * p[:, None, :]
        covariance[:, diagonal, diagonal] = self._variance(natural)
        return covariance

    def covariance_operator(self, s: ArrayLike) -> Callable[[Floats], Floats]:
        natural = self._natural(s)
        top, p = natural.argmax(axis=-1), self._mean(natural)
        cases = np.arange(len(natural))

        def apply(V: Floats) -> Floats:
            # Measured from the likeliest class V has a small mean, and constants vanish exactly.
            V = V - V[..., cases, top, None]
            return _float(p * (V - np.einsum("nh,...nh->...n", p, V)[..., None]))

        return apply

    def covariance_root_operator(self, s: ArrayLike) -> Callable[[Floats], Floats]:
        """The map V ↦ R V, R = (I − qqᵀ) diag(q) with q = √p, so that RᵀR = diag(p) − ppᵀ."""
        natural = self._natural(s)
        top, p = natural.argmax(axis=-1), self._mean(natural)
        cases, root = np.arange(len(natural)), np.sqrt(p)

        def apply(V: Floats) -> Floats:
            V = V - V[..., cases, top, None]
            return _float(root * (V - np.einsum("nh,...nh->...n", p, V)[..., None]))

        return apply

    def _covariance_products(self, s: Floats, U: Floats) -> Floats:
        weighted = self._mean(s) * U
        products = -(weighted.T @ weighted)
        np.fill_diagonal(products, (U * U * self._variance(s)).sum(axis=0))
        return products

    def _remainder(self, s: Floats, d: Floats) -> Floats:
        top, odds, others = _odds(s)
        d = d - np.take_along_axis(d, top, -1)
        p = odds / (1 + others)
        d = d - (p * d).sum(axis=-1, keepdims=True)
        if np.abs(d).max(initial=0) < MILD and odds.min(initial=1) > TINY:  # as of the Bernoulli
            return _float(np.log1p((p * exp_remainder(d)).sum(axis=-1)))
        log_p = s - s.max(axis=-1, keepdims=True) - np.log1p(others)
        terms = log_p + log_exp_remainder(d)
        return _float(np.logaddexp(0, np.logaddexp.reduce(terms, axis=-1)))

    def _exponent_and_mean(self, y: Floats, s: Floats, phi: float) -> tuple[Floats, Floats]:
        _, odds, others = _odds(s)
        # y is one-hot: its row picks s of the class without rounding.
        log_odds = (y * s).sum(axis=-1) - s.max(axis=-1)
        return _float(log_odds - np.log1p(others)[:, 0]), odds / (1 + others)

    def _sample(self, s: Floats, rng: np.random.Generator, phi: float) -> Floats:
        winners = (s + rng.gumbel(size=s.shape)).argmax(
            axis=-1
        )  # the Gumbel trick: draw a class as an argmax
        return _one_hot(winners, s.shape[1])

    def encode(self, y: ArrayLike, H: int) -> Floats:
        """Return labels (N,) from 0 to H − 1, or one-hot rows (N, H), as one-hot rows (N, H).

        A column (N, 1) holds labels as well, as it does where rows come in blocks; of one class,
        ones are one-hot. Raises ValueError for other labels or rows.
        """
        values = real_array("y", y, 1, 2)
        if values.shape[1:] == (1,) and not (H == 1 and values.all()):
            values = values[:, 0]
        if values.ndim == 2:
            targets = super().encode(values, H)
            if not (targets.sum(axis=1) == 1).all():
                raise Refusal(
                    "Rows of `y` must be one-hot, a single 1 for the class; "
                    "got {row}. Labels (N,) do as well.",
                    row=targets[targets.sum(axis=1) != 1][0].tolist(),
                )
            return targets
        bad = values[(values != np.floor(values)) | (values < 0) | (values >= H)]
        if bad.size:
            raise Refusal(
                "Class labels must be integers from 0 to {last}, one for each of the {H} "
                "outputs; got {label:g}. Renumber the classes or add outputs.",
                last=H - 1,
                H=H,
                label=bad[0],
            )
        return _one_hot(values.astype(np.intp), H)

    def _supports(self, y: Floats) -> NDArray[np.bool_]:
        return np.isin(y, (0, 1))


FAMILIES: dict[str, Family] = {
    family.key: family
    for family in (
        Gaussian(),
        Bernoulli(),
        Poisson(),
        Categorical(),
    )
}


def family_of(family: str | Family) -> Family:
    """Return a family, or the one with this key of FAMILIES.

    Raises:
        ValueError: an unknown key.

    """
    return entry_of("family", family, FAMILIES, Family)


def _odds(s: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """The likeliest class, every class's odds against it, and the sum of the others' odds."""
    top = s.argmax(axis=-1)[..., None]
    odds = np.exp(s - s.max(axis=-1, keepdims=True))
    others = odds.copy(order="K")
    np.put_along_axis(others, top, 0, -1)
    return top, odds, others.sum(axis=-1, keepdims=True)


def _one_hot(labels: NDArray[np.intp], H: int) -> Floats:
    return _float(labels[:, None] == np.arange(H))


def _float(values: Any) -> Floats:
    return np.asarray(values, dtype=np.float64)
