"""The Invariance pictures by value: which change is drawn, and how exact a verdict is in floats."""

import re

import numpy as np
import pytest

from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.scales import SCALES
from normgeo.pictures import PICTURES
from normgeo.settings import Settings


def test_weights_are_shifted_along_none_of_their_own():
    result = PICTURES["effect"].compute(Settings(cell="layer.weight_matrix_recentering"))
    gamma = result.effect.row_after[-1] - result.effect.row_before
    cosine = gamma @ result.effect.row_before
    cosine /= np.linalg.norm(gamma) * np.linalg.norm(result.effect.row_before)
    assert abs(cosine) < 0.5


@pytest.mark.parametrize("method", NORMALIZERS)
def test_chosen_method_is_beside_batch_and_layer_norm(method):
    settings = Settings(dataset="iris", neurons=6, cell=f"{method}.case_rescaling")
    shown = PICTURES["effect"].compute(settings).effect.methods
    assert {"batch", "layer", method} == set(shown)


@pytest.mark.parametrize("delta", [-3.0, 3.0, 3.3])
def test_slider_opens_at_the_strength_of_the_settings(delta):
    result = PICTURES["effect"].compute(Settings(dataset="iris", delta=delta))
    assert result.effect.strengths[result.opening] == delta
    figure = PICTURES["effect"].figure(result, "light")
    assert figure.frames[figure.layout.sliders[0].active].name == f"{delta:g}"


def test_captions_write_numbers_for_people():
    """ "2 · 10⁻¹⁶", not "2e-16", and a true minus."""
    picture = PICTURES["effect"]
    figure = picture.figure(picture.compute(Settings()), "light")
    words = [note.text for frame in figure.frames for note in frame.layout.annotations]
    assert any("· 10⁻" in caption for caption in words)
    plain = re.sub(r"<[^>]*>", " ", " ".join(words))
    assert not re.search(r"\de[-+]\d|[\s(]-\d", plain)


@pytest.mark.parametrize("method", NORMALIZERS)
def test_sweeps_are_of_every_type_and_of_an_epsilon_where_it_acts(method):
    settings = Settings(dataset="iris", neurons=6, cell=f"{method}.weight_matrix_rescaling")
    names = [name for name, _ in PICTURES["floating_point"].compute(settings).curves]
    expected = ["float16, ε = 0", "float32, ε = 0", "float64, ε = 0"]
    if SCALES[NORMALIZERS[method].scale].takes_eps:
        expected.append("float64, ε = 1 · 10⁻⁵")
    assert names == expected


def test_epsilon_breaks_what_is_exact_without_it():
    result = PICTURES["floating_point"].compute(Settings(cell="layer.case_rescaling"))
    changes = {name: np.nanmax(curve.change) for name, curve in result.curves}
    assert changes["float64, ε = 0"] < 1e-14
    assert changes["float64, ε = 1 · 10⁻⁵"] > 0.1
