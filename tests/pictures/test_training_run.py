"""The picture of a training run, against its recording and the numbers of the balance."""

import numpy as np
import pytest

from normgeo import Recorder, findings, read_recording
from normgeo.base.numbers import number
from normgeo.base.progress import Progress, Stop
from normgeo.pictures import PICTURES
from normgeo.pictures.your_network.checkpoints import read_run
from normgeo.pictures.your_network.training import POINTS, of_run
from normgeo.pictures.your_network.training_figure import MOST, drawn_blocks, figure
from normgeo.recordings.example import EXAMPLE
from normgeo.settings import Settings
from tests.forms import on_a_phone

PICTURE = PICTURES["training_run"]


def lines(drawn, panel, name):
    return [each for each in drawn.data if (each.yaxis, each.name) == (panel, name)]


def recorded(path, walks, decay=0.1):
    """A run whose weights are given, (T, H, D), with gradients that are told."""
    with Recorder(path, {"w": "batch"}, optimizer="momentum") as recorder:
        for weights in walks:
            recorder.step({"w": weights}, 0.1, decay=decay, gradients={"w": weights})
    return read_recording(path)


def test_reading_of_checkpoints_is_told_after_each_and_ends_where_it_is_stopped(tmp_path, rng):
    walk, heard = rng.standard_normal((4, 3, 5)), []
    files = [tmp_path / f"net_{k}.npz" for k in range(4)]
    for file, W in zip(files, walk, strict=True):
        np.savez(file, **{"fc.weight": W})

    def report(done, steps):
        heard.append((done, steps))
        if done == most:
            raise Stop

    for most in (4, 2):
        run = read_run(files, rate=0.1, progress=Progress(report))
        expected = np.linalg.norm(walk[:most], axis=2)
        np.testing.assert_allclose(run.norms.reshape(most, -1), expected, rtol=1e-6)
    assert heard == [(1, 4), (2, 4), (3, 4), (4, 4), (1, 4), (2, 4)]


def test_measured_lines_are_the_recorded_numbers():
    result = PICTURE.compute(Settings())
    drawn, run = PICTURE.figure(result, "light"), read_recording(EXAMPLE.path)
    for panel, values in (("y", run.norms), ("y2", np.degrees(run.angles))):
        solid = [*lines(drawn, panel, "in balance"), *lines(drawn, panel, "frozen")]
        assert len(solid) == 6
        for b, each in enumerate(solid):
            assert each.line.dash == "solid"
            whole = values[np.searchsorted(run.steps, each.x), b]
            near = np.isfinite(each.y) & (np.diff(each.x, prepend=-1) == 1)
            assert near.sum() > 250
            np.testing.assert_allclose(np.asarray(each.y)[near], whole[near], rtol=1e-6)


def test_dashed_levels_are_the_balance_and_the_law_lies_on_the_norm():
    result = PICTURE.compute(Settings())
    drawn = PICTURE.figure(result, "light")
    found = findings(read_recording(EXAMPLE.path))
    for panel, expected in (
        ("y", [one.balance.norm for one in found]),
        ("y2", [np.degrees(np.arccos(1 - 0.001 / 1.9))] * 6),
    ):
        levels = lines(drawn, panel, "growth and decay balance")
        assert [each.line.dash for each in levels] == ["dash"] * 6
        np.testing.assert_allclose([each.y[0] for each in levels], expected, rtol=1e-6)
        assert all(each.y[0] == each.y[1] for each in levels)
    np.testing.assert_allclose(result.norm_law, result.norms, rtol=1e-6)


def test_headline_names_what_is_in_balance_and_what_is_frozen():
    result = PICTURE.compute(Settings())
    assert str(result.headline) == (
        "In balance: 5 of 6 blocks (W[0], W[1], W[2], W[3], W[4]). Frozen: 1 (W[5])."
    )
    assert "turn by 1.78 to 1.98° from record to record; 1.86° is predicted." in (
        PICTURE.study.observed(result)
    )


