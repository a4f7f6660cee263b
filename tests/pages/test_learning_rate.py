"""Learning rate: the angle of one step, and the reasons for it."""

import re
from urllib.parse import parse_qsl

import pytest

from normgeo import NORMALIZERS
from normgeo.claims import CLAIMS
from normgeo.datasets.datasets import DATASETS
from normgeo.ui.learning_rate import TABS
from tests.pairwise import first, loops, some

QUESTION = "Why does a long weight vector turn slowly?"
LAWFUL = [key for key, normalizer in NORMALIZERS.items() if normalizer.scale != "none"]


def factors(page) -> list[str]:
    """The large numbers of the opening frame: of the norm, the gradient, the turn, the loss."""
    return re.findall(r"<b>× ([^<]+)</b></span>", page.captions("turn"))


def start(page) -> str:
    place, _ = page.sent("turn")["opened"]
    return page.figure("turn")["layout"]["meta"]["steps"]["labels"][place]


def test_default_is_batch_norm_on_digits_at_twice_the_norm(shown):
    page = shown("learning_rate")
    assert page.app.title[0].value == QUESTION
    assert page.app.selectbox(key="method").value == "batch"
    assert page.app.selectbox(key="optimizer").value == "gradient_descent"
    assert page.figures == ["turn", "descent"]
    assert start(page) == "2"
    assert factors(page) == ["2", "½", "¼", "1"]
    words = page.captions("turn")
    assert "<b>batch norm</b>, weights of neuron 0: first step of gradient descent" in words
    assert (
        "Twice as long, it turns ¼ as far: half the gradient over twice the length<"
        in words.replace("<br>", " ")
    )
    assert page.query == {}
    longer = shown("learning_rate", growth="4").captions("turn").replace("<br>", " ")
    assert "4 times as long, it turns 1/16 as far: ¼ of the gradient over that length<" in longer


def test_one_switch_answers_for_each_optimizer_on_the_first_screen(shown):
    """A step of Adam has the same length at every norm: its turn halves."""
    page = shown("learning_rate", dataset="wine", steps="5")
    assert factors(page) == ["2", "½", "¼", "1"]
    page.app.selectbox(key="optimizer").set_value("adam").run()
    assert page.query == {"dataset": "wine", "steps": "5", "optimizer": "adam"}
    assert factors(page) == ["2", "1", "½", "1"]
    words = page.captions("turn").replace("<br>", " ")
    assert "Twice as long, it turns ½ as far: the same step over twice the length<" in words
    assert "first step of Adam, η = " in words
    assert "angle θ of a step; law: tan θ ∝ 1/‖w‖" in page.captions("turn")
    assert "Adam on all parameters" in page.captions("descent"), "one setting for the page"
    (power,) = re.findall(r"to the power (−[\d.]+)\.", page.captions("descent"))
    assert float(power.replace("−", "-")) == pytest.approx(-1, abs=0.05)


def test_steps_too_long_for_the_law_of_small_angles_are_told_with_their_number(shown):
    page = shown("learning_rate", dataset="iris", steps="5", optimizer="adam", tab="equation")
    (found,) = factors(page)[2:3]
    words = page.captions("turn").replace("<br>", " ")
    assert f"Twice as long, it turns × {found} as much; for small steps × ½<" in words


def test_growth_of_the_url_is_where_the_slider_opens(shown):
    page = shown("learning_rate", growth="4", method="layer")
    assert page.app.selectbox(key="method").value == "layer"
    assert start(page) == "4"
    assert factors(page) == ["4", "¼", "1/16", "1"]
    assert "<b>layer norm</b>" in page.captions("turn")


def test_method_goes_into_the_url_and_changes_the_picture(shown):
    page = shown("learning_rate", growth="4")
    page.app.selectbox(key="method").set_value("weight").run()
    assert page.query == {"growth": "4", "method": "weight"}
    assert "<b>weight norm</b>" in page.captions("turn")
    assert factors(page) == ["4", "¼", "1/16", "1"]


def test_step_size_is_taken_and_said(shown):
    page = shown("learning_rate", rate="0.25", dataset="iris")
    assert "η = 0.25" in page.captions("turn")
    assert "η = 0.25" in page.captions("descent")


