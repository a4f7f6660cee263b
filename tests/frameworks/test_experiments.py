"""The experiments learn: their cells are normgeo's, their gradients true, their runs repeatable."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.signal import correlate2d

from normgeo import NORMALIZERS, CellLayer, Normalizer, run_cell
from normgeo.__main__ import main
from normgeo.base.progress import Stop
from normgeo.base.refusal import Refusal
from normgeo.cli.progress import time_in_words
from normgeo.experiments import captions as files
from normgeo.experiments import strokes
from normgeo.experiments.networks import (
    cells,
    classify,
    compiled,
    convolution,
    draw,
    handwriting,
    mnist,
    order,
    reader,
)
from normgeo.experiments.networks import training as trainings
from normgeo.experiments.networks.pace import pace
from normgeo.experiments.networks.training import Training
from normgeo.experiments.questions import (
    BLANK,
    DOCUMENT,
    ENTITIES,
    FIRST_WORD,
    PAD,
    QUERY,
    Question,
    encoded,
)
from normgeo.experiments.results import METHODS, STATEMENTS, load, result_of

ROOT = Path(__file__).parents[2]
BOTH = ("none", "layer")
NO_NORM = Normalizer("none", "none")
H, F, S, T = 6, 4, 3, 7
FEW = {"seeds": [0], "rates": [0.01]}  # those of most trainings here: what they share compiles once


@pytest.fixture(scope="module", autouse=True)
def compiled_once(tmp_path_factory):
    """Keep what is compiled, for the commands too, and do not optimize what runs a few steps."""
    options = {
        "jax_compilation_cache_dir": str(tmp_path_factory.mktemp("compiled")),
        "jax_disable_most_optimizations": True,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in options.items():
            patch.setenv(name.upper(), str(value))
            jax.config.update(name, value)
        patch.setattr(trainings, "QUICK", 0)  # would optimize more
        patch.setattr(trainings, "pace", lambda: 0.1)
        yield
    jax.config.update("jax_compilation_cache_dir", None)
    jax.config.update("jax_disable_most_optimizations", False)


def as_layer(cell, method):
    """The same cell, of normgeo."""
    named = (
        NORMALIZERS[{"everywhere": "batch"}.get(method, method)] if method != "none" else NO_NORM
    )
    norm = replace(named, eps=cells.EPS)
    gain = "g" if method == "layer" else "g_batch"
    units = [(cell[of]["W"], cell[of]["b"], cell[of].get(gain)) for of in ("h", "x")]
    memory = (cell["c"]["b"], cell["c"][gain]) if "c" in cell else None
    return CellLayer("lstm", norm, units, memory, gate_by_gate=False)


def as_gru(cell, method):
    """The same GRU, of normgeo."""
    norm = replace(NORMALIZERS["layer"], eps=cells.EPS) if method == "layer" else NO_NORM
    units = [(cell[of]["W"], cell[of]["b"], cell[of].get("g")) for of in ("h", "x", "W", "U")]
    return CellLayer("gru", norm, units, None, gate_by_gate=False)


def moved(cell):
    """First parameters that are moved, so that gains and shifts count."""
    leaves, structure = jax.tree.flatten(cell)
    keys = jax.random.split(jax.random.key(1), len(leaves))
    return jax.tree.unflatten(
        structure,
        [
            leaf + 0.3 * jax.random.normal(key, leaf.shape)
            for leaf, key in zip(leaves, keys, strict=True)
        ],
    )


@pytest.mark.parametrize(("double", "bound"), [(False, 1e-6), (True, 1e-12)])
@pytest.mark.parametrize("method", METHODS)
def test_cells_are_those_of_run_cell(method, double, bound):
    """Steps of both."""
    with jax.enable_x64(double):
        cell = moved(cells.init_lstm(jax.random.key(0), H, F, method))
        X = jax.random.normal(jax.random.key(2), (S, T, F))
        exact = as_layer(jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), cell), method)
        run = run_cell(exact, np.asarray(X, np.float64))
        state = cells.rest(S, H)
        for t in range(T):
            state = cells.lstm(cell, state, X[:, t])
            for ours, theirs in zip(state, run.states, strict=True):
                assert np.abs(np.asarray(ours) - theirs[t + 1]).max() < bound


@pytest.mark.parametrize(("double", "bound"), [(False, 1e-6), (True, 1e-12)])
@pytest.mark.parametrize("method", BOTH)
def test_gru_is_that_of_run_cell(method, double, bound):
    with jax.enable_x64(double):
        cell = moved(cells.init_gru(jax.random.key(0), H, F, method))
        X = jax.random.normal(jax.random.key(2), (S, T, F))
        exact = as_gru(jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), cell), method)
        run = run_cell(exact, np.asarray(X, np.float64))
        h = jnp.zeros((S, H))
        for t in range(T):
            h = cells.gru(cell, h, X[:, t])
            assert np.abs(np.asarray(h) - run.hidden[t + 1]).max() < bound


@pytest.mark.parametrize("method", BOTH)
def test_gradient_of_gru_is_that_of_back_propagation_through_time(method):
    with jax.enable_x64(True):
        cell = moved(cells.init_gru(jax.random.key(3), H, F, method))
        X = jax.random.normal(jax.random.key(4), (S, T, F))
        U = np.random.default_rng(0).standard_normal((T, S, H))

        def along(cell):
            h, total = jnp.zeros((S, H)), 0.0
            for t in range(T):
                h = cells.gru(cell, h, X[:, t])
                total += (U[t] * h).sum()
            return total

        layer = as_gru(jax.tree.map(np.asarray, cell), method)
        expected = layer.unpack(run_cell(layer, np.asarray(X)).vjp(U))
        found = as_gru(jax.tree.map(np.asarray, jax.grad(along)(cell)), method)
        assert np.abs(found.pack() - expected.pack()).max() < 1e-11


@pytest.mark.parametrize("method", METHODS)
def test_gradient_is_that_of_back_propagation_through_time(method):
    with jax.enable_x64(True):
        cell = cells.init_lstm(jax.random.key(3), H, F, method)
        X = jax.random.normal(jax.random.key(4), (S, T, F))
        U = np.random.default_rng(0).standard_normal((T, S, H))

        def along(cell):
            state, total = cells.rest(S, H), 0.0
            for t in range(T):
                state = cells.lstm(cell, state, X[:, t])
                total += (U[t] * state[0]).sum()
            return total

        gradient = jax.grad(along)(cell)
        layer = as_layer(jax.tree.map(np.asarray, cell), method)
        expected = layer.unpack(run_cell(layer, np.asarray(X)).vjp(U))
        found = as_layer(jax.tree.map(np.asarray, gradient), method)
        assert np.abs(found.pack() - expected.pack()).max() < 1e-11


@pytest.mark.parametrize("experiment", [order, draw, handwriting, mnist, convolution])
@pytest.mark.parametrize("method", BOTH)
def test_loss_descends_along_its_gradient(experiment, method):
    params = experiment.init(jax.random.key(0), method)
    batch = jax.tree.map(lambda each: jnp.asarray(each[:2]), experiment.data()[0])

    def loss(params):
        return experiment.loss(params, batch, jax.random.key(1))

    both = jax.jit(jax.value_and_grad(loss))
    before, gradient = both(params)
    squared = sum((leaf**2).sum() for leaf in jax.tree.leaves(gradient))
    rate = 1e-3 / jnp.sqrt(squared)
    after, _ = both(jax.tree.map(lambda p, g: p - rate * g, params, gradient))
    assert before - after == pytest.approx(float(rate * squared), rel=0.05)


def test_layer_norm_is_in_one_of_the_two_networks():
    for experiment in (order, draw, handwriting, mnist, convolution):
        plain, normed = (experiment.init(jax.random.key(0), method) for method in BOTH)
        gains = [
            "'g'" in jax.tree_util.keystr(path)
            for tree in (plain, normed)
            for path, _ in jax.tree_util.tree_leaves_with_path(tree)
        ]
        assert any(gains)
        assert not any(gains[: len(jax.tree.leaves(plain))])


@pytest.mark.parametrize("method", ["batch", "layer"])
def test_units_are_normalized_as_by_normgeo(method):
    rng = np.random.default_rng(0)
    X, W, norm = rng.random((9, F)), rng.normal(size=(H, F)), NORMALIZERS[method]
    with jax.enable_x64(True):
        unit = {**classify.init_unit(jax.random.key(0), H, F, method), "W": W}
        found = classify.normalized(unit, X @ W.T, None)
    expected = replace(norm, eps=cells.EPS).normalize(W, X).z
    assert np.abs(np.asarray(found) - expected).max() < 1e-12


def test_convolution_is_that_of_scipy_and_its_norms_are_over_channels_and_whole_layers():
    rng = np.random.default_rng(0)
    x, W = rng.random((3, 8, 8, 2)), rng.normal(size=(4, 18))
    kernels = W.reshape(4, 3, 3, 2)
    with jax.enable_x64(True):
        a = np.asarray(convolution.convolve(W, x))
        units = {m: classify.init_unit(jax.random.key(0), 4, 18, m) for m in ("batch", "layer")}
        batch, layer = (np.asarray(classify.normalized(each, a, None)) for each in units.values())
    for n, k in np.ndindex(3, 4):
        expected = sum(correlate2d(x[n, ..., d], kernels[k, ..., d], mode="same") for d in range(2))
        assert np.allclose(a[n, ..., k], expected)
    for found, axes in ((batch, (0, 1, 2)), (layer, (1, 2, 3))):
        centered = a - a.mean(axes, keepdims=True)
        assert np.allclose(found, centered / np.sqrt(a.var(axes, keepdims=True) + cells.EPS))


@pytest.mark.parametrize("experiment", [mnist, convolution])
def test_answer_with_batch_norm_does_not_depend_on_other_held_out_digits(experiment):
    """But it does while the network learns."""
    params = experiment.init(jax.random.key(0), "batch")
    held_out = jax.tree.map(jnp.asarray, experiment.data()[2])
    some = {**held_out, "pictures": held_out["pictures"][:9]}
    one = {**held_out, "pictures": held_out["pictures"][:1]}
    many, alone = (classify.answers(experiment.network, params, each) for each in (some, one))
    np.testing.assert_allclose(many[:1], alone, atol=1e-5)
    nine, two = (experiment.network(params, some["pictures"][:n], None)[:2] for n in (9, 2))
    assert np.abs(nine - two).max() > 0.01


def test_contrast_has_no_part_in_the_answer_with_layer_norm_alone():
    held_out = jax.tree.map(jnp.asarray, convolution.data()[2])
    strong = {**held_out, "pictures": 8 * held_out["pictures"]}
    for method in convolution.EXPERIMENT.methods:
        params = convolution.init(jax.random.key(0), method)
        plain, turned = (
            classify.answers(convolution.network, params, each) for each in (held_out, strong)
        )
        moved = float(np.abs(plain - turned).max())
        assert (moved < 0.01) == (method == "layer"), moved


def test_batches_of_another_size_learn_beside_as_they_would_alone():
    few = {"steps": 2, "seeds": [0, 1], "rates": [0.01], "methods": ["layer"]}
    both = Training(mnist.EXPERIMENT, **few)
    alone = Training(replace(mnist.EXPERIMENT, batch=128, further_batches=()), **few)
    for each in (both, alone):
        each.go()
    assert [*both.ways] == ["layer", "layer 128"]
    np.testing.assert_allclose(both.figures["layer 128"], alone.figures["layer"], rtol=1e-4)
    assert not np.allclose(both.figures["layer"][1], alone.figures["layer"][1])
    found = both.result("x")
    ways = found["moving"]["ways"]
    assert [(one["method"], one["batch"]) for one in ways] == [("layer", 4), ("layer", 128)]
    assert ways[0]["validation"] == found["methods"]["layer"]["validation"]
    watched = np.array(both.figures["layer"])[:, 0, 2:]
    labels = mnist.data()[1]["labels"][: mnist.WATCHED]
    (errors,) = ways[0]["others"].values()
    wrong = 100 * (watched != labels).mean(axis=1)
    np.testing.assert_allclose(errors["validation"][0], wrong, rtol=1e-4)
    assert {len(each) for each in ways[0]["watched"]} == {mnist.SHOWN}


@pytest.mark.parametrize("experiment", [mnist, convolution])
def test_pictures_of_mnist_make_a_larger_network(experiment, monkeypatch):
    monkeypatch.setattr("normgeo.datasets.handwritten.HELD_OUT", {784: (20, 20)})
    rng = np.random.default_rng(0)
    stand_in = {"data": rng.integers(0, 256, (90, 784)), "target": rng.integers(0, 10, 90)}
    monkeypatch.setattr(
        "sklearn.datasets.fetch_openml", lambda *args, **options: SimpleNamespace(**stand_in)
    )
    small = replace(experiment.EXPERIMENT, further_batches=())
    few = {"steps": 1, "seeds": [0], "rates": [0.01], "methods": ["batch"]}
    training = Training(small, **few, where="openml")
    training.go()
    first = training.runs["batch"].params
    inputs = {"mnist": (1000, 784), "convolution": (8, 9)}[small.name]
    assert first["first"]["W"].shape[1:] == inputs
    assert first["output"]["W"].shape[1:] == (10, {"mnist": 1000, "convolution": 784}[small.name])
    assert training.result("x")["data"] == "openml"


def test_window_of_a_filter_is_where_it_reads():
    """A narrow grid around a pixel reads that pixel."""
    x, y = 2, 5
    unit = {
        "W": jnp.zeros((5, 1)),
        "b": jnp.array([*(2 * (at + 1) / (draw.SIDE + 1) - 1 for at in (x, y)), -9.0, -9.0, 0.0]),
    }
    picture = jnp.arange(64.0)[None]
    seen = draw.read(unit, jnp.zeros((1, 1)), picture, 0 * picture)
    assert np.allclose(seen[0, : draw.PATCH**2], 8 * y + x)
    assert np.allclose(seen[0, draw.PATCH**2 :], 0)
    assert np.allclose(draw.filters(unit, jnp.zeros((1, 1)))[3][0, :2], [x, y])


def test_mixture_density_is_a_density():
    """A grid sums to one, and a part of it has the share that a lift has."""
    of = handwriting.Mixture(
        jnp.log(jnp.array([0.3, 0.7])),
        jnp.array([[0.5, -1.0], [-1.0, 0.4]]),
        jnp.log(jnp.array([[0.4, 0.6], [0.5, 0.3]])),
        jnp.array([0.6, -0.3]),
        jnp.array(0.8),
    )
    side = jnp.linspace(-5, 5, 401)
    x, y = (each.ravel() for each in jnp.meshgrid(side, side))
    cell = float(side[1] - side[0]) ** 2
    total = [
        float(jnp.exp(handwriting.log_likelihood(of, jnp.stack([x, y, up + 0 * x], -1))).sum())
        * cell
        for up in (0.0, 1.0)
    ]
    assert sum(total) == pytest.approx(1, abs=1e-3)
    assert total[1] == pytest.approx(1 / (1 + math.exp(-0.8)), abs=1e-3)


def test_order_is_violated_only_where_a_caption_says_more_than_a_picture_has():
    caption, less, more = jnp.array([0.3, 0.0, 0.2]), [0.1, 0.5, 0.2], [0.3, 0.9, 0.4]
    assert np.allclose(order.scores(caption, jnp.array([less, more])), [-0.04, 0])


def test_hinge_is_that_of_its_sum():
    s = -np.random.default_rng(0).random((4, 4)) / 20
    expected = 0.0
    for n in range(4):
        for m in {*range(4)} - {n}:
            expected += max(0, order.MARGIN + s[n, m] - s[n, n])
            expected += max(0, order.MARGIN + s[m, n] - s[n, n])
    assert float(order.hinge(jnp.array(s))) == pytest.approx(expected / 12, rel=1e-5)


def test_rank_counts_the_better_shares_ties_and_puts_last_what_is_no_number():
    s = jnp.array([-0.2, -0.1, -0.2, -0.3, -0.2])
    assert [float(order.rank(s, jnp.array(at))) for at in (0, 1, 3)] == [3, 1, 5]
    assert float(order.rank(s.at[1].set(jnp.nan), jnp.array(1))) == 5
    assert float(order.rank(s * jnp.nan, jnp.array(1))) == 5


@pytest.mark.parametrize("method", BOTH)
def test_ranks_and_recalls_are_those_of_sorted_scores(method):
    params = order.init(jax.random.key(0), method)
    cases = {name: each[:15] for name, each in order.data()[2].items() if name != "words"}
    mean, first, ten, _ = order.figures(params, cases, jax.random.key(0))
    found, cell = [], jax.jit(cells.gru)
    images = np.abs(cases["images"] @ np.asarray(params["image"]["W"]).T)
    images /= np.linalg.norm(images, axis=1, keepdims=True)
    for n, captions in enumerate(cases["captions"]):
        for caption in captions:
            h = jnp.zeros((1, order.NEURONS))
            for word in caption[caption != files.NOTHING]:
                h = cell(params["cell"], h, params["words"][word][None])
            f = np.abs(np.asarray(h[0])) / np.linalg.norm(h)
            errors = (np.maximum(f - images, 0) ** 2).sum(1)
            found.append([*np.argsort(errors)].index(n) + 1)
    assert float(mean) == pytest.approx(np.mean(found), abs=0.02)
    assert float(first) == pytest.approx(np.mean(np.array(found) <= 1), abs=0.02)
    assert float(ten) == pytest.approx(np.mean(np.array(found) <= 10), abs=0.02)


def test_words_after_the_end_of_a_caption_change_nothing():
    params = order.init(jax.random.key(0), BOTH[1])
    caption = np.array([[4, 2, 7, 0, 0]])
    whole, each = order.read_words(params, jnp.array(caption))
    assert np.array_equal(whole, order.read_words(params, jnp.array(caption[:, :3]))[0])
    assert np.array_equal(each[2], whole)
    assert np.allclose((whole**2).sum(-1), 1)


def test_own_captions_and_features_are_learned_from(tmp_path):
    """Images of another width and other words, in files of the published format."""
    rng, words = np.random.default_rng(0), ["ein", "hund", "läuft"]
    for split in files.SPLITS:
        lines = [" ".join(rng.permutation(words)) for _ in range(files.EACH * 6)]
        (tmp_path / f"f8k_{split}_caps.txt").write_text("\n".join(lines) + "\n", "utf-8")
        np.save(tmp_path / f"f8k_{split}_ims.npy", rng.standard_normal((6, 7)))
    file = tmp_path / "x.json"
    asked = ["experiment", "order", "--data", str(tmp_path), "--steps", "2", "--seeds", "0"]
    asked += ["--rates", "0.01", "--norm", BOTH[1]]
    assert main([*asked, "-o", str(file)]) == 0
    result = result_of(json.loads(file.read_text("utf-8")))
    assert result.data == str(tmp_path)
    assert {*result.moving["captions"][0]["words"]} == {*words}
    assert result.moving["pictures"] == []
    assert 1 <= result.methods[BOTH[1]].test[0] <= 6


def training(experiment=mnist, **asked):
    """Of digits: they compile soonest."""
    return Training(experiment.EXPERIMENT, **{"steps": 6, "methods": [BOTH[1]], **FEW, **asked})


@pytest.mark.parametrize("experiment", [mnist, draw])
def test_run_that_was_stopped_goes_on_to_the_same_numbers(experiment, tmp_path):
    """Also one with recurrent cells and with noise in its loss."""
    keep = tmp_path / "a.checkpoint"
    steps = trainings.LEAST + 1
    whole, stopped, later = (training(experiment, steps=steps) for _ in range(3))
    whole.go()

    def stop(done, steps):
        if done == trainings.LEAST:
            raise Stop

    stopped.go(keep, stop)
    assert stopped.steps == [0, trainings.LEAST]
    later.resume(keep)
    later.go(keep)
    assert (later.steps, later.figures) == (whole.steps, whole.figures)
    for one, other in zip(jax.tree.leaves(later.runs), jax.tree.leaves(whole.runs), strict=True):
        assert np.array_equal(one, other)
    with pytest.raises(Refusal, match="checkpoint of another run"):
        training(experiment, steps=steps + 1).resume(keep)
    keep.write_bytes(keep.read_bytes()[:900])
    with pytest.raises(Refusal, match="no checkpoint"):
        later.resume(keep)


def test_rates_and_seeds_at_once_are_those_alone():
    several = training(seeds=[0, 1], rates=[0.01, 0.02])
    alone = training(seeds=[1], rates=[0.02])
    several.go()
    alone.go()
    there, here = several.figures[BOTH[1]][-1][3], alone.figures[BOTH[1]][-1][0]
    assert there == pytest.approx(here, rel=1e-4)


def test_runs_are_spread_over_devices(tmp_path):
    """Over as many as take equally many; a checkpoint goes back to where runs were."""
    several = training(seeds=[0, 1], rates=[0.01, 0.02])
    several.go()
    code = """
