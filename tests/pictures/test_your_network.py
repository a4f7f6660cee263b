"""The picture of a layer, against the report of the library and NumPy."""

from typing import Any

import numpy as np
import pytest

from normgeo import NORMALIZERS, TrainedLayer, layer_report, load_layer
from normgeo.base.numbers import number
from normgeo.base.refusal import Refusal
from normgeo.checkpoints.examples import EXAMPLES
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.pictures import PICTURES
from normgeo.pictures.your_network.layer import Neurons, neurons
from normgeo.pictures.your_network.layer_figure import _in_percent
from normgeo.settings import Settings

PICTURE = PICTURES["trained_layer"]


def made(**settings: Any) -> tuple[Neurons, Any]:
    result = PICTURE.compute(Settings(**settings))
    return result, PICTURE.figure(result, "light")


def trace(drawn: Any, name: str) -> Any:
    (found,) = [each for each in drawn.data if each.name == name]
    return found


def test_picture_has_the_numbers_of_the_report(subtests: pytest.Subtests) -> None:
    for key in EXAMPLES:
        with subtests.test(key=key):
            here, (result, drawn) = EXAMPLES[key], made(layer=key)
            report = layer_report(
                load_layer([here.path]),
                optimizer=here.optimizer,
                rate=here.rate,
                decay=here.decay,
                batch_size=here.batch_size,
            )
            assert report.angles is not None
            assert report.epsilon is not None
            marks = [each for each in drawn.data if each.customdata is not None]
            seen = {
                h: (x, y)
                for each in marks
                for h, x, y in zip(each["customdata"], each["x"], each["y"], strict=True)
            }
            assert sorted(seen) == list(range(len(report.row_norms)))
            for h, (x, y) in seen.items():
                assert x == pytest.approx(report.row_norms[h])
                assert y == pytest.approx(np.degrees(report.angles[report.block_of[h]]))
            shares = np.sort(report.epsilon.shortened.ravel())[::-1]
            assert result.shorter == pytest.approx(shares)
            third = [each["y"] for each in drawn.data if each.xaxis == "x3"]
            assert third == [pytest.approx(shares)] * result.headline[0].startswith("ε shortens")
            assert result.said


def test_shares_are_in_percent_in_one_form_on_an_axis_and_in_the_sentence_of_a_neuron() -> None:
    result, drawn = made(layer="layer")
    labels = drawn.layout.yaxis3.ticktext
    assert len(labels) > 3
    assert all(label.rstrip("%").replace(".", "").isdigit() for label in labels)
    for label, value in zip(labels, drawn.layout.yaxis3.tickvals, strict=True):
        assert float(label.rstrip("%")) == pytest.approx(100 * value)
    share = result.values["gain_share"][0]
    assert f"share of the gain {100 * share:.2g}%" in result.of_neuron
    assert _in_percent(1e-9, 1e-9) == "10⁻⁷%"


def test_each_layer_begins_with_what_is_particular_about_it() -> None:
    assert made(layer="batch")[0].headline[0] == (
        "1 of 12 neurons is frozen: neuron 11 turns < 0.01° a step."
    )
    result = made(layer="batch")[0]
    assert result.over_balance is not None
    over = number(float(result.over_balance[11]), 3)
    found = f"The weights of neuron 11 are {over} times as long as at its balance ◇"
    assert result.headline[1].startswith(found)
    assert np.flatnonzero(abs(np.log2(result.over_balance)) > 1).tolist() == [11]
    assert result.shorter is not None
    assert not any("ε" in one for one in result.headline), "it shortens z by far less than 1%"
    assert result.shorter.max() < 0.01
    for layer, decays in (("batch", True), ("layer", False)):
        words = [note.text for note in made(layer=layer)[1].layout.annotations]
        assert any("at ◇ both balance" in one for one in words) is decays
        assert any(f"”, with {layer} norm." in one for one in words)
    assert trace(made(layer="batch", neuron=3)[1], "balance: growth = weight decay").text == (
        "neuron 3’s balance",
        "neuron 11’s balance",
    ), "that of the selected neuron, and of the frozen one"
    assert made(layer="layer")[0].headline[0] == (
        "ε shortens z by more than 1% in 200 of 200 cases, by 57% at most."
    )
    assert made(layer="pre_norm")[0].headline[0].startswith("All 12 neurons turn, by 0.24° to")


