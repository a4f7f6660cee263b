"""The spectrum of a layer: what is drawn, against a dense Jacobian and by hand."""

from typing import Any

import numpy as np
import pytest

from normgeo import NORMALIZERS, layer_report, load_layer
from normgeo.base.refusal import Refusal
from normgeo.checkpoints.examples import EXAMPLES
from normgeo.checkpoints.place import PLACES
from normgeo.checkpoints.trained_layer import TrainedLayer
from normgeo.pictures import PICTURES
from normgeo.pictures.your_network.layer_spectrum import LayerSpectrum
from normgeo.settings import Settings

PICTURE = PICTURES["layer_spectrum"]
H, D, N = 3, 4, 7


def outputs(W: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Layer norm of X Wᵀ, in plain NumPy."""
    a = X @ W.T
    a = a - a.mean(axis=1, keepdims=True)
    return a / np.sqrt((a**2).mean(axis=1, keepdims=True))


def own(rng: np.random.Generator, **more: Any) -> tuple[LayerSpectrum, np.ndarray]:
    """The picture of a layer, and the eigenvalues of JᵀJ/N by central differences."""
    W, X = rng.standard_normal((H, D)), rng.standard_normal((N, D))
    layer = TrainedLayer("w", W, NORMALIZERS["layer"], PLACES["after"], X=X)
    report = layer_report(layer, family="gaussian", eigenvalues=None, **more)
    found = LayerSpectrum.of(report, "w", "gaussian")
    assert found is not None
    steps = 1e-6 * np.eye(H * D).reshape(-1, H, D)
    J = np.stack([(outputs(W + e, X) - outputs(W - e, X)).ravel() / 2e-6 for e in steps])
    return found, np.linalg.eigvalsh(J @ J.T / N)[::-1]


def drawn(result: LayerSpectrum) -> dict[str, Any]:
    return {each.name: each for each in PICTURE.figure(result, "light").data}


def test_eigenvalues_are_drawn_in_order_and_null_ones_on_the_line_of_rounding(
    rng: np.random.Generator,
) -> None:
    """Layer norm ignores the scale of W and, of each feature, what all rows share: 1 + D."""
    result, expected = own(rng)
    seen = H * D - (1 + D)
    line, null = drawn(result)[str(NORMALIZERS["layer"].title)], drawn(result)["null"]
    np.testing.assert_allclose(line["y"][:seen], expected[:seen], rtol=1e-6)
    assert np.isnan(np.array(line["y"][seen:])).all()
    assert list(null["x"]) == list(range(seen + 1, H * D + 1))
    assert set(null["y"]) == {result.rounding} == {1e-14 * result.model.values[0]}
    assert result.of_null == (
        "5 of 12 directions are null, by the rank of the change of the outputs."
    )
    figure = PICTURE.figure(result, "light")
    (rule,) = figure.layout.shapes
    assert rule.y0 == rule.y1 == result.rounding
    assert 10 ** figure.layout.yaxis.range[0] < result.rounding
    records = PICTURE.table(result).records()
    assert [one["direction"] for one in records] == ["not null"] * seen + ["null"] * (1 + D)
    np.testing.assert_allclose([one["eigenvalue"] for one in records][:seen], expected[:seen])


def test_where_ranks_are_not_taken_null_ones_are_those_up_to_rounding(
    rng: np.random.Generator,
) -> None:
    result, _ = own(rng, null_directions=False)
    assert result.answers.count("null") == 1 + D
    assert result.of_null == "5 of 12 directions are null up to rounding."


def test_layer_that_ships_has_the_spectrum_of_its_report() -> None:
    result = PICTURE.compute(Settings(layer="pre_norm"))
    report = layer_report(
        load_layer(EXAMPLES["pre_norm"].path),
        family="gaussian",
        eigenvalues=3,
        null_directions=False,
    )
    assert report.spectrum is not None
    np.testing.assert_allclose(result.model.values[:3], report.spectrum.values, rtol=1e-9)
    assert len(result.model.values) == report.spectrum.size == len(result.answers)
    assert result.model.values.sum() == pytest.approx(report.spectrum.trace)
    assert PICTURE.figure(result, "dark").data


def test_what_the_spectrum_takes_is_said_where_it_is_missing() -> None:
    with pytest.raises(Refusal, match="spectrum of F need X, the residual stream and the family"):
        PICTURE.compute(Settings(layer="layer", stands="residual"))
