"""Invariance: the table, the picture, and the reasons for a cell."""

import re
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_digits

from normgeo import GRID, NORMALIZERS, TRANSFORMS, Normalizer, certify
from normgeo.datasets.datasets import DATASETS
from normgeo.settings import SETTINGS
from normgeo.tables.verdicts import COLUMNS
from normgeo.ui import verdict_table
from normgeo.ui.share import files
from tests.pairwise import loops, some

PAPER = {"batch norm": "✓✗✓✓✓✗", "layer norm": "✓✓✗✓✗✓", "weight norm": "✓✗✓✗✗✗"}
QUESTION = "What may change while the norm’s output z stays?"


@pytest.fixture(scope="module")
def digit_sums() -> np.ndarray:
    """A = X Wᵀ of the first eight digits under the default weights, apart from the application."""
    X = load_digits().data
    X = X[:, X.std(axis=0) > 0]
    return X[:8] @ np.random.default_rng(0).standard_normal((10, X.shape[1])).T / X.shape[1] ** 0.5


def verdicts(page) -> dict[str, str]:
    """What stands beside each method in the picture, {"batch norm": "not invariant"}."""
    words = [re.sub("<[^>]*>", "", line) for line in page.captions("effect").split("\n")]
    return dict(zip(words[2::3], words[3::3], strict=True))


def start(page) -> str:
    """The label of the frame that the figure opens with."""
    place, _ = page.sent("effect")["opened"]
    return page.figure("effect")["layout"]["meta"]["steps"]["labels"][place]


def test_default_is_the_papers_table_and_one_picture_three_times_as_strong(shown):
    page = shown("invariance")
    assert page.app.title[0].value == QUESTION
    assert page.signs() == PAPER
    assert page.pressed == ["layer.case_rescaling"]
    assert page.figures == ["effect"]
    assert verdicts(page) == {
        "batch norm": "not invariant",
        "layer norm": "invariant",
        "weight norm": "not invariant",
    }
    assert start(page) == "3"
    assert "18 of 18 cells agree with the paper" in page.words
    assert "layer norm = batch norm with W and X exchanged" in page.words
    assert "The constant features `pixel_0_0, pixel_4_0, pixel_4_7` are left out" in page.words
    assert page.query == {}


def test_why_plugs_in_the_numbers_of_the_picture(shown, digit_sums):
    page = shown("invariance")
    A = digit_sums
    h = int(np.abs((A[0] - A.mean(axis=0)) / A.std(axis=0)).argmax())
    a, mu, sigma = A[0, h], A[0].mean(), A[0].std()
    symbols, numbers = (latex.value for latex in page.app.latex)
    assert r"\frac{\delta a - \delta\mu}{|\delta|\sigma} = \begin{cases} z & \delta > 0" in symbols
    assert rf"\frac{{{a:.3g} - {mu:.3g}}}{{{sigma:.3g}}} = {(a - mu) / sigma:.3g}" in numbers
    assert rf"\frac{{{3 * a:.3g} - {3 * mu:.3g}}}{{{3 * sigma:.3g}}}" in numbers


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_why_follows_from_the_two_words(shown, subtests):
    for cell, algebra, reason in [
        (
            "batch.dataset_recentering",
            r"\frac{(a + s) - (\mu + s)}{\sigma} = z",
            "a − μ stays",
        ),
        ("layer.dataset_recentering", r"\frac{(a + s) - \mu'}{\sigma'} \neq z", "over the neurons"),
        ("batch.case_rescaling", r"\frac{\delta a - \mu'}{\sigma'} \neq z", "nothing was changed"),
        ("weight.dataset_rescaling", r"\frac{\delta a}{\sigma} \neq z", "no mean"),
        (
            "weight.weight_vector_rescaling",
            r"\frac{\delta a}{|\delta|\sigma} = ",
            "cancels, its sign",
        ),
        ("standard.case_rescaling", r"\frac{\delta a}{1} \neq z", "nothing divides"),
    ]:
        with subtests.test(cell=cell, algebra=algebra, reason=reason):
            page = shown("invariance", dataset="iris", cell=cell, tab="why")
            assert algebra in page.app.latex[0].value
            assert reason in page.words


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    "rows", loops(TRANSFORMS, ["batch", "group", "layer-batch", "weight-none"], of=1)
)
def test_every_cell_has_a_picture_and_a_reason(shown, rows, subtests):
    for transform, row in rows:
        with subtests.test(transform=transform, row=row):
            page = shown("invariance", dataset="iris", cell=f"{row}.{transform}", tab="why")
            assert page.figures == ["effect"]
            verdict = certify(page_normalizer(row), TRANSFORMS[transform])
            assert (r"\neq z" in page.app.latex[0].value) == (not verdict.invariant)
            assert ("factor cancels" in page.words) <= verdict.invariant


