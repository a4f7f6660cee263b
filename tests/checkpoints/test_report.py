"""The report of a layer, against closed forms, finite differences and measured steps."""

from math import radians
from typing import Any

import numpy as np
import pytest

from normgeo import (
    FAMILIES,
    NORMALIZERS,
    OPTIMIZERS,
    PLACES,
    NormalizedGLM,
    Normalizer,
    TrainedLayer,
    angular_updates,
    layer_report,
    rotational_equilibrium,
)
from normgeo.checkpoints.gradient_lengths import gradient_lengths
from normgeo.dynamics.adam import AdamW
from normgeo.dynamics.gradient_descent import Momentum
from normgeo.dynamics.lion import Lion
from normgeo.normalizers.blocks import Blocks, angles_turned
from normgeo.pictures.your_network.layer import neurons
from normgeo.tables.layer import sentences, values
from tests.pairwise import each

RNG = np.random.default_rng(3)
N, H, D = 40, 6, 5
W, X = RNG.standard_normal((H, D)), RNG.standard_normal((N, D)) + 0.5
g, shift = RNG.uniform(0.5, 2, H), RNG.standard_normal(H)
GROUPED = [key for key, norm in NORMALIZERS.items() if norm.scaling.divides]


def layer(key: str = "batch", place: str = "after", **given: Any) -> TrainedLayer:
    eps = given.pop("eps", 0.0)
    words = NORMALIZERS[key]
    normalizer = Normalizer(*words.words, groups=words.groups, eps=eps, name=words.name)
    return TrainedLayer("w", W, normalizer, PLACES[place], **given)


@pytest.mark.parametrize("key", GROUPED)
def test_norms_and_effective_rates_are_those_of_the_centered_blocks(key: str) -> None:
    report = layer_report(layer(key, gain=g), rate=0.1)
    norm, groups = NORMALIZERS[key], NORMALIZERS[key].groups
    centered = W.copy()
    for part in np.split(np.arange(H), groups):
        if norm.center == "layer":
            centered[part] -= W[part].mean(axis=0)
    if norm.center == "weight":
        centered -= W.mean(axis=1, keepdims=True)
    rows = np.linalg.norm(centered, axis=1)
    shared = "layer" in norm.words
    blocks = np.split(np.arange(H), groups if shared else H)
    norms = [np.linalg.norm(centered[block]) for block in blocks]
    np.testing.assert_allclose(report.row_norms, rows)
    np.testing.assert_allclose(report.norms, norms)
    assert report.effective_rates is not None
    np.testing.assert_allclose(report.effective_rates, 0.1 / np.square(norms))
    np.testing.assert_allclose(report.gain_shares, g / g.sum())
    assert [report.block_of[h] for h in range(H)] == [
        i for i, block in enumerate(blocks) for _ in block
    ]


@pytest.mark.parametrize("place", ["before", "residual"])
def test_without_a_free_scale_a_norm_is_no_learning_rate(place: str) -> None:
    gain = np.arange(1.0, 6.0) if place == "before" else g
    report = layer_report(layer("rms", place, gain=gain), rate=0.1)
    assert report.effective_rates is None
    assert report.frozen is None
    np.testing.assert_allclose(report.norms, np.linalg.norm(W, axis=1))
    if place == "before":
        np.testing.assert_allclose(report.gains, np.linalg.norm(W * gain, axis=1))


@pytest.mark.parametrize(("key", "family"), each(GROUPED, FAMILIES))
def test_gradient_of_the_models_own_labels_is_as_long_as_the_fisher_says(
    key: str, family: str
) -> None:
    """E‖G‖² over labels that the model draws, by Monte Carlo."""
    given = layer(key, gain=g / 4, shift=shift / 4, X=X)
    found = gradient_lengths(given, family, None)
    assert found is not None
    model = NormalizedGLM(given.normalizer, family, W, shift / 4, g / 4)
    blocks, rng, squares = Blocks.of(given.normalizer, H), np.random.default_rng(0), []
    at = model.linearize(X)
    for _ in range(3000):
        labels = model.family.sample(at.s, rng, model.phi)
        slope = (model.family.mean(at.s) - labels) / N
        dW, _, _ = model.layout.split(at.vjp(slope))
        squares.append(np.sum(blocks.vectors(dW) ** 2, axis=-1))
    np.testing.assert_allclose(found.norms**2, np.mean(squares, axis=0), rtol=0.15)
    quarter = gradient_lengths(given, family, 10)
    assert quarter is not None
    np.testing.assert_allclose(quarter.norms, 2 * found.norms)


