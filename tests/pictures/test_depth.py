"""The pictures of Depth by value: sizes by layer, marks, attention, and a convolution."""

import json
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from normgeo.base.progress import Stop
from normgeo.base.refusal import Refusal
from normgeo.datasets.datasets import load
from normgeo.networks.blocks import PLACES
from normgeo.networks.changes import CHANGES
from normgeo.networks.ignored import residual_ignored
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures import PICTURES
from normgeo.pictures.depth import accuracy
from normgeo.pictures.depth.places import CASES
from normgeo.pictures.depth.recommendation import advice, evidence
from normgeo.settings import Settings
from tests.pairwise import some

DEPTH, ATTENTION, IMAGES = (PICTURES[name] for name in ("depth", "attention", "images"))
SMALL = Settings(method="layer", depth=6, neurons=16)


@pytest.fixture(scope="module")
def small():
    return DEPTH.compute(SMALL)


def words_of(picture, result):
    drawn = picture.figure(result, "light").layout.annotations
    words = " ".join(note.text for note in drawn).replace("\N{NO-BREAK SPACE}", " ")
    return words.replace("<br>", " ")


def test_the_stream_and_the_gradient_of_the_headline_are_those_of_plain_numpy(small):
    """Pre-norm, written out; the gradient by differences along itself in one block."""
    data = load("digits", standardize=True)
    X, y = data.X[:CASES], data.y[:CASES]
    rng = np.random.default_rng(0)
    D, F = 16, X.shape[1]

    def drawn(rows, columns, variance):
        return rng.standard_normal((rows, columns)) * (variance / columns) ** 0.5

    E = drawn(D, F, 1)
    blocks = [[drawn(D, D, 2), drawn(D, D, 1)] for _ in range(6)]
    U = drawn(10, D, 1)

    def norm(x):
        return (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)

    def streams_and_loss():
        streams = [X @ E.T]
        for W, V in blocks:
            x = streams[-1]
            streams.append(x + np.maximum(norm(x) @ W.T, 0) @ V.T)
        s = norm(streams[-1]) @ U.T
        log_p = s - np.log(np.exp(s).sum(1, keepdims=True))
        return streams, -log_p[np.arange(CASES), y].mean()

    found = small.at["pre"].signals
    rms = [np.sqrt((x * x).mean()) for x in streams_and_loss()[0]]
    np.testing.assert_allclose(found.stream, rms, rtol=1e-9)
    square = 0.0
    for matrix in blocks[0]:
        for place in np.ndindex(matrix.shape):
            kept = matrix[place]
            losses = []
            for step in (1e-5, -1e-5):
                matrix[place] = kept + step
                losses.append(streams_and_loss()[1])
            matrix[place] = kept
            square += ((losses[0] - losses[1]) / 2e-5) ** 2
    assert found.gradients[0] == pytest.approx(square**0.5, rel=1e-3)
    grown = found.stream[-1] / found.stream[0]
    assert f"the stream grows to {grown:.2g} times its size" in words_of(DEPTH, small)


def test_the_table_has_a_mark_for_each_change_and_place(small):
    verdicts = {key: residual_ignored(NORMALIZERS["layer"], place) for key, place in PLACES.items()}
    expected = {
        str(change.title): tuple(verdicts[place][key].symbol for place in PLACES)
        for key, change in CHANGES.items()
    }
    assert {str(words): marks for words, marks in small.rows} == expected
    assert small.rows[0][1] == ("✓", "✗"), "what differs stands first"
    words = words_of(DEPTH, small)
    assert all(title in words for title in expected)
    pre, post = (sum(m[i] == "✓" for m in expected.values()) for i in range(2))
    counted = f"ignores {pre} of 12 changes of its weights with pre-norm and {post} with post-norm"
    assert counted in str(small.counts)


def test_numbers_of_the_picture_are_in_its_table(small):
    records = DEPTH.table(small).records()
    stream = [r["value"] for r in records if (r["quantity"], r["place"]) == ("stream", "post-norm")]
    assert stream == small.at["post"].signals.stream.tolist()
    marks = [r["value"] for r in records if r["quantity"] == "ignores"]
    assert set(marks) == {"✓", "✗"}


def test_without_a_norm_the_stream_doubles_its_square_and_no_place_differs():
    result = DEPTH.compute(Settings(method="standard", depth=6, neurons=64))
    pre, post = (at.signals.stream for at in result.at.values())
    np.testing.assert_allclose(pre[-1] / pre[0], 2**3, rtol=0.2)
    np.testing.assert_allclose(pre, post)