def test_descent_has_as_many_steps_as_asked_for(shown):
    page = shown("learning_rate", dataset="iris", steps="30")
    steps = page.figure("descent")["layout"]["meta"]["steps"]["labels"]
    assert steps[-1] == "30"


def test_fisher_tab_has_the_doubling_table_and_the_ellipse(shown):
    page = shown("learning_rate", dataset="wine", tab="fisher")
    assert page.figures == ["turn", "doubling", "ellipse"]
    (table,) = [words.value for words in page.app.markdown if "| quantity" in words.value]
    heads, sides, *_ = (line.split("|")[1:-1] for line in table.splitlines())
    assert [head.strip() for head in heads] == ["quantity", "predicted", "measured", "Is it ½?"]
    assert sides[1].strip("-") == sides[2].strip("-"), "factors stand below each other"
    rows = {
        cells[1].strip(): [c.strip() for c in cells[2:5]]
        for cells in (line.split("|") for line in table.splitlines() if line.count("|") == 5)
    }
    assert rows["F of the doubled w"] == ["× ¼", "× 0.25", "no"]
    assert rows["gradient of the loss"] == ["× ½", "× 0.5", "yes"]
    assert rows["turn by one gradient step"] == ["× ¼", "× 0.25", "no"]
    assert "expected Fisher information, per case; N = 178" in page.captions("ellipse")
    assert "The ½ is right for the gradient" in page.words


def test_equation_plugs_in_the_numbers_of_the_picture(shown):
    page = shown("learning_rate", dataset="wine", tab="equation", growth="4", rate="0.5")
    (formula,) = (latex.value for latex in page.app.latex)
    before, after = re.findall(r"(\d\.\d+) → (\d\.\d+), predicted", page.captions("turn"))[0]
    assert rf"\tan\theta &= \frac{{0.5 \cdot {float(before):.3g}}}{{1}}" in formula
    assert rf"\tan\theta &= \frac{{0.5 \cdot {float(after):.3g}}}{{4}}" in formula
    assert "Half the gradient over twice the length: the turn is a quarter." in page.words


def test_equation_of_adam_has_the_length_of_its_step(shown):
    page = shown("learning_rate", dataset="wine", tab="equation", optimizer="adam", rate="0.01")
    (formula,) = (latex.value for latex in page.app.latex)
    assert r"\frac{\lVert\Delta w\rVert}{\lVert w\rVert}" in formula
    length = 0.01 * 13**0.5  # ±η for each of the features of wine
    assert rf"\frac{{{length:.3g}}}{{2}} = {length / 2:.3g}" in formula
    assert "Adam makes the step as long as before" in page.words


@pytest.mark.exhaustive
def test_model_without_a_law_shows_its_contours_and_its_tabs_say_why(shown, subtests):
    for state in [{"method": "standard"}, {"statistics": "frozen"}]:
        with subtests.test(state=state):
            page = shown("learning_rate", dataset="wine", **state)
            assert page.figures == ["turn"]
            assert "No wedges: the loss changes along a ray," in page.captions("turn")
            assert "No law here" in page.captions("turn")
            assert "no law ties the turn of a step to ‖w‖" in page.app.info[0].value
            page.open("learning_rate", dataset="wine", tab="equation", **state)
            assert "No law here" in page.app.info[0].value
            assert len(page.app.latex) == 0


def test_norm_without_a_frame_opens_the_nearest_and_says_so(shown):
    page = shown("learning_rate", dataset="wine", growth="3", tab="equation")
    assert start(page) == "2√2"
    assert page.app.info[0].value == (
        "The slider has no step at ‖w‖ = 3; it opens at the nearest, 2√2."
    )


LINKS = sorted({claim.page for claim in CLAIMS.values() if claim.page.startswith("learning_rate")})


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_links_of_the_audit_show_their_pictures(shown, subtests):
    for link in LINKS:
        with subtests.test(link=link):
            page, _, query = link.partition("?")
            opened = shown(page, **dict(parse_qsl(query)))
            assert opened.figures[0] == "turn"
            assert len(opened.figures) > 1 or "standard" in query
            assert [warning.value for warning in opened.app.warning] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("methods", some(LAWFUL, 4))
