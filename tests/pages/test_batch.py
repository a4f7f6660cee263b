"""The Batch page: what it shows, found by key."""

import pytest

from normgeo.base.numbers import number
from normgeo.normalizers.batch_statistics import ONE_CASE, TWO_CASES
from normgeo.pictures import PICTURES
from normgeo.settings import Settings


def test_page_answers_with_the_shapes_of_all_four_methods(shown):
    page = shown("batch")
    assert page.app.title[0].value == "What does a small batch cost, and why?"
    assert page.figures == ["axes", "noise"]
    words = page.captions("axes")
    for method in ("batch norm", "layer norm", "instance norm", "group norm"):
        assert f">{method}</b>" in words
    for part in ("μ per neuron", "of 8 numbers", "μ per case, group", "of 4 numbers"):
        assert part in words
    accuracy = PICTURES["axes"].compute(Settings()).told("layer", 2)[0]
    assert f"layer norm {accuracy:.0%}" in words
    assert page.app.get("exception") == []


@pytest.mark.usefixtures("nothing_kept")
def test_slider_opens_at_the_batch_size_of_the_url(shown):
    page = shown("batch", batch_size="1")
    steps = page.figure("axes")["layout"]["meta"]["steps"]
    assert steps["labels"][steps["start"]] == "1"
    assert "σ = 0: no z" in page.captions("axes")


def test_batch_of_one_is_explained(shown):
    page = shown("batch")
    assert ONE_CASE in page.words
    assert "computed without the batch" in page.captions("noise")


def test_batch_of_two_is_explained_and_so_is_how_far_to_trust_the_prediction(shown):
    page = shown("batch")
    assert TWO_CASES in page.words
    records = PICTURES["noise"].table(PICTURES["noise"].compute(Settings())).records()
    ratio = {r["batch"]: r["predicted_sigma_error"] / (r["sigma_error"] or 1) for r in records}
    assert ratio[2] > 1.3  # the digits have heavy tails, and the sentence says so
    assert (
        f"Compared with what is measured it is {ratio[2]:.2f} times at m = 2, {ratio[16]:.2f} "
        "times at m = 16, and within 10% of it from m = "
    ) in page.words


def test_equation_has_the_numbers_of_the_figure(shown):
    page = shown("batch", tab="equation", batch_size="4")
    (fractions,) = [e.value for e in page.app.latex if "batch norm" in e.value]
    assert fractions.count(r"\frac") == 3
    assert r"\sigma = 0" in fractions, "of instance norm, a number each"
    z = PICTURES["axes"].compute(Settings(batch_size=4)).panels[4]["batch"].entry.z
    assert f"= {z:.3g}" in fractions
    assert f"<b>z of ○ = {number(z)}</b>" in page.captions("axes")


def test_images_are_a_tab_and_data_without_images_a_sentence(shown):
    page = shown("batch", tab="images", batch_size="4")
    assert page.figures == ["axes", "channels"]
    z = PICTURES["channels"].compute(Settings(batch_size=4)).panels[4]["batch"].entry.z
    for part in ("μ per channel", "of 144 pixels", "of 72 pixels", f"z of ○ = {number(z)}"):
        assert part in page.captions("channels")
    page = shown("batch", tab="images", dataset="iris")
    assert page.figures == ["axes"]
    assert "Channels are those of images, and Iris has none: choose the digits." in page.words


@pytest.mark.usefixtures("nothing_kept")
def test_a_click_on_a_size_runs_the_training_in_such_batches(shown):
    page = shown("batch", dataset="iris", epochs="1")
    (sizes,) = page.app.button_group
    assert sizes.options == [str(m) for m in (1, 2, 4, 8, 16, 32, 64)]
    sizes.set_value(8).run()
    assert page.query == {"dataset": "iris", "epochs": "1", "batch_size": "8", "tab": "network"}
    assert page.figures == ["axes", "training"]
    assert "batches of 8" in page.captions("training")


@pytest.mark.usefixtures("nothing_kept")
def test_a_size_without_a_frame_opens_at_the_nearest_and_says_so(shown):
    page = shown("batch", batch_size="5", tab="equation")
    steps = page.figure("axes")["layout"]["meta"]["steps"]
    assert steps["labels"][steps["start"]] == "4"
    assert steps["setting"] == "batch_size"
    (told,) = [info.value for info in page.app.info]
    assert told.startswith("The slider has no step at m = 5, so it opens at the nearest, m = 4.")


def test_a_size_with_a_frame_needs_no_words(shown, subtests):
    for size in ["1", "128"]:
        with subtests.test(size=size):
            assert not shown("batch", batch_size=size, tab="equation").app.info


@pytest.mark.usefixtures("nothing_kept")
def test_training_starts_by_a_button_and_stays(shown):
    page = shown("batch", tab="network", dataset="iris", epochs="2")
    assert page.figures == ["axes"]
    page.app.button(key="start_training").click().run()
    assert page.figures == ["axes", "training"]
    assert "batches of 2" in page.captions("training")
    assert "start_training" not in {button.key for button in page.app.button}
    page.app.run()
    assert page.figures == ["axes", "training"]


@pytest.mark.usefixtures("nothing_kept")
def test_training_after_the_slider_moved_is_of_the_size_that_it_shows(shown):
    page = shown("batch", tab="network", dataset="iris", epochs="2", batch_size="2")
    assert "in batches of 128 and of as many cases as at the slider" in page.words
    page.app.query_params["batch_size"] = "8"  # as the slider writes it
    page.app.button(key="start_training").click().run()
    assert page.figures == ["axes", "training"]
    assert "<b>batches of 8</b>" in page.captions("training")


@pytest.mark.usefixtures("nothing_kept")
def test_trained_once_it_is_there_for_the_next_session(shown):
    query = {"tab": "network", "dataset": "wine", "epochs": "1"}
    shown("batch", **query).app.button(key="start_training").click().run()
    assert shown("batch", **query).figures == ["axes", "training"]


@pytest.mark.usefixtures("nothing_kept")
def test_other_settings_ask_for_another_training(shown):
    page = shown("batch", tab="network", dataset="iris", epochs="2")
    page.app.button(key="start_training").click().run()
    page.app.number_input(key="seed").set_value(7).run()
    assert page.query["seed"] == "7"
    assert page.figures == ["axes"]
    assert not page.app.button(key="start_training").disabled


@pytest.mark.usefixtures("nothing_kept")
def test_data_without_classes_is_a_sentence(shown):
    page = shown("batch", tab="network", dataset="diabetes")
    assert "Diabetes has no classes to tell apart, so there is no accuracy." in page.words
    page.app.button(key="start_training").click().run()
    assert "has none: choose the digits, iris or wine." in page.words
    assert not page.app.button_group


def test_bad_value_is_named_and_the_page_still_works(shown, subtests):
    for name, value, rule in [
        ("batch_size", "0", "a whole number from 1 to 128"),
        ("epochs", "many", "a whole number from 1 to 50"),
        ("dataset", "cats", "one of digits"),
    ]:
        with subtests.test(name=name, value=value, rule=rule):
            page = shown("batch", **{name: value})
            (warning,) = page.warnings
            assert f"`{name}` must be {rule}" in warning
            assert repr(value) in warning
            assert page.figures == ["axes", "noise"]


@pytest.mark.exhaustive
def test_other_data_have_their_pictures(shown, subtests):
    for dataset in ["plane", "linnerud", "breast_cancer"]:
        with subtests.test(dataset=dataset):
            assert shown("batch", dataset=dataset).figures == ["axes", "noise"]
