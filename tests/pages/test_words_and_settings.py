"""Sentences that depend on the settings are right where a sentence for all settings was wrong."""

import ast
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import normgeo
from normgeo import GRID, NORMALIZERS, TRANSFORMS, NormalizedGLM, certify, fisher
from normgeo.base.numbers import number
from normgeo.dynamics.descent import descend
from normgeo.pictures import PICTURES
from normgeo.pictures.model_on_data import independent, model_on_data
from normgeo.settings import SETTINGS, Settings
from normgeo.ui.verdict_table import FROZEN, RULES, SOFTENED


def described(name: str, **settings: object) -> str:
    picture, chosen = PICTURES[name], Settings(**settings)
    return picture.description(picture.compute(chosen))


def test_no_sentence_of_a_page_holds_the_name_of_a_setting_as_a_program_writes_it():
    """Such as "got neurons=1": for people, settings have labels."""
    names = "|".join(SETTINGS)
    written = re.compile(rf"\b({names})=|`({names})`")
    found = [
        (file.name, node.value)
        for part in ("pictures", "ui")
        for file in Path(normgeo.__file__).parent.joinpath(part).rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "text"
        for node in ast.walk(call)
        if isinstance(node, ast.Constant)
        if isinstance(node.value, str) and written.search(node.value)
    ]
    assert found == []


def test_four_times_the_cases_halve_the_error_only_while_they_are_few(shown, subtests):
    """Batches are drawn without replacement: Var(mean) = σ² (N − m)/(m (N − 1))."""
    for dataset in ["linnerud", "iris"]:
        with subtests.test(dataset=dataset):
            page = shown("batch", dataset=dataset)
            assert "halve the error of μ while m ≪ N" in page.words
            assert "slope −½ while m ≪ N" in page.captions("noise")
            ((N, few, m, _, many, n, _),) = re.findall(
                r"N = (\d+): × ([\d.]+) from m = (\d+) to (\d+), × ([\d.]+) from (\d+) to (\d+)\.",
                page.words,
            )
            for factor, size in ((few, int(m)), (many, int(n))):
                predicted = 0.5 * np.sqrt((int(N) - 4 * size) / (int(N) - size))
                assert float(factor) == pytest.approx(predicted, rel=0.15)
            assert float(many) < 0.4, "where the old sentence said one half"
            assert "slope −½ while m is far below" in PICTURES["noise"].alt


@pytest.mark.usefixtures("undrawn")
def test_a_later_step_may_turn_the_weights_more_and_with_eps_the_norm_may_fall(shown):
    words = shown("learning_rate", dataset="iris", tab="equation", steps="5").words
    assert "the same gradient then turns the weights less" in words
    assert "All of this is exact: ε = 0." in words
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)) + 1, rng.standard_normal((30, 3))
    start = NormalizedGLM.random(NORMALIZERS["batch"], "gaussian", 3, 4, rng)
    run = descend(start, X, y, steps=30, rate=0.5)
    assert (np.diff(run.norms, axis=0) > 0).all()
    assert (np.diff(run.angles, axis=0) > 0).any()
    words = shown("learning_rate", dataset="iris", tab="equation", steps="5", eps="1").words
    assert "Here ε = 1, and it holds while σ² ≫ ε" in words
    soft = Settings(method="batch", eps=1.0).normalizer
    run = descend(NormalizedGLM(soft, "gaussian", start.W), X, y, steps=30, rate=0.5)
    assert (np.diff(run.norms, axis=0) < 0).any()


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_sigma_is_said_to_become_what_it_becomes(shown, subtests):
    for settings, sentence in [
        ({"delta": "2"}, "**σ** becomes |δ| σ: the size of the factor cancels, its sign stays."),
        ({"delta": "-2"}, "**σ** becomes |δ| σ: the size of the factor cancels, its sign stays."),
        ({"delta": "2", "eps": "0.1"}, "becomes √(δ² v + ε): ε does not grow with v"),
        ({"delta": "-2", "eps": "0.1"}, "becomes √(δ² v + ε): ε does not grow with v"),
    ]:
        with subtests.test(settings=settings, sentence=sentence):
            cell = {"cell": "layer.dataset_rescaling", "tab": "why", "dataset": "iris"}
            assert sentence in shown("invariance", **cell, **settings).words
            delta, eps = float(settings["delta"]), float(settings.get("eps", 0))
            X, W = np.random.default_rng(0).standard_normal((2, 4, 4))
            normalizer = Settings(method="layer", eps=eps).normalizer
            sigma, after = (normalizer.normalize(W, factor * X).sigma for factor in (1, delta))
            assert np.allclose(after, abs(delta) * sigma) == (eps == 0) == ("|δ| σ" in sentence)


