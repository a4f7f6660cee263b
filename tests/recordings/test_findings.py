"""Findings in recorded runs whose balance is known."""

from dataclasses import replace

import numpy as np
import pytest

from normgeo import OPTIMIZERS, Recorder, findings, read_recording, rotational_equilibrium
from normgeo.recordings import format as layout
from normgeo.recordings.findings import laws
from normgeo.tables.training import training_table
from tests.refused import says
from tests.stepping import stepping

ROOT = 1.7


def random_walk(path, optimizer, *, rate, decay, starts, steps, told=True, **options):
    """Record blocks of 100 weights under random gradients, by the library's own rules."""
    rng, rule = np.random.default_rng(0), OPTIMIZERS[optimizer]
    W = rng.standard_normal((len(starts), 100))
    W *= np.reshape(starts, (-1, 1)) / np.linalg.norm(W, axis=1, keepdims=True)
    update = stepping(rule, W.ravel(), decay)
    with Recorder(path, {"w": "batch"}, optimizer=optimizer, **options) as recorder:
        recorder.step({"w": W}, rate, decay=decay)
        for _ in range(steps):
            G, norms = rng.standard_normal(W.shape), np.linalg.norm(W, axis=1, keepdims=True)
            G -= (G * W).sum(axis=1, keepdims=True) / norms**2 * W
            G *= ROOT / norms / np.linalg.norm(G, axis=1, keepdims=True)
            W = update(W.ravel(), G.ravel(), rate).reshape(W.shape)
            recorder.step({"w": W}, rate, decay=decay, gradients={"w": G} if told else None)
    return read_recording(path)