@pytest.mark.pairwise("key", ["batch", "layer", "weight"])
@pytest.mark.pairwise("place", ["after", "before"])
def test_gradient_of_labels_is_that_of_finite_differences(key: str, place: str) -> None:
    if place == "before" and key == "weight":
        key = "rms"
    y = RNG.integers(0, H, N)
    gain = g if place == "after" else np.linspace(0.5, 2, D)
    given = layer(key, place, X=X, labels=y, gain=gain, eps=0.0 if place == "after" else 1e-3)
    found = gradient_lengths(given, "categorical", None)
    assert found is not None

    def loss(weights: Any) -> float:
        model, inputs = TrainedLayer(
            "w", weights, given.normalizer, given.place, gain=gain, X=X
        ).model("categorical")
        s = model.natural_parameter(inputs)
        return float(np.mean(np.log(np.exp(s).sum(axis=1)) - s[np.arange(N), y]))

    gradient, step = np.zeros((H, D)), 1e-6
    for place_of in np.ndindex(H, D):
        change = np.zeros((H, D))
        change[place_of] = step
        gradient[place_of] = (loss(W + change) - loss(W - change)) / (2 * step)
    expected = np.linalg.norm(given.blocks.vectors(gradient), axis=1)
    np.testing.assert_allclose(found.norms, expected, rtol=1e-5, atol=1e-8)
    of_batches = gradient_lengths(given, "categorical", 8)
    assert of_batches is not None
    assert (of_batches.norms > found.norms).all()
    assert of_batches.source == "the labels, over 64 batches of 8"


def test_expected_angle_of_descent_is_that_of_a_measured_step() -> None:
    y, rate = RNG.integers(0, H, N), 0.02
    given = layer("batch", X=X, labels=y)
    report = layer_report(given, rate=rate, family="categorical", eigenvalues=0)
    assert report.angles is not None
    model = NormalizedGLM(NORMALIZERS["batch"], "categorical", W)
    for h in range(H):
        measured = angular_updates(model, X, y, [1.0], rate, block=h).here.angle
        assert report.angles[h] == pytest.approx(measured, rel=1e-5)


def step_of(name: str, rate: float, decay: float) -> Any:
    """The update of a rule as its authors print it, with the usual constants."""
    state = {"t": 0, "M": np.zeros(()), "V": np.zeros(())}

    def step(w: Any, G: Any) -> Any:
        state["t"] += 1
        if name == "gradient_descent":
            return w - rate * (G + decay * w)
        if name == "momentum":
            state["M"] = 0.9 * state["M"] + G + decay * w
            return w - rate * state["M"]
        if name == "lion":
            sign = np.sign(0.9 * state["M"] + 0.1 * G)
            state["M"] = 0.99 * state["M"] + 0.01 * G
            return w - rate * (sign + decay * w)
        inside, apart = (decay, 0.0) if name == "adam" else (0.0, decay)
        G = G + inside * w
        state["M"] = 0.9 * state["M"] + 0.1 * G
        state["V"] = 0.999 * state["V"] + 0.001 * G**2
        hat = np.sqrt(state["V"] / (1 - 0.999 ** state["t"])) + 1e-8
        return w - rate * (state["M"] / (1 - 0.9 ** state["t"]) / hat + apart * w)

    return step


