"""Gradients over time under layer norm: the measurements of claims against mean-field theory."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad

from normgeo import NORMALIZERS
from normgeo.claims import CLAIMS, EXAMPLES, Example
from normgeo.models.jacobian_norms import jacobian, jacobian_norms
from normgeo.models.recurrence import Recurrence, run_recurrence

H, T, SETTLED = 128, 25, 5


def mean_field(gain: float) -> float:
    """½ log₁₀(g² E sech⁴(gz) / E tanh²(gz)) decades a step, z ~ N(0, 1), by quadrature.

    A wide layer has normal z; a = W_hh h has the variance of W_hh times E h², h = tanh(gz), and a
    step of a change is diag(g sech²(gz)) W_hh/σ. The mean square of its entries grows by this.
    """

    def mean(of: Callable[[float], float]) -> float:
        integral, _ = quad(lambda z: of(z) * np.exp(-z * z / 2), -8, 8, points=[0], epsabs=1e-12)
        return float(integral / np.sqrt(2 * np.pi))

    slopes = mean(lambda z: gain**2 / np.cosh(gain * z) ** 4)
    return float(np.log10(slopes / mean(lambda z: np.tanh(gain * z) ** 2)) / 2)


@pytest.mark.parametrize("gain", [1.0, 2.0, 4.0])
def test_gradient_over_time_grows_as_mean_field_theory_says(gain: float) -> None:
    rates = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        W = rng.standard_normal((H, H)) / H**0.5
        recurrence = Recurrence(
            NORMALIZERS["layer"], W, np.zeros((H, 1)), g=np.full(H, gain), activation="tanh"
        )
        run = run_recurrence(recurrence, np.zeros((1, T, 1)), rng.standard_normal((1, H)))
        sizes = run.rms_hidden[SETTLED:, 0]
        assert np.ptp(sizes) < 0.15 * sizes.mean(), "the state keeps its size meanwhile"
        product = np.eye(H)
        for t in range(SETTLED + 1, T + 1):
            product = jacobian(run, t)[0] @ product
        rms = np.log10(np.linalg.norm(product) / H**0.5)
        largest = float(jacobian_norms(run, points=T + 1).log10_norms[SETTLED, 0])
        assert rms < largest < rms + np.log10(H) / 2, "a norm of the same product"
        rates.append(rms / (T - SETTLED))
    assert np.mean(rates) == pytest.approx(mean_field(gain), rel=0.08, abs=0.01)


def test_mean_field_of_a_small_gain_is_that_of_the_linear_recurrence() -> None:
    assert mean_field(1e-3) == pytest.approx(0, abs=1e-6)
    assert mean_field(1.0) == pytest.approx(0.0355, abs=1e-4)


@pytest.mark.parametrize("example", [EXAMPLES[0], Example(7), Example(8, units=12)])
def test_gradient_over_time_both_grows_and_fades_in_every_draw(example: Example) -> None:
    """One of the two would be enough for the verdict; the remark states both."""
    found = {m.of: m.value for m in CLAIMS["gradients_over_time"].check(example).measured}
    assert found["three times as wide, no input, g = 4"] > 0.01
    assert found["with inputs, radius ½, g = 1"] < -0.1