def ruled(center: str, scale: str, change: str, frozen: bool = False) -> bool:
    """What the rules on the page say about a cell of the design space."""
    if frozen and (center == "batch" or scale == "batch"):
        if center == "batch":
            return False
        scale = "none"
    operation, matrix = TRANSFORMS[change].operation.key, TRANSFORMS[change].matrix
    if not TRANSFORMS[change].rescales:
        return (center, operation, matrix) in {
            ("layer", "all_plus", "W"),
            ("batch", "all_plus", "X"),
            ("weight", "own_plus", "W"),
            ("weight", "own_plus", "X"),
        }
    return {
        ("all_times", "W"): scale != "none",
        ("all_times", "X"): scale in ("batch", "layer"),
        ("one_times", "W"): scale in ("batch", "weight") and center != "layer",
        ("one_times", "X"): scale == "layer" and center != "batch",
    }[operation, matrix]


@pytest.mark.exhaustive
def test_two_rules_decide_the_design_space(subtests):
    for frozen in [False, True]:
        with subtests.test(frozen=frozen):
            settings = Settings(statistics="frozen" if frozen else "current")
            for (center, scale), normalizer in GRID.items():
                adapted = settings.adapt(normalizer)
                for key, transform in TRANSFORMS.items():
                    verdict = certify(adapted, transform).invariant
                    assert verdict == ruled(center, scale, key, frozen), (center, scale, key)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_rules_on_the_page_are_those_of_the_settings(shown, subtests):
    for statistics, eps in [("current", "0"), ("frozen", "0.1")]:
        with subtests.test(statistics=statistics, eps=eps):
            page = shown("invariance", rows="grid", dataset="iris", statistics=statistics, eps=eps)
            assert "any but none gives W all ×" in page.words
            assert all(str(rule) in page.words for rule in RULES)
            assert (str(FROZEN) in page.words) == (statistics == "frozen")
            assert (str(SOFTENED) in page.words) == (eps != "0")


def test_outputs_of_long_steps_are_bounded_where_it_is_said(subtests):
    for statistics, words in product(["current", "frozen"], GRID):
        with subtests.test(statistics=statistics, words=words):
            normalizer = Settings(statistics=statistics).adapt(GRID[words])
            rng = np.random.default_rng(1)
            W, V = rng.standard_normal((2, 4, 5))
            X, X0 = rng.standard_normal((2, 6, 5))
            sizes = [
                np.abs(normalizer.normalize(W + t * V, X, (W, X0)).z).max() for t in (1e3, 1e6)
            ]
            assert sizes[1] / sizes[0] == pytest.approx(
                1 if normalizer.bounds_outputs else 1e3, rel=0.05
            )


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_page_says_whether_the_kl_levels_off(shown, subtests):
    for settings, sentence in [
        ({"method": "batch"}, "its outputs stay bounded"),
        ({"method": "batch", "statistics": "frozen"}, "nothing makes the KL level off"),
        ({"method": "standard"}, "The standard model divides by nothing"),
    ]:
        with subtests.test(settings=settings, sentence=sentence):
            assert sentence in shown("fisher", dataset="iris", tab="growth", **settings).words


