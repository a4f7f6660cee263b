"""Fisher: the shape of parameter space, standard beside normalized."""

import re
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from normgeo.datasets.datasets import DATASETS
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures.fisher.base_point import BasePoints
from normgeo.settings import Settings
from normgeo.ui import url
from normgeo.ui.fisher import TABS
from tests.pairwise import loops, some

QUESTION = "How far can the weights move unnoticed?"


def test_default_is_the_wedge_of_layer_norm_beside_the_ellipse_of_the_standard_model(shown):
    page = shown("fisher")
    assert page.app.title[0].value == QUESTION
    assert page.app.selectbox(key="method").value == "layer"
    assert page.query == {}
    assert page.figures == ["equal_kl"]
    words = page.captions("equal_kl").replace("\N{NO-BREAK SPACE}", " ")
    assert "expected Fisher information, per case; N = 1,797, dispersion φ = 1" in words
    assert "Digits, Bernoulli outputs, H = 10 neurons, D = 61 features" in words
    assert words.index("<b>an ellipse</b>") < words.index("<b>a wedge, </b>")
    assert "each class against the rest" in page.words


def test_tab_that_explains_a_picture_says_so_where_there_is_none(shown):
    page = shown("fisher", neurons="2")
    assert page.figures == []
    assert "Choose another method, more neurons or other weights." in page.words
    assert "Once there is a picture above, this tab explains it." in page.words


def test_blocks_of_both_models_stand_beside_each_other_in_figures_of_few_bytes(shown):
    page = shown("fisher", tab="blocks")
    assert page.figures == ["equal_kl", "fisher"]
    blocks = page.captions("fisher")
    assert blocks.index("<b>standard</b>") < blocks.index("<b>layer norm</b>")
    assert "each class against the rest" in page.words
    sizes = [len(page.sent(name)["figure"]) for name in page.figures]
    assert max(sizes) < 130_000
    assert sum(sizes) < 150_000


@pytest.mark.usefixtures("uncomputed")
def test_default_method_of_the_page_is_its_own_and_leaves_the_others_alone(shown):
    page = shown("fisher")
    page.open("learning_rate")
    assert page.app.selectbox(key="method").value == "batch"
    page.open("fisher")
    assert page.app.selectbox(key="method").value == "layer"
    assert "method" not in page.query


@pytest.mark.usefixtures("uncomputed")
def test_method_that_the_url_names_is_kept_on_the_page_and_goes_along(shown, subtests):
    for method in ["batch", "layer"]:
        with subtests.test(method=method):
            page = shown("fisher", method=method, dataset="wine")
            assert page.app.selectbox(key="method").value == method
            page.app.selectbox(key="dataset").set_value("iris").run()
            assert page.query["method"] == method
            page.open("learning_rate")
            assert page.app.selectbox(key="method").value == method


@pytest.mark.usefixtures("uncomputed")
def test_method_that_is_chosen_stands_in_the_url_even_if_it_is_a_default(shown):
    page = shown("fisher", dataset="wine")
    for method in ("batch", "layer"):
        page.app.selectbox(key="method").set_value(method).run()
        assert page.query["method"] == method
        assert page.app.selectbox(key="method").value == method
    page.app.selectbox(key="dataset").set_value("iris").run()
    assert page.query["method"] == "layer"


@pytest.mark.usefixtures("uncomputed")
def test_bad_method_is_replaced_by_the_default_of_the_page(shown):
    page = shown("fisher", method="nothing", dataset="wine")
    assert page.app.selectbox(key="method").value == "layer"
    assert "The default, layer, is used instead." in page.app.warning[0].value


@pytest.mark.parametrize("method", ["batch", "layer"])
def test_link_back_in_an_export_names_the_method(monkeypatch, method):
    """A default of other pages is no default on a page with its own."""
    context = SimpleNamespace(url="https://host/fisher?dataset=wine")
    state = SimpleNamespace(get=lambda name, default: {"method": "layer"})
    monkeypatch.setattr(url, "st", SimpleNamespace(context=context, session_state=state))
    link = url.link(Settings(dataset="wine", method=method))
    query = dict(parse_qsl(urlsplit(link).query))
    assert query == {"dataset": "wine", "method": method}