def test_norms_of_weights_and_widths_without_groups_are_refused_before_anything_is_computed():
    for settings in (Settings(method="weight"), Settings(method="group", neurons=15)):
        with pytest.raises(Refusal):
            DEPTH.cost(settings)


@cache
def attention(method):
    return ATTENTION.compute(Settings(method=method))


@pytest.mark.parametrize("methods", some(["rms", "batch"], 2))
def test_logits_grow_without_a_norm_and_stay_below_the_bound_with_one(methods, subtests):
    for method in methods:
        with subtests.test(method=method):
            result = attention(method)
            without, with_norm = result.heads["standard"], result.heads[method]
            grown = (result.factors[-1] / result.factors[0]) ** 2
            assert without.largest[-1] / without.largest[0] == pytest.approx(grown)
            assert with_norm.largest == pytest.approx(with_norm.largest[0])
            assert with_norm.largest[0] <= with_norm.bound
            assert without.bound is None
            assert 1 / 8 <= without.sharpest.min() <= without.sharpest.max() <= 1
            marks = dict(result.rows)
            assert marks["W_q × δ"] == ("✗", "✓")
            words = words_of(ATTENTION, result)
            assert f"its bound is {with_norm.bound:.2g}" in words
            assert "Without a norm the largest logit grows × 66,000" in words


def test_attention_without_a_norm_has_one_line_and_one_column():
    result = attention("standard")
    assert list(result.heads) == ["standard"]
    assert all(len(marks) == 1 for _, marks in result.rows)
    ATTENTION.figure(result, "dark")


@pytest.fixture(scope="module")
def images():
    return IMAGES.compute(Settings(epochs=1))


@pytest.mark.exhaustive
def test_accuracies_have_a_point_for_each_seed_and_differ(images):
    assert list(images.learned) == ["without", "batch", "layer", "instance", "group"]
    for one in images.learned.values():
        assert len(one.accuracies) == 5
        assert 0.5 < one.accuracies.mean() < 1
        assert len(set(one.accuracies)) > 1
    layer = images.learned["layer"]
    words = words_of(IMAGES, images)
    np.testing.assert_allclose(layer.on, np.mean([at.on for at in layer.places], axis=0))
    far = np.mean([at.distance for at in layer.places], axis=0)
    assert layer.far == pytest.approx(
        (far[layer.places[0].is_border].mean(), far[1:-1, 1:-1].mean())
    )
    assert (
        f"{layer.far[0]:.2g} σ from the layer's at the border, {layer.far[1]:.2g} σ inside" in words
    )
    on = np.mean([at.on for at in layer.places], axis=0)
    border, inside = 100 * on[layer.places[0].is_border].mean(), 100 * on[1:-1, 1:-1].mean()
    assert f"at the border are on {border:.0f} ± " in words
    assert f"of the time, inside {inside:.0f} ± " in words
    assert f"layer norm {100 * layer.accuracies.mean():.0f} ±" in words
    assert "instance norm" not in words.split("Right on held-out digits")[1].split(".")[0]


def test_a_stop_leaves_the_norms_that_are_done_and_a_figure_of_them():
    def stop(done, steps):
        if done >= steps * 0.3:
            raise Stop

    result = IMAGES.compute(Settings(epochs=1), stop)
    assert list(result.learned) == ["without"]
    drawn = IMAGES.figure(result, "light")
    assert sum(trace.type == "heatmap" for trace in drawn.data) == 1

    def at_once(done, steps):
        raise Stop

    nothing = IMAGES.compute(Settings(epochs=1), at_once)
    assert nothing.learned == {}
    IMAGES.figure(nothing, "light")
    assert IMAGES.description(nothing).startswith(IMAGES.alt)


def test_maps_are_shaded_between_the_tens_of_percent_that_hold_all_of_them(images):
    shares = np.array([one.on for one in images.learned.values()])
    low, high = images.range
    assert low <= shares.min() < low + 0.1
    assert high - 0.1 < shares.max() <= high
    drawn = IMAGES.figure(images, "light").layout
    assert (drawn.coloraxis.cmin, drawn.coloraxis.cmax) == (low, high)
    assert f"from {100 * low:.0f}% (paper) to {100 * high:.0f}% (ink)" in words_of(IMAGES, images)


def test_indices_of_weights_are_indices_in_the_figure_of_attention():
    result = attention("rms")
    words = words_of(ATTENTION, result)
    assert "_" not in words + ATTENTION.figure(result, "light").layout.xaxis.title.text
    assert "W<sub>q</sub> × δ" in words