def page_normalizer(row):
    return NORMALIZERS[row] if row in NORMALIZERS else GRID[tuple(row.split("-"))]


def test_negative_delta_turns_the_marks_and_z_over(shown):
    page = shown("invariance", delta="-2")
    assert page.signs()["layer norm"] == "±✓✗±✗±"
    assert verdicts(page)["layer norm"] == "sign flip"
    assert start(page) == "−2"
    assert r"-z & \delta < 0" in page.app.latex[0].value
    assert "**σ** becomes |δ| σ" in page.words


@pytest.mark.usefixtures("undrawn")
def test_what_stands_beside_the_slider_holds_for_every_delta(shown):
    """While the slider moves, only the numbers may belong to its last position, and say so."""
    elsewhere = "before and after (", "-badge[", "Not the default"
    words = [
        [line for line in page.words.split("\n") if not any(told in line for told in elsewhere)]
        for page in (shown("invariance", delta=delta, tab="why") for delta in ("3", "-3"))
    ]
    numbers = [[line for line in lines if "begin{aligned}" in line] for lines in words]
    assert numbers[0] != numbers[1]
    assert [line for line in words[0] if line not in numbers[0]] == [
        line for line in words[1] if line not in numbers[1]
    ]


@pytest.mark.usefixtures("undrawn")
def test_scale_that_follows_is_not_said_to_cancel_where_the_mean_stays_behind(shown):
    page = shown(
        "invariance",
        cell="mean_only_batch_weight.weight_matrix_rescaling",
        statistics="frozen",
        tab="why",
    )
    assert r"\frac{\delta a - \mu}{|\delta|\sigma} \neq z" in page.app.latex[0].value
    assert (
        "**σ** becomes |δ| σ, which is not enough: a − μ does not become δ (a − μ)." in page.words
    )


@pytest.mark.usefixtures("undrawn")
def test_epsilon_of_one_cancels_nothing(shown):
    page = shown("invariance", eps="1", tab="why")
    assert r"\neq z" in page.app.latex[0].value
    assert "the factor does not cancel" in page.words
    assert "factor cancels" not in page.words


def test_weight_norm_has_no_mean(shown):
    page = shown(
        "invariance", cell="weight.dataset_recentering", features="standardized", tab="why"
    )
    assert "neuron 6: ‖w‖ stays 0.98" in page.captions("effect"), "its norm, and no μ"
    assert r"z &= \frac{" in page.app.latex[1].value
    assert " - " not in page.app.latex[1].value


@pytest.mark.usefixtures("undrawn")
def test_epsilon_leaves_rescaling_only_in_the_limit(shown):
    page = shown("invariance", eps="1e-5")
    assert page.signs() == {"batch norm": "≈✗≈≈✓✗", "layer norm": "≈✓✗≈✗≈", "weight norm": "✓✗✓✗✗✗"}
    assert (
        "12 of 18 cells agree with the paper (section 5.1, Table 1, for δ > 0), whose table is for "
        "ε = 0" in page.words
    )
    assert page.figures == ["effect", "floating_point"]
    why = shown("invariance", eps="1e-5", tab="why")
    assert r"\sqrt{\delta^2 v + \varepsilon}" in why.app.latex[0].value


@pytest.mark.usefixtures("undrawn")
def test_frozen_statistics_take_all_six_from_batch_norm(shown):
    page = shown("invariance", statistics="frozen")
    assert page.signs()["batch norm, frozen"] == "✗✗✗✗✗✗"
    assert page.signs()["layer norm"] == PAPER["layer norm"]
    assert "no longer batch norm with W and X exchanged" in page.words


def test_iris_shows_its_four_features_as_bars(shown):
    page = shown("invariance", dataset="iris")
    pictures = page.figure("effect")["data"][1]
    assert (pictures["type"], pictures["fill"]) == ("scatter", "toself")


@pytest.mark.exhaustive
@pytest.mark.parametrize("datasets", some([*DATASETS], 4))
def test_every_data_set_has_a_picture(shown, datasets, subtests):
    for dataset in datasets:
        with subtests.test(dataset=dataset):
            assert shown("invariance", dataset=dataset).figures == ["effect"]


