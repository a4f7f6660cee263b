"""The Batch pictures by value: who shares a statistic, −½ slopes, and training that repeats."""

import json
import re
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from normgeo.base.progress import Stop
from normgeo.base.refusal import Refusal
from normgeo.datasets.datasets import DATASETS
from normgeo.normalizers.batch_statistics import ONE_CASE
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.shared_statistics import SHARINGS
from normgeo.pictures import PICTURES
from normgeo.pictures.batch import accuracy, accuracy_figure
from normgeo.pictures.batch import noise as of_noise
from normgeo.pictures.batch.noise import Noise
from normgeo.pictures.batch.training import Training
from normgeo.pictures.style.colors import method_color
from normgeo.settings import Settings
from tests.pairwise import loops

HARDEST = {
    "axes": Settings(batch_size=3, groups=3, dataset="diabetes"),
    "channels": Settings(batch_size=3, groups=3),
    "noise": Settings(neurons=256),
    "training": Settings(dataset="iris", batch_size=128, epochs=50),
}
QUICK = Settings(dataset="iris", epochs=2, batch_size=4)


def table(name: str, settings: Settings = Settings()) -> list[dict]:  # noqa: B008
    view = PICTURES[name]
    return view.table(view.compute(settings)).records()


@pytest.fixture(scope="module")
def axes() -> list[dict]:
    return table("axes")


@pytest.fixture(scope="module")
def channels() -> list[dict]:
    return table("channels")


@cache
def noise_of(dataset: str) -> Noise:
    return PICTURES["noise"].compute(Settings(dataset=dataset))