import json, pathlib, sys, jax
from normgeo.experiments.networks import mnist
from normgeo.experiments.networks.training import Training
asked = {"steps": 6, "methods": ["layer"], "seeds": [0, 1], "rates": [0.01, 0.02]}
begun, again = Training(mnist.EXPERIMENT, **asked), Training(mnist.EXPERIMENT, **asked)
begun.go(pathlib.Path(sys.argv[1]))
again.resume(pathlib.Path(sys.argv[1]))
places = [len(leaf.sharding.device_set) for leaf in jax.tree.leaves((begun.runs, again.runs))]
print(json.dumps([len(jax.devices()), min(places), max(places), begun.figures, again.figures]))
"""
    flags = {"PYTHONPATH": str(ROOT), "XLA_FLAGS": "--xla_force_host_platform_device_count=5"}
    said = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "a.checkpoint"],
        cwd=ROOT,
        env={**os.environ, **flags},
        capture_output=True,
        text=True,
        check=True,
    )
    there, fewest, most, figures, again = json.loads(said.stdout)
    assert (there, fewest, most) == (5, 4, 4)
    assert again == figures
    assert np.allclose(figures[BOTH[1]], several.figures[BOTH[1]], rtol=1e-4)


def test_command_writes_what_the_page_reads(tmp_path, capsys):
    file = tmp_path / "x.json"
    asked = ["experiment", "mnist", "--steps", "4", "--seeds", "0,1", "--rates", "0.01,0.02"]
    assert main([*asked, "-o", str(file)]) == 0
    said = capsys.readouterr().out
    result = result_of(json.loads(file.read_text("utf-8")))
    assert result.steps == (0, 4)
    assert "Here: " in said
    assert result.command == (
        "python -m normgeo experiment mnist --steps 4 --norm all --seeds 0,1 --rates 0.01,0.02"
    )
    assert main([*asked, "--norm", BOTH[1]]) == 0
    assert "Here: " not in capsys.readouterr().out


def test_what_moves_on_the_page_is_computed_for_a_file_only(tmp_path, monkeypatch):
    asked = []

    def move(*given):
        asked.append(given)
        return {"digits": []}

    seen = replace(mnist.EXPERIMENT, moving=move, beside=move, further_batches=())
    monkeypatch.setattr(mnist, "EXPERIMENT", seen)
    quick = ["experiment", "mnist", "--steps", "1", "--seeds", "0", "--rates", "0.01"]
    assert main(quick) == 0
    assert asked == []
    file = tmp_path / "x.json"
    assert main([*quick, "-o", str(file)]) == 0
    assert len(asked) == 2
    assert json.loads(file.read_text("utf-8"))["moving"] == {"digits": []}


def test_option_that_xla_does_not_have_is_left_out(monkeypatch):
    """Newer versions than the oldest one have dropped one, and other devices may refuse it."""
    monkeypatch.setattr(compiled, "SIMPLY", {"xla_cpu_unheard_of": False})
    compiled._options.cache_clear()
    try:
        assert compiled.lightly(lambda x: x + 1)(1) == 2
        assert compiled._options() == compiled.LIGHTLY
    finally:
        compiled._options.cache_clear()


def test_list_tells_the_time_that_this_machine_needs(monkeypatch, capsys):
    assert 0 < pace() < math.inf
    result = load("draw")
    for times in (1, 2, 30):
        now = times * result.pace
        monkeypatch.setattr("normgeo.experiments.networks.pace.pace", partial(float, now))
        assert main(["experiment", "--list"]) == 0
        row = next(line for line in capsys.readouterr().out.splitlines() if "draw" in line)
        assert time_in_words(times * result.seconds) in row


@pytest.mark.parametrize("quick", [False, True])
def test_quick_run_does_not_wait_to_time_the_machine(quick, monkeypatch):
    """Most of its own seconds compile, and tell nothing of another machine."""
    monkeypatch.setattr(trainings, "QUICK", 7 if quick else 6)
    assert training().result("")["pace"] == (0 if quick else trainings.pace())


def test_data_to_learn_from_are_no_constants_of_what_is_compiled():
    """XLA would hold them once more for each method, and compile for longer."""
    begun = training()
    runs, batch = begun.runs[BOTH[1]], mnist.EXPERIMENT.batch
    lowered = begun._block.lower(runs, 0, 0, begun._learned, begun._validation, batch)
    learned = sum(leaf.size for leaf in jax.tree.leaves(begun._learned))
    assert len(lowered.as_text()) < 8 * learned  # letters of a constant of 4 bytes


@pytest.mark.parametrize("name", STATEMENTS)
def test_command_runs_every_experiment(name, tmp_path):
    file = tmp_path / "x.json"
    asked = ["experiment", name, "--steps", "2", "--norm", BOTH[1], "-o", str(file)]
    for option, values in FEW.items():
        asked += [f"--{option}", *map(str, values)]
    assert main(asked) == 0
    result = result_of(json.loads(file.read_text("utf-8")))
    (learned,) = result.methods.values()
    assert result.steps == (0, 2)
    assert np.isfinite(learned.test).all()


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (["--norm", "batch"], "The norms of draw are none, layer; got 'batch'."),
        (["--data", "openml"], "draw has no other data than those that ship."),
        (["--device", "abacus"], "JAX finds no 'abacus' here, but cpu."),
    ],
)
def test_what_the_experiment_does_not_have_is_refused(asked, sentence, capsys):
    assert main(["experiment", "draw", *asked]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(("end", "status"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 0)])
def test_checkpoint_survives_and_ctrl_c_keeps_what_there_is(tmp_path, end, status):
    keep, file = tmp_path / "c", tmp_path / "x.json"
    command = [*(sys.executable, "-m", "normgeo", "experiment", "mnist", "--steps", "60000")]
    command += ["--seeds", "0", "--rates", "0.01", "--norm", BOTH[1]]
    process = subprocess.Popen(
        [*command, "--resume", keep, "-o", file],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    while process.poll() is None and not keep.exists():
        time.sleep(0.05)
    process.send_signal(end)
    _, said = process.communicate()
    assert process.returncode == status, said
    later = training(steps=60_000)
    later.resume(keep)
    assert later.done > 0
    if end == signal.SIGINT:
        assert result_of(json.loads(file.read_text("utf-8"))).steps[-1] >= later.done


def test_lines_of_iam_are_learned_from(tmp_path):
    """Files in its format, of our own hand: the same offsets but for their unit, and all texts."""
    words = "the moon is round and 'the' sea #1"
    drawn = [
        strokes.write(strokes.phrase(np.random.default_rng(n), 60), np.random.default_rng(n))
        for n in range(10)
    ]
    for n, line in enumerate(drawn):
        at = line.points[:, :2].cumsum(axis=0) * (100, -100)
        lifts = np.flatnonzero(line.points[:, 2])[:-1] + 1
        points = [
            "".join(f'<Point x="{x}" y="{y}" time="0"/>' for x, y in stroke)
            for stroke in np.split(at, lifts)
        ]
        folder, said = tmp_path / f"lineStrokes/a/{n}", tmp_path / f"ascii/a/{n}"
        folder.mkdir(parents=True)
        said.mkdir(parents=True)
        inside = "".join(f"<Stroke>{one}</Stroke>" for one in points)
        (folder / f"{n}u-01.xml").write_text(f"<StrokeSet>{inside}</StrokeSet>")
        (said / f"{n}u.txt").write_text(f"CSR:\n\n{words}\n")
    learned, validation, test = handwriting.data(str(tmp_path))
    assert [len(part["points"]) for part in (learned, validation, test)] == [8, 1, 1]
    own = drawn[2].points[1 : handwriting.STEPS]
    shape = learned["points"][0, 2:]
    assert np.allclose(shape[:, :2] / shape[:, :2].std(), own[:, :2] / own[:, :2].std(), atol=1e-4)
    assert np.array_equal(shape[:, 2], own[:, 2])
    assert "".join(handwriting.EVERY[n] for n in test["texts"][0]) == words
    fitted = handwriting.EXPERIMENT.fitting(learned)
    params = fitted.init(jax.random.key(0), "layer")
    batch = jax.tree.map(lambda each: jnp.asarray(each[:2]), learned)
    assert np.isfinite(handwriting.loss(params, batch, jax.random.key(0)))
    with pytest.raises(Refusal, match="has no lineStrokes, ascii"):
        handwriting.data(str(tmp_path / "ascii"))


@pytest.mark.parametrize("experiment", [order, draw, handwriting, convolution])
def test_what_moves_is_there_and_small(experiment):
    best = {
        method: experiment.init(jax.random.key(0), method)
        for method in experiment.EXPERIMENT.methods
    }
    moving = experiment.moving(best, jax.tree.map(jnp.asarray, experiment.data()[2]))
    assert len(json.dumps(moving, separators=(",", ":"))) < 45_000


@pytest.fixture(scope="module")
def asked():
    """A few questions, of which the last is short."""
    rng = np.random.default_rng(0)
    words = {f"w{n}": FIRST_WORD + n for n in range(20)}
    questions = []
    for n in range(6):
        document = [f"w{w}" for w in rng.integers(20, size=DOCUMENT if n < 5 else 9)]
        for place, name in enumerate(rng.permutation(8 if n < 5 else 3)):
            document[place * len(document) // 8] = f"@entity{name}"
        query = [f"w{w}" for w in rng.integers(20, size=QUERY if n < 5 else 4)]
        query[2] = "@placeholder"
        names = tuple("abcdefgh")
        questions.append(Question(tuple(document), tuple(query), "@entity1", names))
    return jax.tree.map(jnp.asarray, encoded(questions, words))


@pytest.mark.parametrize("method", METHODS)
def test_reader_attends_to_words_and_a_name_has_the_attention_of_its_places(asked, method):
    params = reader.init(jax.random.key(0), method)
    found = reader.read(params, asked["document"], asked["query"])
    attention, document = np.asarray(found.attention), np.asarray(asked["document"])
    np.testing.assert_allclose(attention.sum(axis=1), 1, rtol=1e-5)
    assert not attention[document == PAD].any()
    for name in range(ENTITIES):
        expected = (attention * (document == name)).sum(axis=1)
        np.testing.assert_allclose(np.exp(found.log_chance[:, name]), expected, atol=1e-6)


def test_reader_reads_with_the_lstm_from_both_ends(asked):
    """Against the cells, word by word; a PAD leaves the state as it is."""
    params = reader.init(jax.random.key(0), "layer")
    found = reader.states(params, asked["document"], asked["query"])
    document, query = (np.asarray(asked[of]) for of in ("document", "query"))
    orders = document, document[:, ::-1], query, query[:, ::-1]
    for which, (words, ends) in enumerate(zip(orders, found, strict=True)):
        cell = jax.tree.map(lambda leaf, at=which: leaf[at], params["cells"])
        for n in (0, 5):
            state = cells.rest(1, reader.NEURONS)
            for word in words[n][words[n] != PAD]:
                state = cells.lstm(cell, state, params["words"][word][None])
            np.testing.assert_allclose(ends[-1, n], state[0][0], atol=1e-5)


def test_batch_norm_everywhere_is_also_that_of_both_terms_of_the_attention(asked):
    """Against normgeo's batch norm, at each word of the document apart."""
    with jax.enable_x64(True):
        params = moved(reader.init(jax.random.key(0), "everywhere"))
        found = reader.read(params, asked["document"], asked["query"])
        forth, back, *ends = reader.states(params, asked["document"], asked["query"])
        y = np.concatenate([forth, back[::-1]], axis=-1)
        u = np.concatenate([each[-1] for each in ends], axis=-1)
        batch = replace(NORMALIZERS["batch"], eps=cells.EPS)

        def term(of, a):
            unit = params[of]
            return unit["g_batch"] * batch.normalize(np.asarray(unit["W"]), a).z + unit["b"]

        odds = [
            np.tanh(term("document", word) + term("query", u))
            @ np.asarray(params["attention"]["W"])[0]
            for word in y
        ]
        odds = np.where(asked["document"] == PAD, -np.inf, np.array(odds).T)
        expected = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
        assert np.abs(np.asarray(found.attention) - expected).max() < 1e-12
    plain = reader.init(jax.random.key(0), "batch")
    assert not {"g", "g_batch"} & {*plain["document"], *plain["query"], *plain["attention"]}