def test_what_turns_less_than_stated_is_frozen():
    assert PICTURE.compute(Settings(frozen_below=90)).frozen == tuple(f"W[{h}]" for h in range(6))
    assert PICTURE.compute(Settings(frozen_below=1e-6)).frozen == ()


def test_a_long_run_is_told_in_parts_of_root_mean_squares(tmp_path, rng):
    walks = rng.standard_normal((1000, 1, 5))
    result = of_run(run := recorded(tmp_path / "run", walks), "long")
    assert len(result.steps) == POINTS
    assert result.steps[-1] == 999
    first = np.concatenate([[0], result.steps[:-1] + 1])
    for k in (0, 7, POINTS - 1):
        part = slice(first[k], result.steps[k] + 1)
        expected = np.sqrt(np.nanmean(run.norms[part] ** 2))
        assert result.norms[k, 0] == pytest.approx(expected, rel=1e-12)
        expected = np.degrees(np.sqrt(np.nanmean(run.angles[part] ** 2)))
        assert result.angles[k, 0] == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_runs_too_short_to_judge_and_without_decay_are_drawn(tmp_path, rng, steps):
    run = recorded(tmp_path / "run", rng.standard_normal((steps, 2, 3)), decay=0.0)
    result = of_run(run, "short")
    drawn = figure(result.lighting(1), "dark")
    assert "undefined" not in result.lighting(1).of_block
    assert len(lines(drawn, "y", "neither")) == 2
    assert not lines(drawn, "y", "growth and decay balance")
    assert str(result.headline) == "In balance: 0 of 2 blocks. Frozen: 0."
    assert len(PICTURE.table(result).rows) == 2 * steps


def test_of_many_blocks_some_are_drawn_and_that_is_said(tmp_path, rng):
    run = recorded(tmp_path / "run", rng.standard_normal((6, 100, 3)))
    drawn = figure(of_run(run, "wide"), "light")
    assert len({each.hovertemplate.split(",")[0] for each in drawn.data}) == MOST
    assert f"{MOST} of them are drawn." in drawn.layout.annotations[0].text.replace("<br>", " ")


def test_selected_block_is_outlined_in_both_panels_and_named():
    result = PICTURE.compute(Settings(block=5))
    drawn, run = PICTURE.figure(result, "light"), read_recording(EXAMPLE.path)
    for panel, values in (("y", run.norms), ("y2", np.degrees(run.angles))):
        (around,) = lines(drawn, panel, "selected")
        (frozen,) = lines(drawn, panel, "frozen")
        np.testing.assert_array_equal(around.y, frozen.y)
        assert around.line.width > 2 * frozen.line.width
        whole = values[np.searchsorted(run.steps, around.x), 5]
        near = np.isfinite(around.y) & (np.diff(around.x, prepend=-1) == 1)
        np.testing.assert_allclose(np.asarray(around.y)[near], whole[near], rtol=1e-6)
    assert drawn.layout.annotations[1].text == "<b>W[5]</b>"
    assert on_a_phone(drawn)[1]["text"] == "<b>W[5]</b>"
    found = findings(run)[5]
    assert f"Block W[5]: frozen. Norm {number(found.norm, 3)}, " in PICTURE.description(result)


def test_no_block_is_selected_where_there_is_none_of_that_number(subtests):
    for block in [None, 6, 10**6]:
        with subtests.test(block=block):
            result = PICTURE.compute(Settings(block=block))
            assert result.lit is None
            drawn = PICTURE.figure(result, "dark")
            assert not lines(drawn, "y", "selected")
            assert len(drawn.layout.annotations) == 1
            assert "Block" not in PICTURE.description(result)


def test_selected_block_is_drawn_of_many_too(tmp_path, rng):
    run = of_run(recorded(tmp_path / "run", rng.standard_normal((6, 100, 3))), "wide")
    hidden = next(b for b in range(100) if b not in drawn_blocks(run))
    drawn = figure(run.lighting(hidden), "light")
    assert len({each.hovertemplate.split(",")[0] for each in drawn.data if each.hovertemplate}) == (
        MOST + 1
    )
    assert drawn.layout.annotations[1].text == f"<b>w[{hidden}]</b>"