def test_one_neuron_is_explained_where_its_z_is_undefined(shown):
    page = shown("invariance", neurons="1")
    assert page.figures == []
    assert "needs at least 2" in page.app.info[0].value
    assert page.signs() == PAPER
    assert "the reason stands above" in page.words


def test_one_neuron_leaves_out_only_the_method_that_needs_more(shown):
    page = shown("invariance", neurons="1", cell="batch.dataset_recentering")
    assert page.figures == ["effect"]
    assert list(verdicts(page)) == ["batch norm", "weight norm"]
    assert "No layer norm here: A layer mean is taken over the neurons" in page.words


def test_method_of_the_grid_is_not_shown_twice(shown):
    page = shown("invariance", rows="grid", cell="layer-layer.case_rescaling")
    assert list(verdicts(page)) == ["batch norm", "layer norm", "weight norm"]


@pytest.mark.usefixtures("undrawn")
def test_two_neurons_are_only_a_sign(shown):
    page = shown("invariance", neurons="2")
    assert page.figures == ["effect"]
    assert "With two neurons the z of layer norm is only a sign" in page.words


@pytest.mark.usefixtures("undrawn")
def test_whole_design_space_has_its_rules(shown):
    page = shown("invariance", rows="grid", columns="all", cell="layer.case_rescaling")
    expected = {
        ", ".join(words): "".join(certify(n, t).symbol for t in TRANSFORMS.values())
        for words, n in GRID.items()
    }
    assert page.signs() == expected
    assert page.pressed == ["layer-layer.case_rescaling"]
    assert "Re-centering is decided by the center" in page.words
    assert "Re-scaling is decided by the scale" in page.words


@pytest.mark.usefixtures("undrawn")
def test_named_rows_are_all_there(shown):
    assert list(shown("invariance", rows="named").signs()) == [
        n.title for n in NORMALIZERS.values()
    ]


@pytest.mark.usefixtures("undrawn")
def test_yes_says_that_it_was_checked_and_with_which_seed(shown):
    page = shown("invariance", tab="certificate", seed="7")
    assert "layer norm, single case re-scaling: invariant." in page.words
    assert "Checked in exact arithmetic at N = 5, H = 4, D = 4" in page.words
    assert "seed 7. A false identity passes such a draw with" in page.words
    assert "Proved" not in page.words
    assert "identity of degree 10 at most" in page.words
    assert "below 10⁻¹⁷" in page.words


@pytest.mark.usefixtures("undrawn")
def test_no_has_a_counterexample_with_its_numbers(shown):
    page = shown("invariance", cell="batch.case_rescaling", tab="certificate")
    verdict = certify(NORMALIZERS["batch"], TRANSFORMS["case_rescaling"])
    assert f"z′²/z² = {float(verdict.witness.ratio):.6g}" in page.words
    assert str(verdict.witness.W[0, 0]) in page.app.code[-1].value
    page.open("invariance", cell="batch.case_rescaling", tab="certificate", seed="3")
    other = certify(NORMALIZERS["batch"], TRANSFORMS["case_rescaling"], seed=3)
    assert str(other.witness.W[0, 0]) in page.app.code[-1].value
    assert other.witness.W[0, 0] != verdict.witness.W[0, 0]


@pytest.mark.usefixtures("undrawn")
def test_limit_has_a_check_and_a_counterexample(shown):
    page = shown("invariance", eps="1e-5", tab="certificate")
    assert "At ε = 0: Checked in exact arithmetic at N = 5" in page.words
    assert "At ε = 1e-05:" in page.words
    assert "Disproved by a counterexample" in page.words
    assert "it holds at every N ≥ 3, H/G ≥ 3 and D ≥ 3" in page.words
    # Nobody has proved this for frozen statistics.
    own = {"center": "batch", "scale": "batch", "statistics": "frozen"}
    page = shown("invariance", cell="own.case_offsets", tab="certificate", **own)
    assert "Disproved by a counterexample" in page.words
    assert "it holds at every" not in page.words


@pytest.mark.usefixtures("undrawn")
def test_no_opens_at_the_blackboard_with_integers(shown):
    page = shown("invariance", cell="weight.dataset_rescaling")
    given, change, squares = (latex.value for latex in page.app.latex)
    assert r"W = \begin{pmatrix} 1 \end{pmatrix}" in given
    assert r"\delta = 2" in change
    assert r"\frac{1^2}{1} = 1" in squares
    assert r"\frac{2^2}{1} = 4" in squares


