"""Symmetry: null directions counted, by formula, and explained."""

import re
from dataclasses import replace

import pytest

from normgeo import NORMALIZERS, TRANSFORMS
from normgeo.base.progress import Progress
from normgeo.datasets.datasets import DATASETS
from normgeo.pictures.symmetry.null_directions import null_directions
from normgeo.settings import Settings
from normgeo.tables.marks import in_markdown
from tests.pairwise import some

QUESTION = "Which directions in weight space does the model not see?"
SINGULAR = "directions change nothing: the Fisher matrix F is singular"

YES, NO = in_markdown("✓", "light"), in_markdown("✗", "light")  # drawn, as everywhere


def bars(page) -> list[float]:
    (trace,) = [t for t in page.figure("symmetry")["data"] if t["type"] == "bar"]
    return trace["x"]


def head(page) -> str:
    """The headline of the main picture, and its foot."""
    notes = page.figure("walk")["layout"]["annotations"]
    words: str = "<br>".join(note["text"] for note in notes)
    return words.replace("\N{NO-BREAK SPACE}", " ")


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
    assert page.figures == ["walk"]
    assert f"<b>10 of 610 {SINGULAR}</b>" in head(page)
    assert "Bernoulli outputs, H = 10 neurons, D = 61 features" in head(page)
    assert "the formula gives the same: H = 10" in head(page)
    words = page.captions("walk")
    assert "<b>1</b> by weight matrix re-scaling" in words
    assert "<b>10</b> in all by weight vector re-scaling" in words
    assert "<b>KL = 0:</b>" in words
    assert "each class against the rest" in page.words
    assert len(page.sent(page.figures[0])["figure"]) < 150_000


def test_singular_values_and_reasons_stand_in_a_tab(shown):
    page = shown("symmetry", tab="spectrum")
    words = page.captions("symmetry")
    assert "<b>10 of 610 directions are null</b><br>the formula gives the same: H = 10" in words
    assert "expected Fisher information, per case; N = 1,797, dispersion φ = 1" in words
    assert "Bernoulli outputs, H = 10 neurons, D = 61 features" in words
    assert bars(page) == [1, 9, 0]


@pytest.mark.exhaustive
def test_the_reason_that_is_walked_along_is_chosen_by_name(shown):
    page = shown("symmetry", dataset="wine", method="layer")
    select = page.app.selectbox(key="along")
    assert select.options == ["along weight matrix re-scaling", "along weight matrix re-centering"]
    select.set_value("weight_matrix_recentering").run()
    assert page.query["along"] == "weight_matrix_recentering"
    assert "every w + γ, which the norm subtracts" in page.captions("walk")


def test_a_reason_that_is_not_there_is_told(shown):
    page = shown("symmetry", dataset="wine", method="layer", along="softmax", walk="-0.5")
    assert "No null direction here has the reason" in page.words
    assert "every w × 0.5 (= 1 + r): the norm divides it out" in page.captions("walk")


def test_groups_are_named_where_one_of_them_moves(shown):
    page = shown("symmetry", dataset="wine", method="group", neurons="6")
    assert "w of neurons 0 to 2 × 2 (= 1 + r)" in page.captions("walk")
    assert "every w" not in page.captions("walk")


def test_one_neuron_has_its_picture_where_a_method_needs_no_second_one(shown):
    page = shown("symmetry", dataset="diabetes", neurons="1", method="weight", tab="formula")
    assert f"<b>1 of 10 {SINGULAR}</b>" in head(page)
    assert row(page, "cases (batch)")[1:] == ["0", "1", "no z", "1"]


def test_the_method_is_named_over_its_walk(shown):
    """Beside the headline stands the choice of a direction: it has no room for a name."""
    page = shown("symmetry", dataset="wine", method="mean_only_batch_weight")
    assert re.search(rf"<b>\d+ of 52 {SINGULAR}</b>", head(page))
    assert "of mean-only batch + weight norm" in page.captions("walk")


def test_layer_norm_has_its_shifts_and_its_scale(shown):
    page = shown("symmetry", method="layer")
    assert f"<b>62 of 610 {SINGULAR}</b>" in head(page)
    assert "the formula gives the same: GD + G = 61 + 1 = 62" in head(page)
    assert "<b>61</b> more by weight matrix re-centering" in page.captions("walk")
    assert row(page, f"{YES} weight matrix re-centering")[1:] == ["61 of 61", "0°"]
    assert row(page, f"{NO} weight vector re-scaling")[1:] == ["1 of 10", "81°"]


def test_what_float64_cannot_decide_stands_in_the_first_line_and_below(shown):
    """Only a re-scaling would show ε: 1e-30 is far below the rounding of σ²."""
    page = shown("symmetry", method="layer", dataset="iris", family="categorical", eps="1e-30")
    assert "<b>4 of 16 directions change nothing, 1 undecided; F is singular</b>" in head(page)
    assert "1 of the directions cannot be decided in float64: of 5 with an effect" in page.words


