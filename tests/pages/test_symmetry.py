"""Symmetry: null directions counted, by formula, and explained."""

import pytest

from normgeo.datasets.datasets import DATASETS

QUESTION = "Which directions in weight space does the model not see?"


def bars(page) -> list[float]:
    (trace,) = [t for t in page.figure("symmetry")["data"] if t["type"] == "bar"]
    return trace["x"]


def row(page, name: str) -> list[str]:
    """The row of the table in the open tab that has this name in its first or second column."""
    lines = [line for words in page.app.markdown for line in words.value.splitlines()]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    (found,) = [cells for cells in rows if name in cells[:1] or name in cells[1:2]]
    return found


def test_default_is_batch_norm_on_digits_one_against_the_rest(shown):
    page = shown("symmetry")
    assert page.app.title[0].value == QUESTION
    assert page.app.selectbox(key="method").value == "batch"
    assert page.query == {}
    words = page.captions("symmetry")
    assert "<b>10 of 610 directions are null</b><br>by formula H = 10 ✓" in words
    assert "expected Fisher information, per case, exact coupling; N = 1,797, φ = 1" in words
    assert "Bernoulli outputs, H = 10, D = 61" in words
    assert bars(page) == [1, 9, 0]
    assert "each class against the rest" in page.words
    assert len(page.app.get("plotly_chart")[0].proto.spec) < 300_000


def test_layer_norm_has_its_shifts_and_its_scale(shown):
    page = shown("symmetry", method="layer")
    words = page.captions("symmetry")
    assert "<b>62 of 610 directions are null</b><br>by formula GD + G = 61 + 1 = 62 ✓" in words
    assert bars(page) == [1, 61, 0]
    assert row(page, "weight matrix re-centering")[:4] == [
        "✓",
        "weight matrix re-centering",
        "61",
        "61",
    ]
    assert row(page, "weight vector re-scaling")[:5] == [
        "✗",
        "weight vector re-scaling",
        "10",
        "0",
        "81°",
    ]


def test_method_goes_into_the_url_and_changes_the_picture(shown):
    page = shown("symmetry", dataset="iris")
    page.app.selectbox(key="method").set_value("standard").run()
    assert page.query == {"dataset": "iris", "method": "standard"}
    assert "<b>0 of 16 directions are null</b><br>by formula 0 ✓" in page.captions("symmetry")
    assert "Every direction changes the model" in page.captions("symmetry")


def test_softmax_is_a_reason_where_it_is_asked_for(shown):
    page = shown("symmetry", dataset="wine", family="categorical", method="batch")
    words = page.captions("symmetry")
    assert "by formula H + max(0, D − H) = 4 + 9 = 13 ✓" in words
    assert "the softmax" in words
    assert bars(page) == [1, 3, 9, 0]
    assert "each class against the rest" not in page.words


def test_formula_tab_has_all_sixteen_methods(shown):
    page = shown("symmetry", dataset="wine", method="layer", tab="formula")
    assert row(page, "neurons (layer)") == ["neurons (layer)", "13", "14", "▸ 14", "14"]
    assert row(page, "cases (batch)")[1:] == ["0", "4", "1", "4"]
    assert row(page, "features (weight)") == ["features (weight)", "4", "8", "5", "8"]
    assert "for H = 4 neurons, D = 13 features, G = 1 groups of K = 4" in page.words


@pytest.mark.parametrize(
    ("method", "exact", "paper"), [("layer", 14, 0), ("rms", 1, 0), ("batch", 4, 4)]
)
def test_eq_13_does_not_see_the_symmetries_of_layer_statistics(shown, method, exact, paper):
    page = shown("symmetry", dataset="wine", method=method, tab="coupling")
    names = [trace["name"] for trace in page.figure("coupling")["data"]]
    assert names == [f"exact: {exact} null directions", f"Eq. 13: {paper} null directions"]
    assert f"null directions, Eq. 13 has {paper}." in page.words or exact == paper


def test_epsilon_leaves_the_directions_of_the_center_only(shown):
    page = shown("symmetry", dataset="wine", method="layer", eps="0.1")
    assert "13 of 52 directions are null</b><br>by formula GD = 13 ✓" in page.captions("symmetry")
    assert "D = 13, G = 1, ε = 0.1" in page.captions("symmetry")


def test_two_neurons_under_layer_norm_leave_nothing_to_see(shown):
    page = shown("symmetry", dataset="breast_cancer", neurons="2", method="layer")
    words = page.captions("symmetry")
    assert "60 of 60 directions are null" in words
    assert "only signs are left" in words
    assert "of the size of rounding errors" in words


@pytest.mark.parametrize(
    ("query", "words"),
    [({"neurons": "1", "method": "layer"}, "neuron"), ({"neurons": "40"}, "2,440")],
    ids=["one neuron", "too many weights"],
)
def test_no_picture_is_a_sentence(shown, query, words):
    page = shown("symmetry", **query)
    assert page.figures == []
    assert words in page.app.info[0].value


@pytest.mark.parametrize("dataset", [key for key in DATASETS if key != "digits"])
def test_every_data_set_has_a_picture_in_both_themes(shown, dataset):
    page = shown("symmetry", dataset=dataset, theme="dark")
    assert page.figures == ["symmetry"]
    assert sum(bars(page)) == int(page.captions("symmetry").split(" directions")[0].split()[-3][3:])


def test_a_change_that_only_the_softmax_ignores_is_marked_as_null(shown):
    page = shown("symmetry", dataset="wine", family="categorical", method="standard", tab="angles")
    assert row(page, "weight matrix re-centering")[0] == "✓"
    assert "z changes, but the distribution of y does not." in page.words
    assert row(page, "weight matrix re-scaling")[0] == "✗"
