"""The pictures of the story: what they show is computed here once more, by hand."""

from fractions import Fraction

import numpy as np
import pytest

from normgeo.normalizers.example import EXAMPLE_W, EXAMPLE_X
from normgeo.pictures import PICTURES
from normgeo.pictures.home.counterexamples import FIRST
from normgeo.settings import Settings


def z_of(method: str, X, W):
    """z of a method, from its definition."""
    A = X @ W.T
    if method == "weight":
        return A / np.linalg.norm(W, axis=1)
    axis = 0 if method == "batch" else 1
    return (A - A.mean(axis, keepdims=True)) / A.std(axis, keepdims=True)


def test_contrast_moves_batch_norm_and_not_layer_norm():
    result = PICTURES["contrast"].compute(Settings(delta=4))
    assert list(result.effect.methods) == ["batch", "layer"]
    for key, moves in (("batch", True), ("layer", False)):
        method = result.effect.methods[key]
        for strength, after in zip(result.effect.strengths, method.after, strict=True):
            expected = (moves and strength != 1) or strength < 0
            assert (after.change > 1e-9) == expected, (key, strength)
    said = PICTURES["contrast"].description(result)
    assert "batch norm notices: z moves by" in said
    assert "layer norm does not: z stays where it was" in said


def test_blue_pixels_are_named_where_there_are_any():
    picture = PICTURES["contrast"]
    result = picture.compute(Settings())
    figure = picture.figure(result, "light")
    for strength, frame in zip(result.effect.strengths, figure.frames, strict=True):
        words = " ".join(note.text for note in frame.layout.annotations)
        assert ("blue: below 0" in words) == (strength < 0)


@pytest.mark.parametrize("delta", [1.0, 3.0, -2.0])
def test_example_is_worked_as_by_hand(delta):
    result = PICTURES["averages"].compute(Settings(delta=delta))
    step = result.steps[result.opening]
    X, place = EXAMPLE_X.astype(float), result.place
    X[place[0]] *= delta
    for key in result.averaged:
        assert step.z[key] == pytest.approx(z_of(key, X, EXAMPLE_W))
        assert step.numbers[key].z == pytest.approx(z_of(key, X, EXAMPLE_W)[place])
        same = z_of(key, X, EXAMPLE_W)[place] == pytest.approx(
            z_of(key, EXAMPLE_X, EXAMPLE_W)[place]
        )
        assert result.stays(key, result.opening) == same


def test_stays_is_exact():
    """1e-12 more is another z, where floats would see the same."""
    result = PICTURES["averages"].compute(Settings(delta=1.0))
    assert result.stays("batch", result.opening)
    nearly = PICTURES["averages"].compute(Settings(delta=1 + 1e-12))
    assert not nearly.stays("batch", nearly.opening)
    assert nearly.stays("layer", nearly.opening)


def test_table_is_filled_with_table_1():
    result = PICTURES["table_1"].compute(Settings())
    signs = "".join(one.symbol for one in result.verdicts)
    assert signs == "✓✗✓✓✓✗✓✓✗✓✗✓✓✗✓✗✗✗", "as printed: batch, layer, weight"
    figure = PICTURES["table_1"].figure(result, "light")
    assert len(figure.frames) == 18
    opening = [one for one in figure.layout.shapes if one.type == "path"][-18:]
    assert sum(one.visible is not False for one in opening) == 1, "it is still to be filled"
    for count, frame in enumerate(figure.frames, start=1):
        marks = [one for one in frame.layout.shapes if one.type == "path"]
        # The mark beside the sentence is one more, of its own.
        assert sum(one.visible is not False for one in marks[-18:]) == count


def test_each_cross_has_numbers_that_move_z():
    result = PICTURES["counterexamples"].compute(Settings())
    assert len(result.witnesses) == 8
    assert list(result.witnesses)[result.opening] == FIRST, "the settings name a ✓"
    for cell, one in result.witnesses.items():
        method = cell.partition(".")[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            before, after = (
                z_of(method, side.X.astype(float), side.W.astype(float))[one.place] ** 2
                for side in (one.before, one.after)
            )
        assert float(one.z_squared) == pytest.approx(before)
        assert float(one.z_squared_after) == pytest.approx(after)
        assert abs(before - after) > 0.1, cell
        assert isinstance(one.z_squared, Fraction)


def test_loss_of_the_rays_is_that_of_the_turn_and_stays():
    rays, turn = (PICTURES[name].compute(Settings()) for name in ("rays", "turn"))
    assert rays.curve.loss.tolist() == turn.curve.loss.tolist()
    assert np.ptp(rays.curve.loss) < 1e-12 * rays.curve.loss[0]
    assert "w × 2: the loss stays" in str(PICTURES["rays"].figure(rays, "light").layout.annotations)


def test_without_a_law_the_loss_of_the_rays_is_told():
    """Weights that are not normalized: the loss at 2w is another one."""
    result = PICTURES["rays"].compute(Settings(method="standard", dataset="wine"))
    _, _, _, loss = result.changes(result.opening)
    assert loss.factor != pytest.approx(1, rel=1e-3)
    assert "the loss ×" in str(PICTURES["rays"].figure(result, "light").layout.annotations)