@pytest.mark.usefixtures("undrawn")
def test_a_counterexample_stands_beside_the_picture_of_a_no_in_a_line(shown):
    """Layer norm by hand, of one case with the input 1: a is W, and the first row doubles."""

    def line(cell, **settings):
        page = shown("invariance", cell=cell, **settings)
        return [one.value for one in page.app.markdown if one.value.startswith("By hand: ")]

    (told,) = line("layer.weight_vector_rescaling")
    W, X = re.findall(r"smallmatrix} (.*?) .end{smallmatrix}", told)
    assert X == "1"
    assert r"\delta = 2$" in told
    before = np.array([float(entry) for entry in W.split(r" \\ ")])
    after = before * [2, 1, 1]
    squares = [(a[0] - a.mean()) ** 2 / a.var() for a in (before, after)]
    z, z_after = (
        float(Fraction(one)) for one in re.search(r"from (\S+) to (\S+)\.$", told).groups()
    )
    assert [z, z_after] == pytest.approx(squares)
    assert line("layer.case_rescaling") == [], "a yes has none"
    beside = [one.value for one in shown("invariance", cell="layer.case_rescaling").app.markdown]
    assert "" not in beside, "nor a gap"
    assert line("layer.weight_vector_rescaling", predict="1") == [], "it would tell the answer"
    (told,) = line("batch.weight_vector_recentering")
    assert r"\gamma = \left(\begin{smallmatrix}" in told


def test_heads_of_columns_name_what_one_row_is():
    content = verdict_table.data({}, COLUMNS["paper"], "", None, False)
    heads = [column["label"] for column in content["columns"]]
    assert heads == ["W×δ", "W+γ", "one w×δ", "X×δ", "X+γ", "one x×δ"]


def test_blackboard_of_a_yes_says_that_there_is_none(shown):
    assert "no counterexample" in shown("invariance", tab="blackboard").words


@pytest.mark.usefixtures("undrawn")
def test_blackboard_is_true(shown):
    """Batch norm, one case twice as large: a = (1, 1, 0) becomes (2, 1, 0)."""
    moved = shown("invariance", cell="batch.case_rescaling").app.latex[2].value
    before, after = ([Fraction(a) for a in row] for row in ((1, 1, 0), (2, 1, 0)))
    for a, fraction in ((before, r"\tfrac{1}{2}"), (after, r"\tfrac{3}{2}")):
        mu = sum(a) / 3
        z_squared = (a[0] - mu) ** 2 / (sum((x - mu) ** 2 for x in a) / 3)
        assert fraction == rf"\tfrac{{{z_squared.numerator}}}{{{z_squared.denominator}}}"
        assert fraction in moved
    assert r"z'^2 &= \frac{(a'-\mu')^2}{\sigma'^2}" in moved


@pytest.mark.usefixtures("undrawn")
def test_blackboard_of_many_groups_writes_three_and_says_what_the_others_are(shown):
    page = shown("invariance", cell="group.weight_vector_offsets", groups="20", tab="blackboard")
    given, change, _ = (latex.value for latex in page.app.latex)
    assert given.count(r"\\") == 3 + 3 + 1 + 3 - 1
    assert given.count(r"\vdots") == 1
    assert change.count(r"\cdots") == 1
    assert "The dots stand for 17 more groups of 3 neurons, each like the second one." in page.words


@pytest.mark.usefixtures("undrawn")
def test_own_normalizer_has_its_row(shown):
    page = shown("invariance", tab="own", center="weight", scale="layer", groups="1")
    assert page.signs("own_table") == {"your own: weight, layer": "✓✗✗✗✓✓✗✓✗✓"}
    page.app.selectbox(key="own_center").select("none").run()
    assert list(page.signs("own_table").values()) == ["✓✗✗✗✗✓✗✓✗✗"]
    assert page.query["center"] == "none"
    negative = shown("invariance", tab="own", center="weight", scale="layer", delta="-2")
    assert list(negative.signs("own_table").values()) == ["±✗✗✗✓±✗±✗✓"]