def test_gradients_of_0_are_told_and_left_out_of_the_scale(subtests):
    """Ends of the others, by plain numbers; the whole of none is said to be 0."""
    for theme, settings, place, none in [
        ("light", Settings(method="standard", neurons=8, depth=47, seed=2), "pre", 1),
        ("dark", Settings(method="rms", neurons=2, depth=47, seed=2), "pre", 10),
        ("light", Settings(method="layer", neurons=2, depth=12, seed=5), "post", 12),
    ]:
        with subtests.test(theme=theme, settings=settings, place=place, none=none):
            result = DEPTH.compute(settings)
            at = result.at[place]
            gradients = at.signals.gradients
            assert (gradients == 0).sum() == none
            if none == settings.depth:
                assert "the gradient is 0." in at.answer
            else:
                assert f"It is 0 in {none} of {settings.depth} blocks." in at.answer
                first, *_, last = (g for g in gradients if g)
                assert at.gradient == last / first
            drawn = DEPTH.figure(result, theme)
            for axis in (drawn.layout.xaxis, drawn.layout.xaxis2):
                assert axis.range[0] < 0 < settings.depth < axis.range[1]
            low, high = drawn.layout.yaxis2.range
            for each in result.at.values():
                for g in each.signals.gradients:
                    assert g == 0 or low < np.log10(g) < high
            assert np.isfinite([low, high, *drawn.layout.yaxis2.tickvals]).all()


def test_panel_without_a_gradient_says_why_it_is_empty():
    drawn = DEPTH.figure(DEPTH.compute(Settings(method="layer", neurons=2, depth=6)), "light")
    words = [note.text.replace("\N{NO-BREAK SPACE}", " ") for note in drawn.layout.annotations]
    assert "0 in every block: the last norm<br>leaves only signs" in words
    assert not drawn.layout.yaxis2.tickvals
    drawn = DEPTH.figure(DEPTH.compute(SMALL), "light")
    assert not any("0 in every block" in note.text for note in drawn.layout.annotations)
    assert drawn.layout.yaxis2.tickvals


# Where the norm should go.

PLACEMENT, PLACEMENTS = PICTURES["placement"], PICTURES["placements"]
KEPT = accuracy.kept()


@pytest.mark.parametrize(
    ("kind", "warming", "depth"), [("pre", "with", 2), ("post", "without", 1), ("none", "with", 1)]
)
def test_kept_runs_are_those_of_the_code(kind, warming, depth):
    """Other kernels round differently: within 6 of 359 cases, some 1.7%."""
    place = KEPT.depths.index(depth)
    rate = KEPT.chosen(kind, warming).rates[place]
    _, again = accuracy.trained(kind, warming, depth=depth, rate=rate, seed=0)
    kept = KEPT.runs[kind, warming][place, KEPT.rates.index(rate), 0]
    assert abs(again.test - kept[1]) <= 6
    assert abs(again.validation - kept[0]) <= 6
    assert again.loss == pytest.approx(kept[2], abs=0.03)


def test_the_file_of_runs_has_the_settings_of_the_code_and_every_run():
    path = Path(accuracy.__file__).parent / accuracy.FILE
    settings = json.loads(path.read_text("utf-8"))["settings"]
    names = ("METHOD", "WIDTH", "EPOCHS", "SEEDS", "DEPTHS", "RATES")
    for name in names:
        assert settings[name.lower()] == json.loads(json.dumps(getattr(accuracy, name))), name
    assert settings["batch_size"] == accuracy.BATCH
    assert settings["warm_up"] == accuracy.WARM
    assert settings["cases"] == [len(part) for part in accuracy.cases_of(0)[1::2]]
    assert settings["tested"] == settings["cases"][2]
    shape = (len(accuracy.DEPTHS), len(accuracy.RATES), accuracy.SEEDS, 3)
    for key in product(accuracy.KINDS, accuracy.WARMING):
        assert KEPT.runs[key].shape == shape
        assert np.nanmax(KEPT.runs[key][..., 1]) <= settings["tested"]


def swapped(one, other):
    """The runs with two places exchanged."""
    names = {one: other, other: one}
    return replace(
        KEPT, runs={(names.get(kind, kind), w): KEPT.runs[kind, w] for kind, w in KEPT.runs}
    )


def leading(kind, depth, ahead=100):
    """The runs with a place whose every run at a depth tells more test cases right."""
    runs = {key: values.copy() for key, values in KEPT.runs.items()}
    for warming in accuracy.WARMING:
        runs[kind, warming][KEPT.depths.index(depth), :, :, 1] += ahead
    return replace(KEPT, runs=runs)