def test_names_are_numbered_anew_and_nothing_else_changes(asked):
    new = reader.renamed(asked, jax.random.key(1))
    for of in ("document", "query"):
        before, after = np.asarray(asked[of]), np.asarray(new[of])
        assert np.array_equal(before[before >= ENTITIES], after[before >= ENTITIES])
        assert ((after < ENTITIES) == (before < ENTITIES)).all()
    for n, answer in enumerate(np.asarray(new["answer"])):
        pairs = {*zip(asked["document"][n].tolist(), new["document"][n].tolist(), strict=True)}
        names = {(one, other) for one, other in pairs if one < ENTITIES}
        assert (1, answer) in names
        assert len({other for _, other in names}) == len(names)
    assert not np.array_equal(asked["document"], new["document"])


def test_query_that_has_begun_ends_with_its_first_words():
    query = jnp.array([[PAD, PAD, 7, 8, BLANK], [1, 2, 3, 4, 5]])
    assert reader.begun(query, 2).tolist() == [[PAD, PAD, PAD, 7, 8], [PAD, PAD, PAD, 1, 2]]
    assert reader.begun(query, 3).tolist() == [[PAD, PAD, 7, 8, BLANK], [PAD, PAD, 1, 2, 3]]
    assert reader.begun(query, 5).tolist() == query.tolist()