RATES = {
    "gradient_descent": (0.1, 0.1),
    "momentum": (0.01, 0.1),
    "adam": (0.01, 0.02),
    "adamw": (0.1, 0.1),
    "lion": (0.1, 0.1),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_random_walk_is_found_in_balance(tmp_path, optimizer):
    rate, decay = RATES[optimizer]
    balance = rotational_equilibrium(
        optimizer, rate=rate, decay=decay, weights=100, gradient_norm=ROOT
    )
    starts = [balance.norm, 1.1 * balance.norm]
    run = random_walk(
        tmp_path / "run", optimizer, rate=rate, decay=decay, starts=starts, steps=3000
    )
    for found in findings(run, within=0.15):
        assert found.verdict == "in balance"
        assert found.sphere_gradient == pytest.approx(ROOT, rel=1e-9)
        assert found.balance.norm == pytest.approx(balance.norm, rel=1e-9)
        assert found.balanced_angle == pytest.approx(balance.angle, rel=1e-9)
        last = run.norms[-1, 0] if found.name == "w[0]" else run.norms[-1, 1]
        effective = OPTIMIZERS[optimizer].effective_rates(
            np.array([[rate]]), decay, np.array([[last]])
        )
        assert found.effective_rate == pytest.approx(effective.item(), rel=1e-12)
        assert found.angle_off < (1e-6 if OPTIMIZERS[optimizer].linear else 0.2)
        if OPTIMIZERS[optimizer].linear:
            assert found.norm_off < (1e-9 if OPTIMIZERS[optimizer].tangent else 0.2)
        else:
            assert np.isnan(found.norm_off)


def test_a_block_on_its_way_says_where_it_goes_and_how_long_it_takes(tmp_path):
    balance = rotational_equilibrium("adamw", rate=0.01, decay=0.1, weights=100)
    starts = [0.2 * balance.norm, 5 * balance.norm]
    run = random_walk(tmp_path / "run", "adamw", rate=0.01, decay=0.1, starts=starts, steps=60)
    grows, shrinks = findings(run)
    assert grows.verdict == "its norm still grows"
    assert shrinks.verdict == "its norm still shrinks"
    for found, norm in zip((grows, shrinks), run.norms[-1], strict=True):
        assert found.approach == pytest.approx(balance.steps_from(float(norm), 0.1), rel=1e-9)
        assert found.approach > 100


@pytest.mark.parametrize(("optimizer", "beta"), [("gradient_descent", 0.0), ("momentum", 0.9)])
def test_under_a_schedule_laws_take_the_rate_of_each_step_itself(tmp_path, optimizer, beta):
    rng, decay = np.random.default_rng(0), 0.1
    w, m = rng.standard_normal((1, 40)), np.zeros((1, 40))
    with Recorder(tmp_path / "run", {"w": "batch"}, optimizer=optimizer) as recorder:
        recorder.step({"w": w}, 5.0, decay=decay)
        for rate in np.geomspace(1, 0.01, 9):
            g = rng.standard_normal((1, 40))
            g -= np.sum(g * w) / np.sum(w * w) * w
            m = beta * m + g + decay * w
            w = w - rate * m
            recorder.step({"w": w}, rate, decay=decay, gradients={"w": g})
    run = read_recording(tmp_path / "run")
    norms, angles = laws(run, run.optimizer)
    np.testing.assert_allclose(norms, run.norms, rtol=1e-12)
    np.testing.assert_allclose(angles, run.angles[1:], rtol=1e-9)


def test_blocks_that_do_not_turn_are_frozen_at_the_stated_angle(tmp_path):
    w = np.eye(2, 3)
    with Recorder(tmp_path / "run", {"w": "batch"}, optimizer="adamw") as recorder:
        for t in range(20):
            angle = np.radians(0.02) * t
            w[1] = [np.cos(angle), np.sin(angle), 0]
            recorder.step({"w": w}, 1e-3, decay=0.1)
    run = read_recording(tmp_path / "run")
    assert [found.is_frozen for found in findings(run)] == [True, False]
    assert [found.is_frozen for found in findings(run, frozen=0.03)] == [True, True]
    assert findings(run)[0].verdict == "frozen"
    assert np.degrees(findings(run)[1].angle) == pytest.approx(0.02, rel=1e-9)


def test_what_gradients_decide_is_not_invented_without_them(tmp_path):
    run = random_walk(
        tmp_path / "a", "adam", rate=0.01, decay=0.1, starts=[1.0], steps=30, told=False
    )
    (found,) = findings(run)
    assert found.verdict == "needs gradients for a prediction"
    assert np.isnan([found.balance.norm, found.balanced_angle, found.approach]).all()
    note = "No gradients were recorded: what depends on their length is not predicted."
    assert any(note in note_of for note_of in training_table(run, run.optimizer, (found,)).notes)
    (found,) = findings(run, "gradient_descent")
    assert np.isnan(found.balance.norm)
    assert found.balanced_angle == pytest.approx(np.arccos(1 - 0.001), rel=1e-9)


@pytest.mark.parametrize(
    ("norm", "decay", "steps", "verdict"),
    [
        ("standard", 0.1, 9, "no norm behind it: nothing is predicted"),
        ("layer", 0.0, 9, "no balance without decay"),
        ("layer", 0.1, 2, "too short to tell"),
    ],
)
def test_a_verdict_says_why_there_is_none(tmp_path, rng, norm, decay, steps, verdict):
    with Recorder(tmp_path / "run", {"w": norm}, optimizer="adamw") as recorder:
        for _ in range(steps):
            recorder.step({"w": rng.standard_normal((4, 3))}, 0.1, decay=decay)
    run = read_recording(tmp_path / "run")
    assert {found.verdict for found in findings(run)} == {verdict}


def test_a_run_that_breaks_is_told_with_its_step(tmp_path, rng):
    with Recorder(tmp_path / "run", {"w": "batch"}, optimizer="lion") as recorder:
        for t in range(12):
            w = rng.standard_normal((2, 3))
            w[0, 0] = np.nan if t >= 7 else 1.0
            recorder.step({"w": w}, 0.1, decay=0.1)
    broken, whole = findings(read_recording(tmp_path / "run"))
    assert broken.verdict == "not a number from step 7 on"
    assert whole.broken == -1


def test_checkpoints_far_apart_are_held_to_the_turns_of_all_steps_between(tmp_path):
    """cos(angle) = (1 − ηλ)^k after k steps, many more than the rule remembers."""
    rng, rule = np.random.default_rng(0), OPTIMIZERS["gradient_descent"]
    balance = rotational_equilibrium(rule, rate=0.1, decay=0.1, weights=400, gradient_norm=ROOT)
    w = rng.standard_normal(400)
    w *= balance.norm / np.linalg.norm(w)
    update = stepping(rule, w, 0.1)
    with Recorder(tmp_path / "run", {"w": "batch"}, optimizer=rule) as recorder:
        for t in range(2001):
            if t % 40 == 0:
                recorder.step({"w": w[None]}, 0.1, decay=0.1, at=t)
            g = rng.standard_normal(400)
            g -= (g @ w) / (w @ w) * w
            w = update(w, ROOT / np.linalg.norm(w) * g / np.linalg.norm(g), np.full(400, 0.1))
    (found,) = findings(read_recording(tmp_path / "run"))
    assert found.balanced_angle == pytest.approx(np.arccos(0.99**40), rel=1e-12)
    assert found.angle == pytest.approx(found.balanced_angle, rel=0.03)
    assert found.verdict == "in balance"


@pytest.mark.exhaustive
def test_a_schedule_is_held_to_its_mean_rate(tmp_path):
    """The squared angle is proportional to η, so a slow decline turns as its mean does."""
    rng, rule, steps = np.random.default_rng(0), OPTIMIZERS["adamw"], 4000
    rates = np.linspace(0.1, 0.02, steps + 1)
    w = rng.standard_normal(400)
    w *= rotational_equilibrium("adamw", rate=0.1, decay=0.2, weights=400).norm / np.linalg.norm(w)
    update = stepping(rule, w, 0.2)
    with Recorder(tmp_path / "run", {"w": "batch"}, optimizer=rule) as recorder:
        for rate in rates:
            recorder.step({"w": w[None]}, rate, decay=0.2)
            g = rng.standard_normal(400)
            g -= (g @ w) / (w @ w) * w
            w = update(w, g / np.linalg.norm(g), np.full(400, rate))
    (found,) = findings(read_recording(tmp_path / "run"))
    expected = rotational_equilibrium("adamw", rate=0.04, decay=0.2, weights=400)
    assert found.balanced_angle == pytest.approx(expected.angle, rel=1e-3)
    assert found.angle == pytest.approx(expected.angle, rel=0.1)


def descent(path, every, old=False):
    """Gradient descent from far above the balance in plain NumPy, √Γ = 1, and its norms."""
    rng, w, norms = np.random.default_rng(0), np.zeros(30), []
    w[0], rate, decay = 300.0, 0.05, 0.5
    with Recorder(path, {"w": "batch"}, optimizer="gradient_descent", every=every) as recorder:
        g = None
        for _ in range(401):
            recorder.step({"w": w[None]}, rate, decay=decay, gradients=g and {"w": g[0][None]})
            norms.append(np.linalg.norm(w))
            G = rng.standard_normal(30)
            G -= (G @ w) / (w @ w) * w
            G /= np.linalg.norm(G) * np.linalg.norm(w)
            g, w = [G], w - rate * (G + decay * w)
    if old:
        header, records, _, _ = layout.read_file(path)
        first = layout.Header(header.tensors, header.optimizer, layout.FIRST_NUMBERS)
        parts = [
            layout.frame(
                first, *(r[k] for k in ("step", "span", "known", "rates")), r["blocks"][:, :4]
            )
            for r in records
        ]
        path.write_bytes(first.encoded() + b"".join(parts))
    return read_recording(path), np.array(norms)


def test_the_gradient_on_the_sphere_takes_the_norm_before_its_step(tmp_path):
    """However many steps lie between records, and in a file of the first version too."""
    for every, old in ((1, False), (20, False), (50, False), (20, True), (50, True), (1, True)):
        run, norms = descent(tmp_path / f"{every}{old}", every, old)
        (found,) = findings(run)
        assert found.sphere_gradient == pytest.approx(1, rel=1e-6 if old else 1e-12)
        np.testing.assert_allclose(run.norms_before[1:, 0], norms[run.steps[1:] - 1], rtol=1e-6)
        balance = rotational_equilibrium(
            "gradient_descent", rate=0.05, decay=0.5, weights=30, gradient_norm=1
        )
        assert found.balance.norm == pytest.approx(balance.norm, rel=1e-6)
        assert found.verdict in ("in balance", "its norm still shrinks")


def test_a_bias_before_layer_norm_is_in_the_block(tmp_path):
    """‖(W, b)‖ obeys the law of gradient descent, and ‖W‖ alone does not; by finite differences."""
    rng = np.random.default_rng(0)
    W, X, y = rng.standard_normal((4, 3)), rng.standard_normal((9, 3)), rng.standard_normal((9, 4))
    b, rate, decay, g = 3 * rng.standard_normal(4), 0.3, 0.02, None

    def gradient(W, b):
        a = X @ W.T + b
        c = a - a.mean(axis=1, keepdims=True)
        sigma = np.sqrt((c**2).mean(axis=1, keepdims=True))
        z = c / sigma
        d = (z - y) / len(X)
        d = (d - d.mean(axis=1, keepdims=True) - z * (d * z).mean(axis=1, keepdims=True)) / sigma
        return d.T @ X, d.sum(axis=0)

    laws = {}
    for name, biases in (("with", {"w": "b"}), ("without", None)):
        weights, bias, g = W, b, None
        with Recorder(
            tmp_path / name, {"w": "layer"}, optimizer="gradient_descent", biases=biases
        ) as recorder:
            for _ in range(200):
                given = None if g is None else {"w": g[0], "b": g[1]}
                recorder.step({"w": weights, "b": bias}, rate, decay=decay, gradients=given)
                g = gradient(weights, bias)
                weights = (1 - rate * decay) * weights - rate * g[0]
                bias = (1 - rate * decay) * bias - rate * g[1]
        run = read_recording(tmp_path / name)
        (laws[name],) = findings(run)
    assert laws["with"].norm_off < 1e-10
    assert laws["without"].norm_off > 0.01
    assert (laws["with"].weights, laws["without"].weights) == (16, 12)


def test_without_an_optimizer_norms_and_angles_are_told(tmp_path):
    run = random_walk(
        tmp_path / "run", "adamw", rate=0.1, decay=0.1, starts=[1.0], steps=30, told=False
    )
    (expected,) = findings(run)
    (found,) = findings(replace(run, optimizer=None))
    assert (found.norm, found.angle) == (expected.norm, expected.angle)
    assert found.verdict == "no optimizer stated: nothing is predicted"
    assert found.balance is None
    assert np.isnan([found.effective_rate, found.norm_off, found.angle_off]).all()
    notes = training_table(run, None, (found,)).notes
    assert (
        "This run does not say its optimizer, so nothing is predicted. State it, one of "
        f"{', '.join(OPTIMIZERS)}." in notes
    )


def test_bad_requests_are_named(tmp_path):
    with Recorder(tmp_path / "run", {"w": "batch"}) as recorder:
        recorder.step({"w": np.ones((2, 3))}, 0.1)
    run = read_recording(tmp_path / "run")
    with says("`frozen` must be a finite number above 0; got 0."):
        findings(run, "lion", frozen=0)
    with says("`within` must be a finite number above 0 and below 1; got 1."):
        findings(run, "lion", within=1)