def test_method_goes_into_the_url_and_changes_the_picture(shown):
    page = shown("symmetry", dataset="iris")
    page.app.selectbox(key="method").set_value("standard").run()
    assert page.query == {"dataset": "iris", "method": "standard"}
    assert "<b>The Fisher matrix is regular: every direction changes something</b>" in head(page)
    assert "Along a null direction" not in page.captions("walk")
    assert "along" not in [select.key for select in page.app.selectbox]


def test_softmax_is_a_reason_where_it_is_asked_for(shown):
    page = shown("symmetry", dataset="wine", family="categorical", method="batch")
    assert "the formula gives the same: H + max(0, D − H) = 4 + 9 = 13" in head(page)
    assert "<b>9</b> more by the softmax" in page.captions("walk")
    assert "each class against the rest" not in page.words


@pytest.mark.exhaustive
def test_softmax_is_offered_where_it_adds_null_directions(shown, subtests):
    """The oracle is the null space itself, of independent outputs and of a softmax."""
    for method in NORMALIZERS:
        with subtests.test(method=method):
            settings = Settings(dataset="iris", method=method, neurons=3, groups=1)
            apart = null_directions(settings, Progress())
            coupled = null_directions(replace(settings, family="categorical"), Progress())
            added = coupled.null.dimension - apart.null.dimension
            offered = [note for note in apart.notes if "Choose “categorical”" in note]
            assert len(offered) == (added > 0)
            assert all(f"adds {added} to the null directions" in note for note in offered)


def test_changes_of_the_weights_are_not_said_to_be_all_of_table_1(shown):
    table = shown("symmetry", dataset="iris", method="layer", tab="angles").words
    for change in TRANSFORMS.values():
        assert (change.label in table) == (change.matrix == "W")
    assert "change of W" in table
    assert "change of Table 1" not in table


def test_formula_tab_has_all_sixteen_methods(shown):
    page = shown("symmetry", dataset="wine", method="layer", tab="formula")
    assert row(page, "neurons (layer)") == ["neurons (layer)", "13", "14", "▸ 14", "14"]
    assert row(page, "cases (batch)")[1:] == ["0", "4", "1", "4"]
    assert row(page, "features (weight)") == ["features (weight)", "4", "8", "5", "8"]
    assert "for H = 4 neurons, D = 13 features, G = 1 groups of K = 4" in page.words


@pytest.mark.exhaustive
def test_eq_13_does_not_see_the_symmetries_of_layer_statistics(shown, subtests):
    for method, exact, paper in [("layer", 14, 0), ("rms", 1, 0), ("batch", 4, 4)]:
        with subtests.test(method=method, exact=exact, paper=paper):
            page = shown("symmetry", dataset="wine", method=method, tab="coupling")
            names = [trace["name"] for trace in page.figure("coupling")["data"]]
            assert names == [f"exact: {exact} null directions", f"Eq. 13: {paper} null directions"]
            assert f"null directions, Eq. 13 has {paper}." in page.words or exact == paper


def test_epsilon_leaves_the_directions_of_the_center_only(shown):
    page = shown("symmetry", dataset="wine", method="layer", eps="0.1")
    assert f"13 of 52 {SINGULAR}" in head(page)
    assert "the formula gives the same: GD = 13" in head(page)
    assert "D = 13 features, G = 1, ε = 0.1" in head(page)


def test_two_neurons_under_layer_norm_leave_nothing_to_see(shown):
    page = shown("symmetry", dataset="breast_cancer", neurons="2", method="layer", tab="spectrum")
    assert f"60 of 60 {SINGULAR}" in head(page)
    words = page.captions("symmetry")
    assert "60 of 60 directions are null" in words
    assert "only signs are left" in words
    assert "as small as rounding errors" in words


def test_no_picture_is_a_sentence(shown, subtests):
    for query, words in [
        ({"neurons": "1", "method": "layer"}, "neuron"),
        ({"neurons": "40"}, "2,440"),
    ]:
        with subtests.test(query=query, words=words):
            page = shown("symmetry", **query)
            assert page.figures == []
            assert words in page.app.info[0].value


@pytest.mark.exhaustive
@pytest.mark.parametrize("datasets", some([key for key in DATASETS if key != "digits"], 4))
def test_every_data_set_has_a_picture(shown, datasets, subtests):
    for dataset in datasets:
        with subtests.test(dataset=dataset):
            page = shown("symmetry", dataset=dataset, tab="spectrum")
            assert page.figures == ["walk", "symmetry"]
            assert sum(bars(page)) == int(
                page.captions("symmetry").split(" directions")[0].split()[-3][3:]
            )


def test_a_change_that_only_the_softmax_ignores_is_marked_as_null(shown):
    page = shown("symmetry", dataset="wine", family="categorical", method="standard", tab="angles")
    assert row(page, f"{YES} weight matrix re-centering")
    assert "z changes, but the distribution of y does not." in page.words
    assert row(page, f"{NO} weight matrix re-scaling")
