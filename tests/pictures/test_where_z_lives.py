"""Where z lives: which cases and neurons are drawn, what is said of them, what a frame holds."""

import re
from itertools import pairwise, product

import numpy as np
import pytest

from normgeo.base.refusal import Refusal
from normgeo.datasets.datasets import DATASETS
from normgeo.invariance.transforms import TRANSFORMS
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures import PICTURES
from normgeo.pictures.invariance.where_z_lives import CASES, Places, said, sign
from normgeo.pictures.style.colors import (
    CLASSES,
    LEAST_CONTRAST,
    OTHER,
    PALETTE,
    PAPERS,
    contrast,
    difference,
)
from normgeo.pictures.style.turning import project
from normgeo.settings import Settings
from tests.forms import on_a_phone
from tests.pairwise import loops, some

PICTURE = PICTURES["where_z_lives"]


def places(**settings: object) -> Places:
    return PICTURE.compute(Settings(**settings))


@pytest.fixture(scope="module")
def drawn():
    return PICTURE.figure(places(), "light")


def plain(words: str) -> str:
    return re.sub(r"<[^>]*>", " ", words)


def test_points_are_the_cases_of_the_data_set_under_the_weights_of_the_other_pictures():
    found, effect = places(dataset="iris"), PICTURES["effect"].compute(Settings(dataset="iris"))
    data = DATASETS["iris"].load(standardize=False)
    W = np.random.default_rng(0).standard_normal((4, 4)) / 2
    np.testing.assert_allclose(
        found.journey.before.summed_inputs, (data.X @ W.T)[np.ix_(found.cases, found.neurons)]
    )
    shown = effect.effect.methods["layer"].before.summed_inputs
    np.testing.assert_allclose(found.journey.before.summed_inputs[0], shown[:3])


def test_classes_are_shown_in_equal_numbers_and_few(subtests):
    for dataset in ["digits", "iris", "diabetes", "linnerud", "breast_cancer"]:
        with subtests.test(dataset=dataset):
            found, data = places(dataset=dataset), DATASETS[dataset].load()
            assert min(CASES, data.N) - len(found.cases) in (0, 1)
            counts = np.bincount(found.labels)
            assert len(counts) == len(found.classes) <= 3
            assert np.ptp(counts) <= 1
            if data.labelled:
                names = [found.classes[label] for label in found.labels]
                assert names == [data.class_names[int(label)] for label in data.y[found.cases]]


def test_what_changes_is_always_among_what_is_drawn(subtests):
    for change, index in [("case_rescaling", 1700), ("weight_vector_rescaling", 7)]:
        with subtests.test(change=change, index=index):
            found = places(cell=f"batch.{change}", index=index)
            rows = found.cases if change == "case_rescaling" else found.neurons
            assert rows[found.journey.index] == index
            assert len(found.neurons) == 3
            assert str(index) in str(found.what)


def test_index_outside_the_rows_is_refused():
    with pytest.raises(Refusal, match=r"The 10 rows of W are numbered from 0 to 9"):
        places(cell="batch.weight_vector_rescaling", index=10)
    with pytest.raises(Refusal, match=r"fitted weights of Diabetes have 1"):
        places(dataset="diabetes", weights="fitted", cell="batch.dataset_rescaling")


def test_sentence_counts_and_mark_agree(subtests):
    for change, method in product(["dataset_rescaling", "weight_matrix_recentering"], NORMALIZERS):
        with subtests.test(change=change, method=method):
            found = places(dataset="iris", cell=f"{method}.{change}", neurons=4)
            words, verdict = str(said(found, found.opening)), found.journey.verdict
            N = len(found.cases)
            assert words == (f"{N} of {N} came back" if verdict.invariant else f"{N} of {N} moved")
            assert sign(found, found.opening) == ("✓" if verdict.invariant else "✗")
            observed = PICTURE.description(found)
            assert words in observed
            assert f"says {verdict.word}" in observed


def test_what_is_said_at_each_end_of_the_slider(subtests):
    for settings, step, words, mark in [
        ({"cell": "layer.case_rescaling"}, 0, "1 of 36 changed sign", "±"),
        ({"cell": "weight.case_rescaling"}, -1, "1 of 36 moved", "✗"),
        ({"cell": "layer.dataset_rescaling"}, 0, "36 of 36 changed sign", "±"),
        ({"cell": "layer.dataset_rescaling"}, 5, "nothing was changed", ""),
        ({"cell": "layer.dataset_rescaling", "eps": 0.5}, -1, "36 of 36 moved", "≈"),
    ]:
        with subtests.test(settings=settings, step=step, words=words, mark=mark):
            found = places(dataset="iris", **settings)
            place = step % len(found.journey.strengths)
            assert (str(said(found, place)), sign(found, place)) == (words, mark)


@pytest.mark.parametrize("rows", loops([3.0, 0.001, -7.0], TRANSFORMS, of=1))
def test_slider_has_every_step_of_the_picture_above_it(rows, subtests):
    for delta, change in rows:
        with subtests.test(delta=delta, change=change):
            settings = Settings(dataset="iris", cell=f"batch.{change}", delta=delta)
            found, above = (
                PICTURES[name].compute(settings) for name in ("where_z_lives", "effect")
            )
            np.testing.assert_array_equal(found.journey.strengths, above.effect.strengths)
            assert found.journey.strengths[found.opening] == delta