def test_reader_is_judged_by_wrong_answers_and_descends_along_its_gradient(asked):
    params, key = reader.init(jax.random.key(0), "batch"), jax.random.key(2)
    new = reader.renamed(asked, key)
    log_chance = np.asarray(reader.read(params, new["document"], new["query"]).log_chance)
    answer = np.asarray(new["answer"])
    wrong, missed = reader.figures(params, asked, key)
    assert wrong == pytest.approx(100 * np.mean(log_chance.argmax(axis=1) != answer))
    assert missed == pytest.approx(-log_chance[range(6), answer].mean(), rel=1e-5)
    gradient = jax.grad(reader.loss)(params, asked, key)
    squared = float(sum((leaf**2).sum() for leaf in jax.tree.leaves(gradient)))
    step = jax.tree.map(lambda p, g: p - 1e-2 * g / squared**0.5, params, gradient)
    gained = missed - reader.loss(step, asked, key)
    assert gained == pytest.approx(1e-2 * squared**0.5, rel=0.1)


def test_first_gains_are_those_of_the_papers():
    for method, first in (("layer", 1.0), ("batch", 0.1), ("everywhere", 0.1)):
        found = cells.init_lstm(jax.random.key(0), H, F, method)
        gain = "g" if method == "layer" else "g_batch"
        assert all((found[of][gain] == np.float32(first)).all() for of in ("h", "x", "c"))


def test_what_a_reader_shows_is_small(asked):
    best = {method: reader.init(jax.random.key(0), method) for method in METHODS}
    (one,) = reader.moving(best, asked)["questions"]
    assert len(json.dumps(one, separators=(",", ":"))) < 45_000
    for found in one["methods"].values():
        assert np.shape(found["attention"]) == (QUERY, DOCUMENT)
        assert np.shape(found["chance"]) == (QUERY, 8)
