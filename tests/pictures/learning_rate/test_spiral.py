"""The path of a weight vector, against Pythagoras."""

from dataclasses import replace

import numpy as np
import pytest

from normgeo import NORMALIZERS
from normgeo.dynamics.descent import descend
from normgeo.pictures import PICTURES
from normgeo.pictures.learning_rate.block_on_data import block_on_data
from normgeo.settings import Settings

SPIRAL = PICTURES["spiral"]
LAWFUL = [key for key, method in NORMALIZERS.items() if method.homogeneous_blocks(4)]
QUICK = Settings(dataset="wine", neurons=6, steps=20)


def test_radius_of_the_spiral_is_pythagoras(subtests: pytest.Subtests) -> None:
    for method in LAWFUL:
        with subtests.test(method=method):
            result = SPIRAL.compute(replace(QUICK, method=method))
            squares = np.cumsum([1.0, *(result.run.rate * result.run.gradient_norms[:, 0]) ** 2])
            np.testing.assert_allclose(result.radii, np.sqrt(squares), rtol=1e-9)
            np.testing.assert_allclose(result.predicted_radii, np.sqrt(squares), rtol=1e-9)
            assert (np.diff(result.radii) > 0).all()


def test_every_step_of_the_unrolled_path_is_tangent_and_as_long_as_measured() -> None:
    result = SPIRAL.compute(QUICK)
    drawn = SPIRAL.figure(result, "light")
    (path,) = (trace for trace in drawn.data if trace.name == "path, unrolled")
    points = np.column_stack([path.x, path.y]).astype(float)
    steps = np.diff(points, axis=0)
    assert np.abs((points[:-1] * steps).sum(axis=1)).max() < 1e-6
    lengths = result.run.rate * result.run.gradient_norms[:, 0]
    np.testing.assert_allclose(np.linalg.norm(steps, axis=1), lengths, rtol=1e-4, atol=1e-6)


def test_shadow_is_the_projection_on_the_start_and_the_first_step() -> None:
    result = SPIRAL.compute(QUICK)
    assert result.run.parameters.size == 0  # dropped when the path is drawn
    run, data = result.run, block_on_data(QUICK)
    sizes = {"rate": run.rate, "batch_size": run.batch_size, "seed": run.seed}
    path = descend(run.start, data.X, data.y, steps=20, **sizes).vectors()[:, 0]
    first = path[1] - path[0]
    axes = np.stack([path[0] / np.linalg.norm(path[0]), first / np.linalg.norm(first)])
    np.testing.assert_allclose(result.plane.coordinates, path @ axes.T, atol=1e-9)


def test_two_features_have_no_shadow_but_their_path(figure_of) -> None:
    names = [trace.name for trace in figure_of("spiral", Settings(dataset="plane", steps=20)).data]
    assert "path, projected on the plane of the first step" not in names
    names = [trace.name for trace in figure_of("spiral", QUICK).data]
    assert "path, projected on the plane of the first step" in names