@pytest.mark.exhaustive
def test_maps_are_said_to_have_the_blocks_that_they_have(subtests):
    for settings, exact, paper in [
        ({"method": "batch"}, 0, 0),
        ({"method": "layer"}, 15, 0),
        ({"method": "layer", "family": "categorical"}, 15, 15),
        ({"method": "group", "groups": 2}, 6, 0),
        ({"method": "batch", "family": "categorical"}, 15, 15),
    ]:
        with subtests.test(settings=settings, exact=exact, paper=paper):
            chosen = {"dataset": "wine", "neurons": 6, **settings}
            words = described("eq13", **chosen)
            it = model_on_data(independent(Settings(**chosen)), "standardized")
            for coupling, expected in (("exact", exact), ("paper", paper)):
                F = fisher(it.model, it.X, coupling=coupling).to_dense()
                p = len(F) // 6
                sizes = np.abs(F).reshape(6, p, 6, p).max(axis=(1, 3))
                assert (sizes[np.triu_indices(6, 1)] > 1e-9 * sizes.max()).sum() == expected
            assert (
                f"Of the 15 pairs of different neurons, {exact} have a block that is not 0" in words
            )
            assert f"{paper} in that of Eq. 13" in words


def test_metric_along_the_gains_falls_again_only_where_it_does():
    """Gaussian: exactly × δ². Bernoulli saturates. Poisson grows without end."""
    for family in ("gaussian", "poisson"):
        words = described("magnitude", dataset="iris", family=family)
        assert "Rising with the scale: standard, weight norm" in words
        assert "falling" not in words
    words = described("magnitude", dataset="iris", family="bernoulli")
    assert "Rising with the scale, then falling: standard, weight norm" in words
    assert "The same at every scale: batch norm, layer norm" in words
    assert "Rising with the scale: batch norm" in described("magnitude", dataset="iris", eps=0.1)


@pytest.mark.usefixtures("undrawn")
def test_state_of_a_contracting_recurrence_does_not_shrink_while_it_is_driven(shown):
    """f(s) = s at radius ½: h = W_hh h + W_xh x settles where the inputs hold it."""
    result = PICTURES["recurrence"].compute(Settings(length=16))
    words = PICTURES["recurrence"].description(result)
    assert "At radius 0.5, without normalization, the state ends with rms 0.54" in words
    assert "with layer norm, the state ends with rms 1," in words
    assert "powers" not in words
    settled = result.curves[0.5]["standard"].hidden
    assert settled[-1] == pytest.approx(0.54, abs=0.01)
    page = shown("recurrent", tab="why", length="16")
    assert "for large $T - t$ it grows as $ρ^{T-t}$" in page.words
    assert "their product may grow although the state does not" in page.words


@pytest.mark.exhaustive
def test_pictures_of_learning_are_described_as_they_are_with_and_without_eps(subtests):
    for eps in [0.0, 1.0]:
        with subtests.test(eps=eps):
            chosen = {"dataset": "iris", "steps": 20, "eps": eps}
            spiral = PICTURES["spiral"].compute(Settings(**chosen))
            steps = spiral.run.rate * spiral.run.gradient_norms[:, spiral.block]
            lawful = spiral.radii[-1] == pytest.approx(np.sqrt(1 + np.sum(steps**2)), rel=1e-9)
            assert lawful == (eps == 0)
            words = PICTURES["spiral"].description(spiral)
            assert (
                f"The radius goes from 1 to {number(float(spiral.radii[-1]))} and differs" in words
            )
            assert bool(re.search(r"by at most (0|\S+ · 10⁻\S+) of its size;", words)) == lawful
            words = described("ellipse", **chosen)
            assert ("Along the weights there is no curvature." in words) == lawful
            assert ("the ellipse grows 2 times" in words) == lawful
            words = described("twin", **chosen)
            assert bool(re.search(r"the angle is (0|\S+ · 10⁻\S+)° at most", words)) == lawful
            words = described("descent", **chosen)
            for norm in (1, 2, 4):
                assert words.count(f"From norm {norm} the first step turns by") == 1
            assert "Predicted are" in described("equilibrium", **chosen)