# η, λ, and the start as a multiple of the norm in balance: at 1000 times it, a block is frozen. The
# norm changes little over the steps that an optimizer remembers, as the law assumes.
RUNS = {
    "gradient_descent": [(0.1, 0.0, 1.0), (0.1, 2.0, 0.5), (0.1, 2.0, 3.0), (0.1, 2.0, 1e3)],
    "momentum": [(0.01, 0.0, 3.0), (0.1, 0.02, 0.7), (0.1, 0.5, 1.0), (0.1, 0.002, 1e3)],
    "adam": [(0.01, 0.0, 5.0), (0.01, 0.1, 1.0)],
    "adamw": [(0.01, 0.0, 9.0), (0.1, 1.0, 0.7), (0.1, 0.002, 1e3)],
    "lion": [(0.01, 0.0, 9.0), (0.02, 2.0, 1.5), (0.02, 0.01, 1e3)],
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_expected_angle_is_that_of_a_run(name: str) -> None:
    """40 blocks of 100 weights under independent gradients, in balance and far from it."""
    rule, size, root = OPTIMIZERS[name], 100, 1.7
    for rate, decay, start in RUNS[name]:
        rng, norm = np.random.default_rng(0), start
        if decay:
            balance = rotational_equilibrium(
                rule, rate=rate, decay=decay, weights=size, gradient_norm=root
            )
            assert balance is not None
            norm *= balance.norm
        w = rng.standard_normal((40, size))
        w *= norm / np.linalg.norm(w, axis=1, keepdims=True)
        step, measured, expected = step_of(name, rate, decay), [], []
        last = {"gradient_descent": 8, "lion": 330}.get(name, 80)
        for t in range(last):
            before = np.linalg.norm(w, axis=1, keepdims=True)
            G = rng.standard_normal(w.shape)
            G -= (G * w).sum(axis=1, keepdims=True) / before**2 * w
            G *= root / before / np.linalg.norm(G, axis=1, keepdims=True)
            w, u = step(w, G), w
            if t >= last * 3 // 4:
                measured.append(angles_turned(u, w - u))
                layer_of = TrainedLayer("w", u, NORMALIZERS["weight"], gradient=G)
                report = layer_report(layer_of, optimizer=name, rate=rate, decay=decay)
                assert report.angles is not None
                expected.append(report.angles)
        found, law = (np.sqrt(np.mean(np.square(angles))) for angles in (measured, expected))
        assert law == pytest.approx(found, rel=1e-9 if rule.tangent else 0.04), (rate, decay)


def test_expected_angle_of_a_step_with_decay_has_a_closed_form() -> None:
    """tan θ = η‖G‖/((1 − ηλ)‖w‖), and of AdamW without averages η√(KD)/((1 − ηλ)‖w‖)."""
    gradient = RNG.standard_normal((H, D))
    gradient[3] = 0
    norms = np.linalg.norm(W, axis=1)
    given = layer("weight", gradient=gradient)
    laws = {
        OPTIMIZERS["gradient_descent"]: 0.1 * np.linalg.norm(gradient, axis=1) / (0.8 * norms),
        Momentum(0.0): 0.1 * np.linalg.norm(gradient, axis=1) / (0.8 * norms),
        AdamW(0.0, 0.0): 0.1 * np.sqrt(D) / (0.8 * norms) * (gradient.any(axis=1)),
    }
    for rule, tangents in laws.items():
        report = layer_report(given, optimizer=rule, rate=0.1, decay=2.0)
        assert report.angles is not None
        np.testing.assert_allclose(report.angles, np.arctan(tangents), rtol=1e-12)


def test_effective_rate_is_that_of_the_direction_under_decay() -> None:
    """How far û moves along a push in a step of η without decay on the unit sphere."""
    w, push = np.array([3.0, 4.0]), 1e-7 * np.array([-0.8, 0.6])
    given = TrainedLayer("w", w[None], NORMALIZERS["weight"])
    for rule, power in ((OPTIMIZERS["gradient_descent"], 2), (AdamW(), 1), (Lion(), 1)):
        after = (1 - 0.1 * 2) * w - 0.1 * push  # of −G, or of a step that ignores the scale
        moved = np.linalg.norm(after / np.linalg.norm(after) - w / 5) / np.linalg.norm(push)
        report = layer_report(given, optimizer=rule, rate=0.1, decay=2.0)
        assert report.effective_rates is not None
        # At the norm 1 the gradient is ‖w‖ times as long; a push of another scale is the same.
        assert report.effective_rates[0] * 5 ** (power - 1) == pytest.approx(moved, rel=1e-6)


def test_frozen_blocks_are_those_below_the_stated_angle() -> None:
    gradient = np.outer([1, 1, 1, 1, 1, 1e-4], np.ones(D))
    report = layer_report(layer(gradient=gradient), rate=0.01, frozen_below=0.1)
    assert report.angles is not None
    assert report.frozen is not None
    assert report.frozen.tolist() == [False] * 5 + [True]
    assert (report.angles < radians(0.1)).tolist() == report.frozen.tolist()


def test_gain_of_zero_gradient_of_zero_and_length_are_three_reasons_to_stand_still() -> None:
    """Neuron 0 has no gain, 1 no gradient, 2 little of it for its length; 3 to 5 turn."""
    gradient, gain = np.ones((H, D)), np.array([0.0, 1, 1, 1, 1, 1])
    gradient[0], gradient[1], gradient[2] = 0, 0, 1e-4
    given = layer(gradient=gradient, gain=gain)
    report = layer_report(given, rate=0.01, decay=0.01, frozen_below=0.1)
    told = values(report)
    assert [[*map(bool, told[word])].index(True) for word in ("off", "no_gradient", "frozen")] == [
        *(0, 1, 2)
    ]
    assert sum(map(sum, (told["off"], told["no_gradient"], told["frozen"]))) == 3
    assert report.over_balance is not None
    assert np.isfinite(report.over_balance).tolist() == [False] * 2 + [True] * 4
    said = " ".join(map(str, sentences(report)))
    assert "1 of 6 neurons have a gain of 0: their weights have no effect." in said
    assert "1 of 6 blocks have a gradient of exactly 0, though their gain is not." in said
    assert "1 of 6 blocks are expected to turn less than 0.1° a step." in said
    told_shortly = neurons(report, "w", 0)
    assert told_shortly.frozen == [2]
    assert "Neuron 0, gain 0: norm" in told_shortly.of_neuron
    assert str(told_shortly.headline[0]) == (
        "1 of 6 neurons is frozen: neuron 2 turns < 0.1° a step. "
        "1 of 6 neurons have a gain of 0. 1 of 6 neurons have a gradient of 0."
    )
    shared = layer_report(layer("layer", gradient=gradient, gain=gain), rate=0.01)
    assert shared.without_gradient is not None
    assert (shared.off.sum(), shared.without_gradient.any()) == (1, False)


def test_gains_that_are_all_zero_are_one_sentence_and_no_neuron_is_frozen() -> None:
    """timm starts the last norm of a residual block so; the model's own gradient is then 0."""
    given = layer(gain=np.zeros(H), X=X)
    report = layer_report(given, rate=0.1, decay=0.01, family="gaussian", eigenvalues=0)
    said = [str(one) for one in sentences(report)]
    assert sum("gain" in one or "turn less" in one for one in said) == 1
    assert (
        "All 6 gains are 0, as where a residual block is started at 0: W has no effect on the "
        "outputs and gets no gradient." in said
    )
    assert report.frozen is not None
    assert not report.frozen.any()
    assert report.balance is None
    assert str(neurons(report, "w", 0).headline[0]) == (
        "All 6 gains are 0: W has no effect and gets no gradient."
    )


@pytest.mark.pairwise("key", ["batch", "layer", "rms"])
@pytest.mark.pairwise("place", PLACES)
def test_epsilon_shortens_z_by_what_it_adds(key: str, place: str) -> None:
    eps, stream = 0.5, RNG.standard_normal((N, H))
    b, summed = RNG.standard_normal(H), place == "residual"
    given = layer(key, place, X=X, stream=stream if summed else None, bias=b, eps=eps)
    report = layer_report(given)
    a = {"after": X @ W.T, "before": X, "residual": stream + X @ W.T + b}[place]
    centered = a - {"batch": a.mean(0), "layer": a.mean(1, keepdims=True), "rms": 0}[key]
    v = (centered**2).mean(0 if key == "batch" else 1)
    assert report.epsilon is not None
    found = report.epsilon.of_neurons if key == "batch" else report.epsilon.of_cases
    other = report.epsilon.of_cases if key == "batch" else report.epsilon.of_neurons
    np.testing.assert_allclose(found, 1 - np.sqrt(v / (v + eps)))
    assert other is None


def test_running_variance_tells_of_epsilon_without_inputs() -> None:
    report = layer_report(layer(running_var=np.full(H, 3e-5), eps=1e-5))
    assert report.epsilon is not None
    np.testing.assert_allclose(report.epsilon.shortened, 1 - np.sqrt(0.75))


def test_null_directions_are_those_of_the_layer() -> None:
    report = layer_report(layer("layer", X=X, gain=g), family="gaussian")
    assert report.explanation is not None
    assert report.explanation.null.dimension == D + 1
    assert report.spectrum is not None


def test_what_is_missing_is_named_and_nothing_is_made_up() -> None:
    report = layer_report(layer(eps=1e-5))
    known = (report.effective_rates, report.angles, report.epsilon, report.spectrum)
    assert known == (None,) * 4
    assert report.missing == (
        "Learning rates and angles need the learning rate η of the optimizer: state it.",
        "Angles need gradients: a gradient file, or activations X with the family of the outputs, "
        "and labels if there are any.",
        "Where ε counts takes activations X, and an ε that is not 0.",
        "Null directions and the spectrum of F need X and the family of the outputs.",
    )


def test_balance_is_that_of_the_law() -> None:
    gradient = RNG.standard_normal((H, D))
    report = layer_report(layer(gradient=gradient), rate=0.1, decay=0.01)
    assert report.balance is not None
    root = np.linalg.norm(W, axis=1) * np.linalg.norm(gradient, axis=1)
    law = (0.1 * root**2 / (0.01 * (2 - 0.001))) ** 0.25
    np.testing.assert_allclose(report.balance.norm, law)