def test_own_normalizer_drives_the_page_like_any_other_row(shown, subtests):
    for tab in ["why", "certificate", "blackboard", "floating_point"]:
        with subtests.test(tab=tab):
            words = {"center": "weight", "scale": "layer"}
            page = shown("invariance", cell="own.dataset_recentering", tab=tab, **words, groups="1")
            own = certify(Normalizer("weight", "layer"), TRANSFORMS["dataset_recentering"])
            assert page.signs()["your own: weight, layer"] == "✓✗✗✓✗✓"
            assert page.pressed == ["own.dataset_recentering"]
            assert list(verdicts(page)) == [
                "batch norm",
                "layer norm",
                "weight norm",
                "(weight, layer)",
            ]
            assert verdicts(page)["(weight, layer)"] == own.word == "not invariant"
            said = {
                "why": r"\frac{(a + s) - \mu'}{\sigma'} \neq z",
                "certificate": "(weight, layer), dataset re-centering: not invariant.",
                "blackboard": "moves the z of (weight, layer)",
                "floating_point": "",
            }
            assert said[tab] in page.words


@pytest.mark.usefixtures("undrawn")
def test_selected_row_is_always_in_the_table(shown):
    page = shown("invariance", cell="rms.case_rescaling")
    assert page.signs() == PAPER | {"RMS norm": "✓✗✗✓✗✓"}
    assert page.pressed == ["rms.case_rescaling"]


def test_floating_point_has_a_curve_for_each_type(shown):
    page = shown("invariance", tab="floating_point")
    names = [trace.get("name") for trace in page.figure("floating_point")["data"]]
    assert {"float16, ε = 0", "float32, ε = 0", "float64, ε = 0"} <= set(names)


@pytest.mark.usefixtures("uncomputed")
def test_widgets_write_the_url_and_the_url_the_widgets(shown):
    page = shown("invariance", eps="0.5")
    assert page.app.selectbox(key="eps").value == 0.5
    page.app.selectbox(key="dataset").select("wine").run()
    page.app.selectbox(key="neurons").set_value(6).run()
    assert page.query == {"dataset": "wine", "eps": "0.5", "neurons": "6"}
    page.app.selectbox(key="eps").set_value(0.0).run()
    assert page.query == {"dataset": "wine", "neurons": "6"}


@pytest.mark.usefixtures("uncomputed")
def test_value_against_its_rule_is_refused_in_a_sentence(shown):
    page = shown("invariance", dataset="iris")
    page.app.number_input(key="delta").set_value(0.0).run()
    assert page.query == {"dataset": "iris"}
    words = "must be a number from -100 to 100, not 0; `'0.0'` is not."
    assert page.warnings == [f"{SETTINGS['delta'].label} {words}"]
    assert page.app.number_input(key="delta").value == 3.0


def test_bad_values_are_named_and_replaced(shown):
    page = shown("invariance", dataset="cats", delta="0", cell="layer.nonsense", color="red")
    assert len(page.warnings) == 4
    assert "got `'cats'`. The default, digits, is used instead." in page.warnings[0]
    assert "must be a number from -100 to 100, not 0; got `'0'`." in page.warnings[1]
    assert "got `'layer.nonsense'`." in page.warnings[2]
    assert page.warnings[3] == "There is no setting `'color'`. It was left out."
    assert page.pressed == ["layer.case_rescaling"]
    assert page.figures == ["effect"]


def test_index_outside_the_rows_is_explained(shown):
    page = shown("invariance", index="9999")
    assert (
        "The 1797 rows of X are numbered from 0 to 1796: there is no row 9999."
        in page.app.info[0].value
    )


@pytest.mark.usefixtures("undrawn")
def test_every_format_has_a_button(shown, subtests):
    for kind in ["html", "png", "svg", "pdf", "csv", "tex", "json"]:
        with subtests.test(kind=kind):
            app = shown("invariance").app
            buttons = [*app.get("download_button"), *app.get("bidi_component")]
            assert any(one.proto.id.endswith(f"-effect_{kind}") for one in buttons)


@pytest.mark.usefixtures("undrawn")
def test_server_without_a_browser_offers_what_needs_none(shown, monkeypatch):
    monkeypatch.setattr(files, "find_browser", lambda: None)
    files.why_no_browser.cache_clear()
    buttons = {b.key: b.proto for b in shown("invariance").app.get("download_button")}
    files.why_no_browser.cache_clear()
    assert buttons["effect_pdf"].disabled
    assert buttons["effect_pdf"].help == "PDF is drawn by a browser on the server, and it has none."
    for kind in ("html", "csv", "tex", "json"):
        assert not buttons[f"effect_{kind}"].disabled
