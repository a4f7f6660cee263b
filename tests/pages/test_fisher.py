"""Fisher: the shape of parameter space, standard beside normalized."""

import re

import pytest

from normgeo.datasets.datasets import DATASETS
from normgeo.normalizers.named import NORMALIZERS
from normgeo.ui.fisher import TABS

QUESTION = "What is the shape of parameter space?"


def test_default_is_standard_beside_batch_norm_on_digits_one_against_the_rest(shown):
    page = shown("fisher")
    assert page.app.title[0].value == QUESTION
    assert page.app.selectbox(key="method").value == "batch"
    assert page.query == {}
    words = page.captions("fisher")
    assert "expected Fisher information, per case, exact coupling; N = 1,797, φ = 1" in words
    assert "Digits, Bernoulli outputs, H = 10, D = 61" in words
    assert words.index("<b>standard</b>") < words.index("<b>batch norm</b>")
    assert words.count("0% of ‖F‖² between neurons") == 2
    assert "each class against the rest" in page.words
    assert page.figures == ["fisher", "equal_kl"]
    assert len(page.app.get("plotly_chart")[0].proto.spec) < 250_000


def test_formula_has_todays_numbers(shown):
    page = shown("fisher", dataset="wine", method="layer")
    (line,) = [words for words in page.words.splitlines() if "KL ≈ ½ δᵀFδ (Eq. 8)" in words]
    trace, rest = line.split("½ · 0.1² · ")[2].split("/")
    count, nats = rest.split(" nats")[0].split(" = ")
    assert float(nats) == pytest.approx(0.005 * float(trace) / int(count), rel=0.05)


def test_pair_of_neurons_is_in_the_url_and_in_the_picture(shown):
    page = shown("fisher", dataset="wine", method="layer", neuron="2", other="1")
    words = page.captions("fisher")
    assert words.count("block of neurons 2 and 1") == 2
    assert "standard: neurons 2 and 1 share no curvature" in page.words
    page.app.number_input(key="other").set_value(3).run()
    assert page.query["other"] == "3"
    assert page.captions("fisher").count("block of neurons 2 and 3") == 2


def test_layer_norm_shares_curvature_between_neurons(shown):
    words = shown("fisher", dataset="wine", method="layer").captions("fisher")
    assert "0% of ‖F‖² between neurons" in words
    assert words.count("0% of ‖F‖² between neurons") == 1


def test_standard_model_stands_alone(shown):
    page = shown("fisher", dataset="wine", method="standard")
    assert page.captions("fisher").count("of ‖F‖² between neurons") == 1
    assert len(page.figure("fisher")["data"]) == 6


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("method", ["batch", "layer", "standard"])
def test_every_tab_has_its_picture(shown, tab, method):
    page = shown("fisher", dataset="iris", tab=tab, method=method)
    assert page.figures == ["fisher"] + ([tab] if tab != "equation" else [])
    assert [info.value for info in page.app.info] == []


def test_equation_13_tab_tells_how_far_it_is_off(shown):
    words = shown("fisher", dataset="wine", tab="eq13", method="layer").captions("eq13")
    assert "Eq. 13 is off by" in words
    assert "no statistic is shared" not in words
    words = shown("fisher", dataset="wine", tab="eq13").captions("eq13")
    assert "they agree: no statistic is shared by neurons" in words


def test_magnitude_tab_tells_what_does_not_change_and_what_is_printed_too_large(shown):
    words = shown("fisher", dataset="wine", tab="magnitude").captions("magnitude")
    still, off = words.splitlines()[0], words.splitlines()[1]
    assert "batch norm" in still
    assert "layer norm" in still
    assert "weight norm" not in still
    assert "batch norm" in off
    words = shown("fisher", dataset="diabetes", tab="magnitude").captions("magnitude")
    assert "as printed is exact for all of them" in words


def test_equation_tab_has_the_kl_beside_its_quadratic_form(shown):
    page = shown("fisher", dataset="wine", tab="equation")
    (table,) = [latex.value for latex in page.app.latex if "{array}" in latex.value]
    number = r"(-?[0-9.]+(?: \\cdot 10\^\{-?\d+\})?)"
    pairs = re.findall(rf"= {number} & \\mathrm\{{KL\}} = {number}", table)
    assert len(pairs) == 6
    both = [[float(re.sub(r" .cdot 10\^\{(-?\d+)\}", r"e\1", v)) for v in pair] for pair in pairs]
    for quadratic, kl in both:
        assert kl == pytest.approx(quadratic, rel=0.3)
    assert both.count([0, 0]) == 1  # along ŵ of batch norm
    assert "Eq. 10 and 11, Bernoulli, case 0, neuron 0" in page.words


@pytest.mark.parametrize("method", NORMALIZERS)
def test_every_method_has_a_picture(shown, method):
    page = shown("fisher", dataset="wine", method=method, groups="2", neurons="6")
    assert page.figures[0] == "fisher"


@pytest.mark.parametrize("dataset", [key for key in DATASETS if key != "digits"])
def test_every_data_set_has_a_picture_in_both_themes(shown, dataset):
    page = shown("fisher", dataset=dataset, theme="dark")
    assert page.figures == ["fisher", "equal_kl"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"neurons": "1", "method": "layer"}, "needs at least 2 of them per group; got 1"),
        ({"neurons": "40"}, "2,520"),
        ({"neuron": "77"}, "Neurons are numbered from 0 to 9; got the pair (77, 0)."),
    ],
    ids=["one neuron", "too many parameters", "no such neuron"],
)
def test_no_picture_is_a_sentence(shown, query, words):
    page = shown("fisher", **query)
    assert page.figures == []
    assert words in page.app.info[0].value


def test_two_neurons_under_layer_norm_have_no_ellipse_and_it_says_why(shown):
    page = shown("fisher", dataset="wine", neurons="2", method="layer")
    assert page.figures == ["fisher"]
    assert "z = ±1" in page.app.info[0].value


def test_one_neuron_and_one_plane(shown):
    page = shown("fisher", dataset="plane", neurons="1")
    assert page.figures == ["fisher", "equal_kl"]
    values = [t["z"] for t in page.figure("fisher")["data"] if t["visible"]]
    assert len(values) == 4