def test_links_of_earlier_versions_show_the_same_picture(shown):
    page = shown("fisher", method="batch", tab="equal_kl", dataset="wine")
    assert page.figures == ["equal_kl"]
    assert len(page.app.warning) == 0


def test_formula_has_todays_numbers(shown):
    page = shown("fisher", dataset="wine", method="layer", tab="blocks")
    (line,) = [words for words in page.words.splitlines() if "KL ≈ ½ δᵀFδ (Eq. 8)" in words]
    trace, rest = line.split("½ · 0.1² · ")[2].split("/")
    count, nats = rest.split(" nats")[0].split(" = ")
    assert float(nats) == pytest.approx(0.005 * float(trace) / int(count), rel=0.05)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_page_says_whether_f_is_singular_and_leads_to_the_reasons(shown):
    """The count agrees with the dense matrix, also where ε leaves a trace along w alone."""
    for method, eps in (("layer", "0"), ("layer", "0.01"), ("batch", "0.01"), ("standard", "0")):
        page = shown("fisher", dataset="wine", method=method, neurons="4", eps=eps)
        settings = Settings(dataset="wine", method=method, neurons=4, eps=float(eps))
        point = BasePoints.of(settings).points[-1]
        model = point.data.model
        gains = None if model.g is None else np.zeros_like(model.g)
        weights = model.layout.pack(np.ones_like(model.W), np.zeros_like(model.b), gains) > 0
        F = point.around.F.to_dense()[weights][:, weights]
        size = np.linalg.norm(F, 2)
        count = len(F) - np.linalg.matrix_rank(F, tol=1e-10 * size, hermitian=True)
        said = f"singular: by formula, {count} of its 52 directions" if count else "regular"
        assert f"F of the weights is {said}" in page.words
        (link,) = (one.proto.query_string for one in page.app.get("page_link"))
        kept = {"method": "batch", "eps": "0"} | dict(parse_qsl(link))  # the page's own defaults
        assert kept == {"dataset": "wine", "method": method, "neurons": "4", "eps": eps}


def test_pair_of_neurons_is_in_the_url_and_in_the_picture(shown):
    page = shown("fisher", dataset="wine", method="layer", tab="blocks", neuron="2", other="1")
    words = page.captions("fisher")
    assert words.count("block of neurons 2 and 1") == 2
    assert "standard: neurons 2 and 1 share no curvature" in page.words
    page.app.selectbox(key="other").set_value(3).run()
    assert page.query["other"] == "3"
    assert page.captions("fisher").count("block of neurons 2 and 3") == 2


def test_layer_norm_shares_curvature_between_neurons(shown):
    words = shown("fisher", dataset="wine", method="layer", tab="blocks").captions("fisher")
    assert words.count(">0% of ‖F‖² between neurons") == 1
    assert "layer norm</b></span> over standard" in words


def test_standard_model_stands_alone(shown):
    page = shown("fisher", dataset="wine", method="standard", tab="blocks")
    assert page.captions("fisher").count("of ‖F‖² between neurons") == 1
    assert len(page.figure("fisher")["data"]) == 6


@pytest.mark.parametrize("rows", loops(TABS, ["batch", "layer", "standard"], of=1))
def test_every_tab_has_its_picture(shown, rows, subtests):
    for tab, method in rows:
        with subtests.test(tab=tab, method=method):
            page = shown("fisher", dataset="iris", tab=tab, method=method)
            below = {"why": [], "equation": [], "blocks": ["fisher"]}.get(tab, [tab])
            assert page.figures == ["equal_kl", *below]
            assert [info.value for info in page.app.info] == []


def test_equation_13_tab_tells_how_far_it_is_off(shown):
    words = shown("fisher", dataset="wine", tab="eq13", method="layer").captions("eq13")
    assert "Eq. 13 is off by" in words
    assert "no statistic is shared" not in words
    words = shown("fisher", dataset="wine", tab="eq13", method="batch").captions("eq13")
    assert "they agree: no statistic is shared by neurons" in words