def test_every_method_has_its_picture(shown, methods, subtests):
    for method in methods:
        with subtests.test(method=method):
            page = shown("learning_rate", method=method, neurons="6", dataset="iris", steps="5")
            assert page.figures == ["turn", "descent"]
            assert factors(page) == ["2", "½", "¼", "1"]


DRAWN = {tab: [tab] for tab in TABS} | {"fisher": ["doubling", "ellipse"], "equation": []}
REFUSED = {
    # One feature and one neuron.
    ("plane", "fisher"): (
        ["doubling"],
        "An ellipse needs two directions across the weights, and this block has 1. Choose data "
        "with more features, or a layer statistic with more neurons.",
    )
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("rows", loops(TABS, DATASETS, of=1))
def test_every_data_set_has_its_pictures_or_the_sentence_that_is_known(shown, rows, subtests):
    for tab, dataset in rows:
        with subtests.test(tab=tab, dataset=dataset):
            page = shown("learning_rate", dataset=dataset, tab=tab, steps="5")
            figures, *sentences = REFUSED.get((dataset, tab), (DRAWN[tab],))
            assert page.figures == ["turn", *figures]
            assert [info.value for info in page.app.info] == sentences


def latex(page) -> str:
    (formula,) = (latex.value for latex in page.app.latex)
    return formula


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "rows", loops(["descent", "equilibrium"], [("momentum", "momentum"), ("adamw", "AdamW")], of=1)
)
def test_automatic_rate_of_an_optimizer_is_told_beside_the_field(shown, rows, subtests):
    for tab, (optimizer, title) in rows:
        with subtests.test(tab=tab, optimizer=optimizer, title=title):
            chosen = {"dataset": "iris", "tab": tab, "optimizer": optimizer, "steps": "20"}
            page = shown("learning_rate", **chosen)
            (told,) = (words.value for words in page.app.caption if "Automatic" in words.value)
            rate = told.removeprefix(f"Automatic learning rate for {title}: η = ").removesuffix(".")
            assert f"{title}" in page.captions(tab)
            assert f"η = {float(rate):.3g}," in page.captions(tab)
            page.open("learning_rate", rate="0.01", **chosen)
            assert not any("Automatic" in words.value for words in page.app.caption)


@pytest.mark.exhaustive
def test_numbers_left_open_are_empty_and_may_be_set_and_left_open_again(shown):
    page = shown("learning_rate", dataset="wine", steps="20")
    assert page.app.number_input(key="descent_decay").value is None
    assert page.app.number_input(key="descent_decay").placeholder == "automatic"
    page.app.number_input(key="descent_decay").set_value(0.2).run()
    page.app.number_input(key="descent_mini_batch").set_value(16).run()
    assert page.query == {"dataset": "wine", "steps": "20", "decay": "0.2", "mini_batch": "16"}
    assert "λ = 0.2, mini-batches of 16" in page.captions("descent")
    page.app.number_input(key="descent_decay").set_value(None).run()
    assert page.query == {"dataset": "wine", "steps": "20", "mini_batch": "16"}
    assert "λ = 0, mini-batches of 16" in page.captions("descent")


def test_settings_of_one_tab_are_those_of_the_next(shown):
    page = shown(
        "learning_rate",
        dataset="wine",
        tab="equilibrium",
        optimizer="momentum",
        steps="50",
        decay="0.5",
    )
    assert page.app.selectbox(key="optimizer").value == "momentum"
    assert page.app.number_input(key="equilibrium_steps").value == 50
    page.open("learning_rate", tab="twin", steps="50", decay="0.5", dataset="wine")
    assert page.app.number_input(key="twin_steps").value == 50
    assert page.app.number_input(key="twin_decay").value == 0.5