def test_legend_says_what_each_block_does_to_the_stream():
    """As the formulas of normgeo.networks.blocks: the norm of post-norm is around the sum."""
    figure = PICTURES["placement"].figure(PICTURES["placement"].compute(Settings()), "light")
    assert {one.name for one in figure.data if one.showlegend and ": " in one.name} == {
        "pre-norm: x + block(norm(x))",
        "post-norm: norm(x + block(x))",
        "no norm: x + block(x)",
    }


def test_the_recommendation_and_its_reasons_follow_from_the_numbers():
    assert advice(KEPT, 32) == "With 32 blocks put the norm first in each block: pre-norm."
    deepest = KEPT.runs["pre", "with"][-1]
    best = deepest[np.nan_to_num(deepest[..., 0]).sum(axis=1).argmax(), :, 1]
    least, most = sorted([best.mean() / 359, KEPT.share("pre", "without", 32)])
    reached, rest = evidence(KEPT, 32)
    assert f"pre-norm {least:.0%} to {most:.0%}" in reached
    assert f"no norm {KEPT.share('none', 'without', 32):.0%} to" in reached
    assert "Pre-norm is clearly best with 32 blocks and never clearly beaten." in rest
    assert "Up to 4 blocks the place hardly matters." in rest
    shares = [KEPT.share(kind, warming, 1) for kind, warming in KEPT.runs]
    same = f"All three reach a test accuracy of {min(shares):.0%} to {max(shares):.0%}"
    assert same in evidence(KEPT, 1)[0], "it is about the depth that is asked for"
    other = swapped("pre", "post")
    assert advice(other, 32) == "With 32 blocks put the norm last in each block: post-norm."
    assert "Post-norm is clearly best with 32 blocks" in evidence(other, 32)[1]
    assert advice(swapped("pre", "none"), 32) == "With 32 blocks leave the norm out."
    alike = replace(KEPT, runs=dict.fromkeys(KEPT.runs, KEPT.runs["pre", "with"]))
    assert "No place of the norm wins at every depth here." in evidence(alike, 32)[1]
    assert "At no depth is one place ahead of another." in evidence(alike, 32)[1]


def test_the_answer_is_that_of_the_depth_asked_for():
    """Who is ahead at one depth alone wins there, and nowhere else."""
    assert advice(KEPT, 1) == "With one block the place of the norm hardly matters."
    assert advice(KEPT, 16) == "With 16 blocks use a norm, safest first in each block: pre-norm."
    unsafe = leading("pre", 1, -100)
    assert advice(unsafe, 16) == "With 16 blocks use a norm, first or last."
    post = leading("post", 4)
    assert advice(post, 4) == "With 4 blocks put the norm last in each block: post-norm."
    assert advice(post, 2) == "With 2 blocks the place of the norm hardly matters."
    assert advice(leading("pre", 2, -100), 2) == "With 2 blocks pre-norm falls behind."
    runs = {**KEPT.runs, ("pre", "without"): leading("pre", 2).runs["pre", "without"]}
    assert advice(replace(KEPT, runs=runs), 2) == "With 2 blocks pre-norm does best."
    drawn = PLACEMENT.figure(PLACEMENT.compute(Settings(depth=32)), "light")
    for depth, frame in zip(KEPT.depths, drawn.frames, strict=True):
        said = " ".join(note.text for note in frame.layout.annotations if note.text)
        said = said.replace("<br>", " ").replace("\N{NO-BREAK SPACE}", " ")
        assert advice(KEPT, depth).removesuffix(".") in said, "the headline follows the slider"


def test_a_place_that_leads_with_warm_up_only_is_not_recommended_and_the_warm_up_is_named():
    runs = {**KEPT.runs, ("pre", "without"): KEPT.runs["none", "without"]}
    assert "pre-norm" not in advice(replace(KEPT, runs=runs), 32)
    found = evidence(replace(KEPT, runs=runs), 32)[1]
    assert found.startswith("No place of the norm wins")
    assert "A warm-up helps pre-norm." in found


def test_a_place_behind_at_one_depth_is_not_safe():
    assert evidence(leading("pre", 1, -100), 32)[1].startswith("No place of the norm wins")