def test_magnitude_tab_tells_what_does_not_change_and_what_is_printed_too_large(shown):
    words = shown("fisher", dataset="wine", tab="magnitude").captions("magnitude")
    still, off = (line for line in words.splitlines() if "norm</b>" in line)
    assert "batch norm" in still
    assert "layer norm" in still
    assert "weight norm" not in still
    assert "batch norm" in off
    words = shown("fisher", dataset="diabetes", tab="magnitude").captions("magnitude")
    assert "as printed is exact for all of them" in words


def test_equation_tab_has_the_kl_beside_its_quadratic_form(shown):
    page = shown("fisher", dataset="wine", tab="equation", method="batch")
    (table,) = [latex.value for latex in page.app.latex if r"\mathrm{KL} =" in latex.value]
    number = r"(-?[0-9.]+(?: \\cdot 10\^\{-?\d+\})?)"
    pairs = re.findall(rf"= {number},\\, \\mathrm\{{KL\}} = {number}", table)
    assert len(pairs) == 6
    both = [[float(re.sub(r" .cdot 10\^\{(-?\d+)\}", r"e\1", v)) for v in pair] for pair in pairs]
    for quadratic, kl in both:
        assert kl == pytest.approx(quadratic, rel=0.3)
    assert both.count([0, 0]) == 1  # along ŵ of batch norm
    assert "Eq. 10 and 11, Bernoulli, case 0, neuron 0" in page.words


@pytest.mark.exhaustive
@pytest.mark.parametrize("methods", some([*NORMALIZERS], 4))
def test_every_method_has_a_picture(shown, methods, subtests):
    for method in methods:
        with subtests.test(method=method):
            page = shown(
                "fisher", dataset="iris", method=method, tab="blocks", groups="2", neurons="6"
            )
            assert page.figures == ["equal_kl", "fisher"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("datasets", some([key for key in DATASETS if key != "digits"], 4))
def test_every_data_set_has_a_picture(shown, datasets, subtests):
    for dataset in datasets:
        with subtests.test(dataset=dataset):
            page = shown("fisher", dataset=dataset, tab="blocks")
            assert page.figures == ["equal_kl", "fisher"]


@pytest.mark.exhaustive
def test_no_picture_is_a_sentence(shown, subtests):
    for query, words in [
        ({"neurons": "1", "method": "layer"}, "needs at least 2 of them per group; got 1"),
        ({"neurons": "40"}, "2,520"),
        ({"neuron": "77"}, "Neurons are numbered from 0 to 9"),
    ]:
        with subtests.test(query=query, words=words):
            page = shown("fisher", **query)
            assert page.figures == []
            assert words in page.app.info[0].value
            assert len({info.value for info in page.app.info}) == len(page.app.info), (
                "each reason once"
            )


def test_reason_of_the_picture_and_of_its_tab_is_said_once_each_time(shown):
    page = shown("fisher", neurons="1", method="layer", tab="blocks")
    for _ in range(2):
        (info,) = page.app.info
        assert "needs at least 2 of them per group; got 1" in info.value
        assert "the reason stands above" in page.words
        page.app.run()


def test_two_neurons_under_layer_norm_have_no_ellipse_and_it_says_why(shown):
    page = shown("fisher", dataset="wine", neurons="2", tab="blocks")
    assert page.figures == ["fisher"]  # the tab has its picture all the same
    assert "z = ±1" in page.app.info[0].value


def test_one_neuron_and_one_plane(shown):
    page = shown("fisher", dataset="plane", neurons="1", method="batch", tab="blocks")
    assert page.figures == ["equal_kl", "fisher"]
    values = [t["z"] for t in page.figure("fisher")["data"] if t.get("visible", True) and "z" in t]
    assert len(values) == 6


def test_step_is_as_long_as_the_weights_whose_letter_the_figure_has(shown, subtests):
    for method, letter in (("layer", "W"), ("batch", "w")):
        with subtests.test(method=method):
            page = shown("fisher", dataset="wine", method=method)
            assert f"{letter} → 2{letter}: KL" in page.captions("equal_kl")
            assert sum(rf"\delta = {letter}" in one.value for one in page.app.latex) == 1
            assert f"for the step from {letter} to 2{letter}" in page.words