@pytest.fixture(scope="module")
def noise() -> list[dict]:
    return PICTURES["noise"].table(noise_of(Settings.dataset)).records()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few batches, where their errors are not looked at."""
    monkeypatch.setattr(of_noise, "BATCHES", 20)


def figure_words(name: str, settings: Settings) -> str:
    view = PICTURES[name]
    figure = view.figure(view.compute(settings), "light")
    return re.sub("<[^>]*>", "", "\n".join(note.text for note in figure.layout.annotations))


def of(rows: list[dict], **wanted: object) -> list[dict]:
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def test_entries_of_images_that_share_a_statistic(channels, subtests):
    for method, statistics, entries in [
        ("batch norm", 4, 4 * 36),
        ("layer norm", 4, 4 * 36),
        ("instance norm", 16, 36),
        ("group norm", 8, 2 * 36),
    ]:
        with subtests.test(method=method, statistics=statistics, entries=entries):
            (row,) = of(channels, batch=4, method=method)
            assert (row["statistics"], row["entries each"]) == (statistics, entries)


def test_another_batch_moves_z_of_batch_norm_alone(channels):
    for sharing in SHARINGS.values():
        values = {round(row["z"], 12) for row in of(channels, method=sharing.title)}
        assert len(values) == (8 if sharing.key == "batch" else 1), sharing.title


def test_of_two_cases_batch_norm_keeps_a_sign_and_says_so_with_its_tick():
    """z = (a − μ)/σ of two numbers is ±1, whatever they are."""
    pair = np.random.default_rng(0).normal(size=(2, 5))
    assert np.abs((pair - pair.mean(axis=0)) / pair.std(axis=0)) == pytest.approx(1)
    for m, said in ((2, True), (4, False)):
        figure = PICTURES["axes"].figure(PICTURES["axes"].compute(Settings(batch_size=m)), "light")
        assert any("μ of 2: z = ±1" in note.text for note in figure.layout.annotations) is said
        ticks = [axis.tickvals for axis in figure.select_xaxes() if axis.tickvals]
        assert [tick[:2] for tick in ticks] == [(1, 2)]


def test_batch_of_one_image_is_instance_norm_and_of_one_case_has_no_z(axes, channels):
    (batch,) = of(channels, batch=1, method="batch norm")
    (instance,) = of(channels, batch=1, method="instance norm")
    assert batch["z"] == instance["z"]
    (row,) = of(axes, batch=1, method="batch norm")
    assert row["z"] is None
    assert "σ = 0" in row["problem"]


def test_groups_that_do_not_divide_leave_the_other_methods_their_picture():
    rows = table("channels", Settings(groups=3))
    for row in rows:
        assert (row["z"] is None) == (row["problem"] != "")
    assert all("got 3 groups" in row["problem"] for row in of(rows, method="group norm"))
    assert all(row["z"] is not None for row in of(rows, method="layer norm"))


def test_error_falls_as_the_root_of_the_batch(noise, subtests):
    """Between 4 and 128 cases; beyond, the finite number of cases bends the line."""
    for column in ["mu_error", "predicted_mu_error", "z_change_batch_norm"]:
        with subtests.test(column=column):
            some = [row for row in noise if 4 <= row["batch"] <= 128]
            logs = np.log([[row["batch"], row[column]] for row in some])
            slope = np.polyfit(logs[:, 0], logs[:, 1], 1)[0]
            assert slope == pytest.approx(-0.5, abs=0.08)


def test_predictions_meet_the_measurements_of_larger_batches(noise):
    for row in noise:
        if 64 <= row["batch"] <= 1024:
            for name in ("mu_error", "sigma_error", "z_change_batch_norm"):
                assert row[name] == pytest.approx(row[f"predicted_{name}"], rel=0.2), name


def test_prediction_of_sigma_is_said_to_be_good_from_where_it_is(subtests):
    """Heavy tails (digits) make first order too large for small batches, light ones too small."""
    for dataset in ["digits", "diabetes", "linnerud"]:
        with subtests.test(dataset=dataset):
            picture = noise_of(dataset)
            records = PICTURES["noise"].table(picture).records()
            inner = [row for row in records if 1 < row["batch"] < picture.cases]
            ratios = {
                row["batch"]: row["predicted_sigma_error"] / row["sigma_error"] for row in inner
            }
            found = dict(
                zip(picture.noise.sizes.tolist(), picture.first_order.tolist(), strict=True)
            )
            assert {m: r for m, r in found.items() if np.isfinite(r)} == pytest.approx(ratios)
            if dataset != "linnerud":
                small = [r for m, r in ratios.items() if m <= 4]
                assert min(small) > 1.3 if dataset == "digits" else max(small) < 0.95
            off = [m for m, r in ratios.items() if abs(r - 1) > 0.1]
            after = [m for m in ratios if m > max(off, default=0)]
            assert picture.first_order_from == (min(after) if after else None)


def test_methods_of_single_cases_never_see_the_batch(few, subtests):
    """The chosen method is beside batch and layer norm, drawn or said to be 0."""
    for method in NORMALIZERS:
        with subtests.test(method=method):
            picture = PICTURES["noise"]
            result = picture.compute(Settings(dataset="iris", method=method))
            normalizer = NORMALIZERS[method]
            drifts = {drift.normalizer.name: drift.change for drift in result.drifts}
            assert list(drifts) == list(
                dict.fromkeys(("batch norm", "layer norm", normalizer.name))
            )
            for name, change in drifts.items():
                moves = "batch" in name
                assert moves == (np.nanmax(change) > 1e-12)
            figure = picture.figure(result, "light")
            colors = {trace.line.color for trace in figure.data if trace.xaxis == "x3"}
            words = " ".join(note.text for note in figure.layout.annotations)
            assert (method_color(normalizer, "light") in colors) == normalizer.shared_by_cases
            assert (f"<b>{normalizer.name}: 0</b>" in words) != normalizer.shared_by_cases
            assert f"z_change_{normalizer.name.replace(' ', '_')}" in picture.table(result).columns


def test_stopped_noise_has_what_is_measured_and_is_drawn(few, subtests):
    picture, settings = PICTURES["noise"], Settings(dataset="iris")
    whole = picture.compute(settings)
    for at in [1, 9, 12, 20, 25]:
        with subtests.test(at=at):

            def stop(done: int, steps: int, at=at) -> None:
                if done >= at:
                    raise Stop

            part = picture.compute(settings, stop)
            sizes = len(part.noise.sizes)
            assert sizes == min(at, len(whole.noise.sizes))
            np.testing.assert_array_equal(part.mean.measured, whole.mean.measured[:sizes])
            assert all(len(drift.change) == sizes for drift in part.drifts)
            assert len(picture.table(part).rows) == sizes
            picture.figure(part, "dark")


def test_batch_of_one_has_its_reason_and_the_whole_data_no_error(noise):
    assert noise[0]["batch"] == 1
    assert noise[0]["reason"] == ONE_CASE
    assert noise[0]["z_change_batch_norm"] is None
    assert noise[-1]["mu_error"] < 1e-12


def test_captions_of_the_noise_have_a_corner_each_and_no_line_runs_through_them(few):
    """Blank lines that kept one caption above another were as high as the font made them."""
    picture = PICTURES["noise"]
    for method in ("batch", "rms"):  # one more line of words
        figure = picture.figure(picture.compute(Settings(dataset="iris", method=method)), "light")
        notes = figure.layout.annotations
        corners = [(n.xref, n.yref, n.xanchor, n.yanchor, n.y, n.textangle) for n in notes]
        assert len(set(corners)) == len(corners)
        assert not [n.text for n in notes if "<br> " in n.text]
        for axis in (figure.layout.yaxis, figure.layout.yaxis2, figure.layout.yaxis3):
            low, high = axis.range
            name = axis.anchor.replace("x", "y")
            lines = [np.array(t.y, float) for t in figure.data if t.yaxis == name and not t.fill]
            heights = (np.log10(np.concatenate(lines)) - low) / (high - low)
            assert np.nanmin(heights) > 0.22


def test_training_is_the_same_for_the_same_seed():
    first, again = table("training", QUICK), table("training", QUICK)
    assert first == again
    assert table("training", Settings(dataset="iris", epochs=2, seed=1)) != first


@pytest.mark.exhaustive
def test_training_in_small_batches_costs_batch_norm_most():
    """Digits, the default settings; the last test accuracies, with room for other machines."""
    rows = [row for row in table("training") if row["test_accuracy"] is not None]
    last = {(row["method"], row["batch"]): row["test_accuracy"] for row in rows}
    assert min(last["batch norm", 128], last["layer norm", 128]) > 0.94
    assert last["layer norm", 2] > 0.92
    assert last["layer norm", 2] - last["batch norm", 2] > 0.15


@pytest.mark.exhaustive
def test_kept_accuracies_are_those_of_runs(subtests):
    """Run again: other machines round differently, so within the spread of the seeds."""
    for (dataset, m, seeds), method in product(
        [("digits", 128, 1), ("wine", 16, 2), ("iris", 64, 2), ("breast_cancer", 64, 1)],
        accuracy.METHODS,
    ):
        with subtests.test(dataset=dataset, m=m, seeds=seeds, method=method):
            found = accuracy.kept(dataset)
            mean, least, most = found.at(method, m)
            again = [accuracy.count_right(dataset, method, m, seed) for seed in range(seeds)]
            some = found.shares[method][found.sizes.index(m)][:seeds]
            one = 1 / found.tested
            assert (
                least - one <= min(again) / found.tested <= max(again) / found.tested <= most + one
            )
            assert np.mean(again) / found.tested == pytest.approx(some.mean(), abs=2 * one)
            assert least <= mean <= most


def test_file_of_accuracies_has_every_shipped_data_set_with_classes_and_all_seeds():
    written = json.loads((Path(accuracy.__file__).parent / accuracy.FILE).read_text("utf-8"))
    assert written["settings"] == {
        "epochs": Settings.epochs,
        "rate": accuracy.RATE,
        "rate_at": accuracy.RATE_AT,
        "optimizer": "momentum",
        "widths": list(accuracy.WIDTHS),
        "seeds": accuracy.SEEDS,
    }
    for key in ("digits", "iris", "wine", "breast_cancer", "plane"):
        found = accuracy.kept(key)
        assert found.sizes == accuracy.sizes_of(DATASETS[key].load())
        assert found.seeds == accuracy.SEEDS
        assert found.at("batch", 1) is None, "one case has no σ"
        assert found.at("layer", 1) is not None
        for shares in found.shares.values():
            assert shares.shape == (len(found.sizes), accuracy.SEEDS)
            assert np.nanmin(shares) >= 0
            assert np.nanmax(shares) <= 1
    assert accuracy.kept("diabetes") is None


def test_large_marks_that_meet_are_both_seen():
    """As at batches of 128; plotly would make marks of several sizes transparent."""
    (marks,) = accuracy_figure.marks(accuracy.kept("digits"), 128, 3, "light")
    marker = marks["marker"]
    sizes = dict(zip(marker["symbol"], marker["size"], strict=True))
    assert sizes["diamond"] + marker["line"]["width"] < sizes["circle"]
    assert marker["opacity"] == 1
    assert [*marker["symbol"]] == ["circle", "diamond"], "the smaller one is above"


def test_axis_of_accuracies_begins_beneath_the_lowest_run():
    """From 0 on, what a small batch costs would have a quarter of the height."""
    for key in DATASETS:
        if (found := accuracy.kept(key)) is None:
            continue
        drawn = PICTURES["axes"].figure(PICTURES["axes"].compute(Settings(dataset=key)), "light")
        (axis,) = [
            one
            for one in (drawn.layout[name] for name in drawn.layout if name.startswith("yaxis"))
            if one.tickformat == ".0%"
        ]
        low, high = axis.range
        lowest = min(np.nanmin(np.array(runs, dtype=float)) for runs in found.shares.values())
        assert 0 <= low < lowest < low + 0.2
        assert 1 < high < 1.04
        assert axis.tickvals[-1] == 1


def test_main_picture_says_what_a_batch_of_two_costs():
    """Digits: layer norm stays where it is in large batches, batch norm loses a fifth or more."""
    result = PICTURES["axes"].compute(Settings())
    assert result.start == 2
    batch, layer = result.told("batch", 2)[0], result.told("layer", 2)[0]
    assert layer - batch > 0.2
    assert abs(layer - result.told("layer", 128)[0]) < 0.03
    words = figure_words("axes", Settings())
    assert "Batch norm of 2 keeps only signs: z = ±1." in words
    assert f"batch norm {batch:.0%}" in words
    assert f"layer norm {layer:.0%}" in words
    told = PICTURES["axes"].description(result)
    assert f"batch norm: none at m = 1, {batch:.0%} at m = 2," in told
    rows = of(PICTURES["axes"].table(result).records(), batch=2, method="batch norm")
    assert {row["test accuracy"] for row in rows} == {batch}


@pytest.mark.parametrize(
    "rows", loops(["digits", "iris", "diabetes", "linnerud"], ["light", "dark"], of=1)
)
def test_every_frame_states_the_same_slots(rows, subtests):
    """Plotly merges by index: the same shapes, captions and traces, with the same properties."""
    for dataset, theme in rows:
        with subtests.test(dataset=dataset, theme=theme):
            picture, settings = PICTURES["axes"], Settings(dataset=dataset, groups=3)
            drawn = picture.figure(picture.compute(settings), theme).to_dict()
            frames = drawn["frames"]
            assert len(frames) == len(drawn["layout"]["sliders"][0]["steps"])
            for kind in ("shapes", "annotations"):
                slots = [[sorted(slot) for slot in frame["layout"][kind]] for frame in frames]
                assert all(some == slots[0] for some in slots)
                assert len(slots[0]) == len(drawn["layout"][kind])
            kinds = [[shape["type"] for shape in frame["layout"]["shapes"]] for frame in frames]
            assert all(some == kinds[0] for some in kinds)
            assert len({tuple(frame.get("traces", ())) for frame in frames}) == 1


def test_no_ring_and_no_frame_is_cut_by_the_end_of_its_array():
    """As high as an array is on a page, where a pixel of its axis is one of the screen."""
    for picture in (PICTURES["axes"], PICTURES["channels"]):
        layout = picture.figure(picture.compute(Settings()), "light").layout
        assert rings_inside(layout) == 4, "one for the array of each method"


def rings_inside(layout) -> int:
    paper = layout.height - layout.margin.t - layout.margin.b
    rings = 0
    for shape in layout.shapes:
        axis = layout["yaxis" + shape.yref.split()[0][1:]]
        (bottom, top), (low, high) = axis.range, axis.domain
        ring = shape.type == "circle"
        if not shape.visible or not (ring or shape.line.width):
            continue
        ends = (
            (shape.yanchor + shape.y0, shape.yanchor + shape.y1) if ring else (shape.y0, shape.y1)
        )
        pixels = (bottom - top) / (paper * (high - low)) * shape.line.width / 2
        assert top <= min(ends) - pixels
        assert max(ends) + pixels <= bottom
        rings += ring
    return rings


@pytest.mark.parametrize(
    ("dataset", "frames"),
    [
        ("digits", slice(None, None, 3)),
        pytest.param("digits", slice(1, None, 3), marks=pytest.mark.exhaustive),
        pytest.param("digits", slice(2, None, 3), marks=pytest.mark.exhaustive),
        pytest.param("iris", slice(None), marks=pytest.mark.exhaustive),
        pytest.param("diabetes", slice(None), marks=pytest.mark.exhaustive),
    ],
)
def test_figure_that_opens_at_a_size_is_the_frame_of_that_size(dataset, frames):
    picture = PICTURES["axes"]

    def drawn(m):
        return picture.figure(picture.compute(Settings(dataset=dataset, batch_size=m)), "light")

    start = drawn(1)
    for frame in start.frames[frames]:
        other = drawn(int(frame.name))
        for kind in ("shapes", "annotations"):
            assert frame.layout[kind] == other.layout[kind]
        for index, trace in zip(frame.traces or (), frame.data, strict=True):
            # A trace that is a part of a figure has an identity of its own.
            assert {**trace.to_plotly_json(), "uid": None} == {
                **other.data[index].to_plotly_json(),
                "uid": None,
            }


@pytest.mark.exhaustive
def test_only_images_have_channels(subtests):
    for dataset in DATASETS:
        with subtests.test(dataset=dataset):
            if DATASETS[dataset].load().image_shape is None:
                with pytest.raises(Refusal, match=r"has none: choose the digits\.$"):
                    PICTURES["channels"].compute(Settings(dataset=dataset))
            else:
                assert "μ per channel" in figure_words("channels", Settings(dataset=dataset))
            assert "channel" not in figure_words("axes", Settings(dataset=dataset))


def test_picture_opens_at_the_nearest_size(subtests):
    """In factors: 90/64 is less than 128/90."""
    for asked, opens in [(1, 1), (3, 4), (5, 4), (90, 64), (91, 128)]:
        with subtests.test(asked=asked, opens=opens):
            result = PICTURES["axes"].compute(Settings(batch_size=asked))
            assert (result.start, result.opens_at) == (asked, opens)


def test_lit_entries_are_those_that_share_the_statistic():
    """Against a count: what is lit has as many entries as a statistic has."""
    for name in ("axes", "channels"):
        result = PICTURES[name].compute(Settings())
        pixels = np.prod(result.values.shape[2:], dtype=int)
        for panels in result.panels.values():
            for found in panels.values():
                rows, columns = np.diff(found.cases)[0] + 1, np.diff(found.channels)[0] + 1
                assert rows * columns * pixels == found.entries


def test_chosen_method_is_trained_beside_batch_and_layer_norm(subtests):
    for method in NORMALIZERS:
        with subtests.test(method=method):
            settings = Settings(dataset="iris", epochs=1, batch_size=64, method=method)
            result = PICTURES["training"].compute(settings)
            names = [run.normalizer.name for run in result.of_size(64)]
            assert names == list(
                dict.fromkeys(("batch norm", "layer norm", NORMALIZERS[method].name))
            )
            assert all(run.taken == run.planned for run in result.runs)
            legend = [trace.name for trace in PICTURES["training"].figure(result, "light").data]
            assert NORMALIZERS[method].name in legend


def test_training_in_batches_of_one_leaves_layer_norm_alone():
    view = PICTURES["training"]
    picture = view.compute(Settings(dataset="iris", epochs=1, batch_size=1))
    reasons = [(run.normalizer.title, run.batch_size) for run in picture.runs if run.reason]
    assert reasons == [("batch norm", 1)]
    assert "2" in view.table(picture).notes[0]
    words = view.figure(picture, "light").layout.annotations[-1].text
    assert words.replace("\xa0", " ").startswith("batch norm at m = 1: ")


def test_stopped_training_keeps_what_it_has():
    def stop(done: int, steps: int) -> None:
        assert steps == 2 * (2 + 60)  # iris: 120 cases in batches of 120 and of 4, two epochs
        if done == 20:
            raise Stop

    view = PICTURES["training"]
    picture: Training = view.compute(QUICK, stop)
    whole: Training = view.compute(QUICK)
    assert [len(run.history.train_loss) for run in picture.runs] == [2, 2, 16]
    for part, run in zip(picture.runs, whole.runs, strict=False):
        losses = run.history.train_loss[: len(part.history.train_loss)]
        np.testing.assert_array_equal(part.history.train_loss, losses)
    words = view.figure(picture, "light").layout.annotations[-1].text
    assert words == "batch norm at m = 4 was stopped after step 16 of 60."


def test_training_stopped_at_once_still_has_a_picture(subtests):
    for at in [1, 3, 5]:
        with subtests.test(at=at):

            def stop(done: int, steps: int, at=at) -> None:
                if done == at:
                    raise Stop

            view = PICTURES["training"]
            picture = view.compute(QUICK, stop)
            captions = [note.text for note in view.figure(picture, "dark").layout.annotations]
            assert ("<b>batches of 4</b>: stopped before they began" in captions) == (at < 5)
            assert view.table(picture).rows


def test_diverging_training_says_where_it_ended():
    view = PICTURES["training"]
    with np.errstate(all="ignore"):
        picture = view.compute(Settings(dataset="iris", epochs=5, rate=1e6, method="standard"))
    assert all(np.isfinite(run.history.train_loss).all() for run in picture.runs)
    ended = [run for run in picture.runs if run.history.ended]
    assert {run.normalizer.name for run in ended} >= {"standard"}
    words = view.figure(picture, "light").layout.annotations[-1].text.replace("\xa0", " ")
    for run in ended:
        name = f"{run.normalizer.name} at m = {run.batch_size}"
        assert f"{name} ended at step {run.history.ended.step}: " in words


def test_data_without_classes_is_refused_in_a_sentence():
    sentence = r"^The network is trained to tell classes apart, and .* has none: choose the digits"
    with pytest.raises(ValueError, match=sentence):
        PICTURES["training"].compute(Settings(dataset="diabetes"))


def test_payload_is_small_at_the_hardest_settings(few, subtests):
    for name, settings in HARDEST.items():
        result = PICTURES[name].compute(settings)
        for theme in ("light", "dark"):
            with subtests.test(theme=theme, name=name):
                assert len(PICTURES[name].figure(result, theme).to_json()) < 150_000


def test_code_names_what_differs_from_the_defaults(subtests):
    for name in HARDEST:
        with subtests.test(name=name):
            changed = {"seed": 5, "theme": "dark", "growth": 2}
            code = PICTURES[name].code(Settings(**changed))
            assert "Settings(seed=5, theme='dark')" in code
            compile(code, name, "exec")


@pytest.mark.parametrize("name", ["axes", "channels"])
def test_the_larger_the_summed_input_the_stronger_its_gray(name):
    """z of a case is +1 where its summed input is the larger of two: so it must look."""
    result = PICTURES[name].compute(Settings())
    cells = np.asarray(PICTURES[name].figure(result, "light").data[0].z, dtype=int)
    values = result.values
    if name == "channels":
        N, C, R, S = values.shape
        padded = np.pad(cells, ((0, 1), (0, 1))).reshape(N, R + 1, C, S + 1)
        cells = padded[:, :R, :, :S].transpose(2, 0, 1, 3).reshape(C, -1)
        values = values.transpose(1, 0, 2, 3).reshape(C, -1)
    for a, gray in zip(values, cells, strict=True) if name == "channels" else [(values, cells)]:
        assert (np.diff(gray.ravel()[np.argsort(a, axis=None)]) >= 0).all()
        assert (gray.min(), gray.max()) == (1, 255)


GRAY = "Gray: summed input a. Colored: one μ and σ, z = (a − μ)/σ."


@pytest.mark.parametrize(
    ("name", "said", "after"),
    [
        ("axes", GRAY, "Accuracy: mean and range of "),
        ("channels", GRAY, "Faded: "),
    ],
)
def test_what_gray_and_color_are_is_said_on_pages_and_slides(name, said, after):
    view = PICTURES[name]
    layout = view.figure(view.compute(Settings()), "light").layout
    assert sum(one.text.endswith(said) for one in layout.annotations) == 1
    on_slide = [one.get("text", "") for one in layout.meta["slide"]["annotations"].values()]
    (slide,) = (words.replace("<br>", " ") for words in on_slide if "Gray: summed" in words)
    assert slide.startswith(f"{said} {after}")


def test_foot_has_one_line_at_every_size_of_batch(subtests):
    picture = PICTURES["axes"]
    for m in picture.compute(Settings()).panels:
        if m == 1:
            continue  # says why there is no z
        with subtests.test(m=m):
            layout = picture.figure(picture.compute(Settings(batch_size=m)), "light").layout
            (foot,) = (one.text for one in layout.annotations if "Gray: " in one.text)
            assert "<br>" not in foot