def test_the_rate_is_chosen_by_validation_alone():
    runs = {key: values.copy() for key, values in KEPT.runs.items()}
    before = replace(KEPT, runs=runs).chosen("post", "with").rates
    runs["post", "with"][..., 1] = runs["post", "with"][:, ::-1, :, 1]
    np.testing.assert_array_equal(replace(KEPT, runs=runs).chosen("post", "with").rates, before)
    runs["post", "with"][..., 0] = [[0], [0], [0], [0], [9]]
    assert set(replace(KEPT, runs=runs).chosen("post", "with").rates) == {0.03}


def test_numbers_over_the_panels_are_those_of_the_slider():
    for asked, depth in [(32, 32), (48, 32), (12, 12), (20, 16)]:
        assert PLACEMENT.compute(Settings(depth=asked)).opens_at == depth
    for asked, depth in [(48, 32), (9, 8)]:
        result = PLACEMENT.compute(Settings(depth=asked))
        assert result.opens_at == depth
        words = words_of(PLACEMENT, result).replace("\ue001", " ")
        for kind, sign in {"pre": "●", "post": "■", "none": "◆"}.items():
            assert f"{sign} {KEPT.share(kind, 'with', depth):.0%}" in words
        hollow = next(
            trace
            for trace in PLACEMENT.figure(result, "light").data
            if trace.hovertext and {*trace.marker.color} == {"rgba(0,0,0,0)"}
        )
        right = [KEPT.share(kind, "without", depth) for kind in ("pre", "post", "none")]
        np.testing.assert_allclose(hollow.y, 1 - np.array(right), rtol=1e-3)
        for told, share in zip(hollow.hovertext, right, strict=True):
            assert told.endswith(f"norm without warm-up: {share:.0%}")
    lines = [trace for trace in PLACEMENT.figure(result, "light").data if trace.hovertemplate]
    of_errors = [trace for trace in lines if trace.yaxis == "y"]
    for trace, kind in zip(of_errors, dict.fromkeys(kind for kind, _ in KEPT.runs), strict=True):
        right = [KEPT.share(kind, "with", depth) for depth in KEPT.depths]
        np.testing.assert_allclose(trace.y, 1 - np.array(right), rtol=1e-3)
        np.testing.assert_allclose([row[0] for row in trace.customdata], right, rtol=1e-3)
        assert all(low <= mean <= high for mean, low, high, _ in trace.customdata)
    rows = PLACEMENT.table(result).records()
    assert len(rows) == sum(runs.shape[0] * runs.shape[1] * 3 for runs in KEPT.runs.values())
    assert sum(row["chosen"] for row in rows) == 6 * len(KEPT.depths) * 3


QUICK = Settings(method="layer", depth=1, epochs=1, neurons=8)


def test_training_here_is_that_of_the_picture():
    result = PLACEMENTS.compute(QUICK)
    assert [(run.kind, run.warming) for run in result.runs] == list(KEPT.runs)
    for run in result.runs:
        assert run.rate == KEPT.chosen(run.kind, run.warming).rates[0]
        again, end = accuracy.trained(
            run.kind, run.warming, depth=1, rate=run.rate, seed=0, width=8, epochs=1
        )
        np.testing.assert_array_equal(again.losses, run.history.losses)
        assert end == run.run
    words = words_of(PLACEMENTS, result)
    for run in result.runs:
        assert f"{accuracy.KINDS[run.kind]} {result.share(run):.0%}" in words


def test_a_stop_leaves_what_was_trained_and_says_where_it_stopped():
    def stop(done, steps):
        if done >= steps * 0.4:
            raise Stop

    result = PLACEMENTS.compute(QUICK, stop)
    assert len(result.runs) == 3
    assert result.share(result.runs[-1]) is None
    assert "post-norm without warm-up was stopped after step" in words_of(PLACEMENTS, result)
    PLACEMENTS.table(result)


def test_a_run_that_overflows_ends_with_a_sentence_and_has_no_accuracy():
    result = PLACEMENTS.compute(replace(QUICK, rate=1e6, depth=40))
    ended = [run for run in result.runs if run.history.ended]
    assert ended
    assert all(run.run is None for run in ended)
    assert "largest float" in words_of(PLACEMENTS, result)


def test_batch_norm_is_trained_with_the_statistics_of_its_batches_and_of_the_test_cases():
    result = PLACEMENTS.compute(replace(QUICK, method="batch"))
    assert "Test cases share their statistics." in words_of(PLACEMENTS, result)
    run = result.runs[0]
    cases = accuracy.cases_of(0)
    logits = run.history.network.forward(cases.X_test).logits
    assert run.run.test == (logits.argmax(axis=1) == cases.y_test).sum()
    with pytest.raises(Refusal, match="stream, not weights"):
        PLACEMENTS.cost(Settings(method="weight"))