def test_table_holds_the_points_and_how_far_each_went(rows):
    found = places(dataset="iris", cell="batch.case_rescaling")
    (row,) = rows(
        "where_z_lives", Settings(dataset="iris", cell="batch.case_rescaling"), strength=2.0, case=3
    )
    step = found.journey.strengths.tolist().index(2.0)
    n = found.cases.tolist().index(3)
    after = found.journey.after[step]
    assert [row[f"z_{h}"] for h in range(3)] == after.stages.z[n].tolist()
    assert [row[f"z_before_{h}"] for h in range(3)] == found.journey.before.z[n].tolist()
    went = np.subtract([row[f"z_{h}"] for h in range(3)], [row[f"z_before_{h}"] for h in range(3)])
    assert row["moved_by"] == pytest.approx(np.linalg.norm(went))
    assert (row["now"], row["class"]) == ("moved", "setosa")


def flat(trace) -> np.ndarray:
    return np.column_stack([trace.x, trace.y]).astype(float)


def test_points_are_drawn_as_seen_along_parallel_rays(drawn):
    for trace in drawn.data:
        if trace.customdata is None or not len(trace.customdata):
            continue
        seen = project(np.asarray(trace.customdata) - np.asarray(trace.meta["middle"]))
        np.testing.assert_allclose(flat(trace), seen, atol=1e-5)


def test_projection_turns_without_changing_lengths():
    """Right, up and the ray are orthonormal: what is lost of a length is its part along the ray."""
    points = np.random.default_rng(0).standard_normal((5, 3))
    for azimuth, elevation in ((0, 0), (30, 40), (-100, 80), (200, -90)):
        a, e = np.radians([azimuth, elevation])
        ray = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
        lost = (points**2).sum(axis=1) - (project(points, azimuth, elevation) ** 2).sum(axis=1)
        np.testing.assert_allclose(lost, (points @ ray) ** 2, atol=1e-12)


def test_lines_lead_from_the_points_that_they_name(drawn):
    lines = [trace for trace in drawn.data if trace.meta and "between" in trace.meta]
    assert len(lines) == 4, "three of the change, one of the mean"
    for trace in lines:
        ends = [np.asarray(drawn.data[i].customdata) for i in trace.meta["between"]]
        middle = np.asarray(trace.meta["middle"])
        for offset, points in enumerate(ends):
            np.testing.assert_allclose(flat(trace)[offset::3], project(points - middle), atol=1e-5)
        assert np.isnan(flat(trace)[2::3]).all()


@pytest.mark.exhaustive
def test_figure_that_opens_at_a_frame_is_that_frame(subtests):
    """The figure of δ = 2 is the figure of δ = 3 with the frame of 2 over it."""
    for cell in ["layer.case_rescaling", "rms.dataset_rescaling", "batch.case_recentering"]:
        with subtests.test(cell=cell):
            of_3, of_2 = (
                PICTURE.figure(places(dataset="iris", cell=cell, delta=delta), "light")
                for delta in (3, 2)
            )
            (frame,) = (frame for frame in of_3.frames if frame.name == "2")
            for place, patch in zip(frame.traces, frame.data, strict=True):
                of_3.data[place].update(patch.to_plotly_json())
            for own, other in zip(of_3.data, of_2.data, strict=True):
                np.testing.assert_equal(own.to_plotly_json(), other.to_plotly_json())
            assert on_a_phone(of_3, frame) == on_a_phone(of_2)
            for name in ("annotations", "shapes", "xaxis", "yaxis", "xaxis2", "yaxis2"):
                own, other = (getattr(layout, name) for layout in (frame.layout, of_2.layout))
                own = own or getattr(of_3.layout, name)
                if "axis" in name:
                    assert own.range == other.range
                else:
                    assert own == other


def test_all_points_of_all_frames_are_inside_their_panel_however_it_is_turned(subtests):
    for cell in ["layer.case_rescaling", "batch.case_recentering", "layer.case_offsets"]:
        with subtests.test(cell=cell):
            figure = PICTURE.figure(
                places(dataset="iris", cell=cell, delta=-20 if "scaling" in cell else 20), "light"
            )
            ranges = {}
            for frame in figure.frames:
                for place, patch in zip(frame.traces, frame.data, strict=True):
                    trace = figure.data[place]
                    if patch.customdata is None or not len(patch.customdata):
                        continue
                    name = f"xaxis{(trace.xaxis or 'x')[1:]}"
                    reach = frame.layout[name].range[1]
                    away = np.asarray(patch.customdata) - np.asarray(trace.meta["middle"])
                    assert np.linalg.norm(away, axis=1).max() <= reach
                    ranges.setdefault(name, []).append(reach)
            assert ranges


def test_phone_stacks_the_panels(drawn):
    narrow = drawn.layout.meta["narrow"]
    tops = [narrow[f"yaxis{p}"]["domain"] for p in ("", 2, 3)]
    assert all(upper[0] > lower[1] for upper, lower in pairwise(tops))
    assert all(narrow[f"xaxis{p}"]["domain"] == [0, 1] for p in ("", 2, 3))
    lines = [line for note in on_a_phone(drawn) for line in note["text"].split("<br>")]
    assert max(len(plain(line)) for line in lines) < 56


@pytest.mark.parametrize("changes", some([*TRANSFORMS], 4))
def test_payload_is_small(changes, subtests):
    for change in changes:
        with subtests.test(change=change):
            figure = PICTURE.figure(places(cell=f"layer.{change}", delta=2.7, eps=0.01), "light")
            assert len(figure.frames) == 12, "with a strength of its own"
            assert len(figure.to_json()) < 20_000 * len(figure.frames)


def test_colors_of_classes_are_nobodys_and_reach_the_contrast():
    for i, color in enumerate(CLASSES):
        assert min(contrast(color, paper) for paper in PAPERS.values()) >= LEAST_CONTRAST
        others = (*PALETTE, OTHER, *CLASSES[:i])
        assert min(difference(color, other) for other in others) > 0.08