def test_what_is_not_known_is_told_by_what_it_lacks() -> None:
    def headline(**stated: Any) -> str:
        layer = TrainedLayer("w", np.eye(3), NORMALIZERS["batch"], **stated.pop("layer", {}))
        return " ".join(map(str, neurons(layer_report(layer, **stated), "w", 0).headline))

    assert "is not known without gradients and η." in headline()
    assert "is not known without gradients." in headline(rate=0.1, decay=0.1)
    assert "is not known without η." in headline(layer={"gradient": np.eye(3)})
    shared = TrainedLayer("w", 3 * np.eye(3), NORMALIZERS["layer"], gradient=np.eye(3))
    one = neurons(layer_report(shared, rate=0.1, decay=0.1), "w", 0)
    assert one.over_balance is not None
    assert f"The norm is {number(float(one.over_balance[0]), 2)} times that" in one.headline[0]
    no_decay = "There is no weight decay for growth to balance."
    assert no_decay in headline(rate=0.1)
    assert no_decay not in headline(rate=0.1, decay=0.1)


def test_frozen_neuron_is_marked_by_shape_and_word() -> None:
    result, drawn = made(neuron=11)
    frozen = trace(drawn, "frozen")
    assert result.frozen == [11] == list(frozen["customdata"])
    assert frozen["marker"]["symbol"] == "x"
    (ring,) = [each for each in drawn.data if each.marker.size == 18]
    assert (*ring["text"], *frozen["text"]) == ("<b>neuron 11</b>", ""), "one word at a place"
    assert [*trace(made(neuron=0)[1], "frozen")["text"]] == ["<b>neuron 11</b>"]
    assert frozen["showlegend"]
    assert (ring["x"][0], ring["y"][0]) == (frozen["x"][0], frozen["y"][0])
    assert "Neuron 11, frozen: norm of the row 7.92" in PICTURE.description(result)


def test_what_epsilon_does_is_drawn_where_that_is_the_answer(subtests: pytest.Subtests) -> None:
    """Elsewhere there is no plot of it, and a slide leaves out the sentence too."""
    kept = []
    for key in EXAMPLES:
        with subtests.test(key=key):
            result, drawn = made(layer=key)
            slide, words = drawn.layout.meta["slide"], [n.text for n in drawn.layout.annotations]
            told = {
                changed.get("text", words[int(at)])
                for at in map(str, range(len(words)))
                if (changed := slide["annotations"].get(at, {})).get("visible") is not False
            }
            answers = result.headline[0].startswith("ε shortens")
            assert ("xaxis3" in drawn.layout.to_plotly_json()) is answers
            assert any("ε" in one for one in told) is answers
            kept.append(answers)
    assert {*kept} == {True, False}


def test_balance_is_where_the_optimizer_says() -> None:
    """For gradient descent with decay the angle there is √(2ηλ), to a small angle."""
    result, drawn = made(trained_by="gradient_descent", rate=0.1, decay=0.003)
    assert result.balance is not None
    assert result.balance[1] == pytest.approx(np.degrees(np.sqrt(2 * 0.1 * 0.003)), rel=0.01)
    told = np.union1d(result.frozen, [result.neuron]).astype(int)
    balance, (way, *_) = trace(drawn, "balance: growth = weight decay"), drawn.data
    assert list(balance["x"]) == pytest.approx(result.balance[0][told])
    assert list(balance["y"]) == pytest.approx(result.balance[1][told])
    ends = [(way.x[3 * n : 3 * n + 2], way.y[3 * n : 3 * n + 2]) for n in range(len(told))]
    for h, (x, y) in zip(told, ends, strict=True):
        assert list(x) == pytest.approx([result.values["norm"][h], result.balance[0][h]])
        assert list(y) == pytest.approx([result.values["angle"][h], result.balance[1][h]])


def test_stated_settings_take_the_place_of_those_of_training() -> None:
    """Each of them alone; a small step turns by an angle that goes with its rate."""
    here, usual = EXAMPLES[Settings.layer], np.array(made()[0].values["angle"])
    trained = {name: getattr(here, name) for name in ("optimizer", "rate", "decay", "batch_size")}
    for stated, of_report in (
        ({"rate": 0.03}, {"rate": 0.03}),
        ({"decay": 0.02}, {"decay": 0.02}),
        ({"trained_by": "lion"}, {"optimizer": "lion"}),
    ):
        report = layer_report(load_layer([here.path]), **trained | of_report)
        assert report.angles is not None
        result = made(**stated)[0]
        expected = np.degrees(report.angles[report.block_of])
        assert result.values["angle"] == pytest.approx(expected), stated
        assert np.abs(expected / usual - 1).min() > 0.001, stated
    slow = np.array(made(rate=here.rate / 1e6)[0].values["angle"])
    assert usual / slow == pytest.approx(1e6, rel=0.02)
    large = made(layer_eps=1.0)[0]
    assert large.shorter is not None
    assert large.shorter[0] > 0.05
    result, drawn = made(norm="weight")
    assert result.shorter is None
    assert any("This norm has no ε." in note.text for note in drawn.layout.annotations)