def test_equilibrium_plugs_in_the_numbers_of_the_picture(shown):
    page = shown("learning_rate", dataset="wine", tab="equilibrium", rate="0.5", decay="0.2")
    assert page.figures == ["turn", "equilibrium"]
    formula = latex(page)
    fraction = r"\\frac\{0\.5 \\cdot ([\d.]+)\}\{0\.2 \\cdot 1\.9\}"
    (square,) = re.findall(fraction, formula)
    norm = (0.5 * float(square) / (0.2 * (2 - 0.1))) ** 0.25
    (said,) = re.findall(r"\\lVert w\^\*\\rVert = ([\d.]+)", formula)
    assert float(said) == pytest.approx(norm, rel=0.01)
    assert r"\arcsin\sqrt{0.05} = {25.8}^\circ" in formula
    assert "the geometric mean of cos θ is 1 − ηλ" in page.words
    assert f"predicted {norm:.2f}"[:-1] in page.captions("equilibrium")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_equilibrium_has_the_law_of_its_optimizer(shown, subtests):
    for optimizer, sign in [
        ("momentum", r"(1 - \beta)"),
        ("adamw", r"\beta_1"),
        ("adam", r"\kappa"),
        ("lion", r"\rho_k"),
    ]:
        with subtests.test(optimizer=optimizer, sign=sign):
            page = shown(
                "learning_rate", dataset="iris", tab="equilibrium", steps="60", optimizer=optimizer
            )
            assert sign in latex(page)


def test_equilibrium_of_a_decay_that_hardly_turns_has_its_angle(shown):
    """1 − ηλ = 1 in floats, and there would be a division by arccos(1) = 0."""
    page = shown("learning_rate", dataset="wine", tab="equilibrium", rate="0.5", decay="1e-20")
    assert page.figures == ["turn", "equilibrium"]
    assert r"{5.73 \cdot 10^{-9}}^\circ" in latex(page)


@pytest.mark.parametrize("tab", first(["descent", "equilibrium", "spiral", "twin", "fisher"]))
def test_step_of_1e_300_is_shown(shown, tab):
    page = shown("learning_rate", dataset="wine", tab=tab, rate="1e-300", steps="50")
    assert page.figures[0] == "turn"


def test_step_below_all_floats_is_explained(shown):
    page = shown("learning_rate", dataset="wine", rate="5e-324", tab="equation")
    assert "A step η‖G‖ must be a number from 2.23e-308 to " in page.words


def test_equilibrium_without_decay_is_explained(shown):
    page = shown("learning_rate", dataset="wine", tab="equilibrium", decay="0")
    assert page.figures == ["turn"]
    assert "Choose a weight decay λ above 0" in page.app.info[0].value
    assert page.app.number_input(key="equilibrium_decay").value == 0


def test_twin_plugs_in_the_growing_rate(shown):
    page = shown("learning_rate", dataset="wine", tab="twin", rate="0.02", decay="1", steps="50")
    formula = latex(page)
    assert r"1 - \eta\lambda = 1 - 0.02 \cdot 1 = 0.98" in formula
    assert f"0.98^{{-99}} = {0.02 * 0.98**-99:.3g}" in formula
    assert rf"0.98^{{-50}} = {0.98**-50:.3g}, \quad \text{{measured}}\ {0.98**-50:.3g}" in formula
    assert "Both runs turn alike" in page.captions("twin")


def test_spiral_plugs_in_its_radius(shown):
    page = shown("learning_rate", dataset="wine", tab="spiral")
    grown, radius, measured = re.findall(
        r"sqrt\{1 \+ ([\d.]+)\} = ([\d.]+).*measured\}\\ ([\d.]+)", latex(page), re.S
    )[0]
    assert float(radius) == pytest.approx((1 + float(grown)) ** 0.5, rel=3e-3)
    assert radius == measured
    assert page.figures == ["turn", "spiral"]


def test_one_and_two_neurons_under_layer_norm_are_explained(shown, subtests):
    for neurons in ["1", "2"]:
        with subtests.test(neurons=neurons):
            page = shown("learning_rate", neurons=neurons, method="layer", dataset="breast_cancer")
            assert page.figures == []
            assert "neurons" in page.app.info[0].value


def test_bad_value_is_named_and_replaced(shown):
    page = shown("learning_rate", growth="1000", dataset="iris")
    (warning,) = page.warnings
    assert "`growth` must be a number from 0.125 to 64; got `'1000'`" in warning
    assert start(page) == "2"