def test_what_cannot_be_is_refused_in_a_sentence() -> None:
    with pytest.raises(Refusal, match="normalizes the weights themselves"):
        PICTURE.compute(Settings(norm="weight", stands="before"))
    with pytest.raises(Refusal, match="must be below 1"):
        PICTURE.compute(Settings(rate=10.0, decay=1.0))


def test_what_turns_less_than_stated_is_frozen() -> None:
    angles = made()[0].values["angle"]
    below = float(np.mean(sorted(angles)[4:6]))
    result, drawn = made(frozen_below=below)
    assert result.frozen == [h for h, angle in enumerate(angles) if angle < below]
    assert len(result.frozen) == 5
    lines = [each for each in drawn.layout.shapes if each.yref in ("y", "y2")]
    assert [line.y0 for line in lines] == [below, below]


def test_each_neuron_has_a_place_of_its_own_and_is_named_there() -> None:
    """Where norms are alike marks of the plane of norm and angle cover each other."""
    result, drawn = made(neuron=3)
    (marks,) = [each for each in drawn.data if each.xaxis == "x2" and each.hovertext is not None]
    assert list(marks.x) == list(range(1, 13))
    assert list(marks.y) == sorted(result.values["angle"])
    named = [int(word) for word in drawn.layout.xaxis2.ticktext]
    assert [result.values["angle"][h] for h in named] == list(marks.y)
    assert [symbol == "x" for symbol in marks.marker.symbol] == [h == 11 for h in named]
    (ring,) = [each for each in drawn.data if each.xaxis == "x2" and each.marker.size == 16]
    assert named[ring.x[0] - 1] == 3


def test_small_angles_are_as_small_as_their_rate(subtests: pytest.Subtests) -> None:
    for optimizer in OPTIMIZERS:
        usual, *others = (
            np.array(
                PICTURE.compute(Settings(rate=rate, trained_by=optimizer)).values["angle"],
                dtype=float,
            )
            / rate
            for rate in (1e-6, 1e-300, 1e-200, 1e-30, 1e-20)
        )
        for small in others:
            with subtests.test(optimizer=optimizer):
                np.testing.assert_allclose(small, usual, rtol=1e-3)


def test_marks_fill_their_panel_at_every_rate(subtests: pytest.Subtests) -> None:
    """What is beside them, far away, must not push them into a corner."""
    for rate in [1e-320, 1e-300, 1e-30, 0.1, 1e6]:
        with subtests.test(rate=rate):
            result, drawn = made(rate=rate, decay=min(0.003, 0.1 / rate))
            seen = [each for each in drawn.data if each.customdata is not None]
            for letter in "xy":
                low, high = drawn.layout[f"{letter}axis"].range
                assert -305 < low < high < 305
                assert all(
                    low <= np.log10(t) <= high for t in drawn.layout[f"{letter}axis"].tickvals
                )
                places = np.log10(np.concatenate([each[letter] for each in seen]))
                if letter == "y" and rate < 1e-304:
                    assert np.isnan(places).all(), "too small for double precision to go around"
                else:
                    assert low < places.min() <= places.max() < high
                    assert high - low < places.max() - places.min() + 6
            said = [each for each in drawn.layout.annotations if "frozen: below" in each.text]
            assert [each.yref for each in said] == ["y", "y2"], "each plot says what its line is"
            line = min(np.log10(result.frozen_below), drawn.layout.yaxis.range[1])
            assert [each.y for each in said] == [line] * 2


def test_where_nothing_is_known_of_epsilon_a_sentence_stands_alone() -> None:
    result, drawn = made(norm="weight", stands="after")
    assert result.shorter is None
    assert "xaxis3" not in drawn.layout.to_plotly_json()
    assert any("This norm has no ε." in each.text for each in drawn.layout.annotations)
