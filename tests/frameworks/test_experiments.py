"""The experiments learn: their cells are normgeo's, their gradients true, their runs repeatable."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from normgeo import NORMALIZERS, CellLayer, Normalizer, run_cell
from normgeo.__main__ import main
from normgeo.base.progress import Stop
from normgeo.base.refusal import Refusal
from normgeo.experiments.networks import cells, draw, handwriting, reader
from normgeo.experiments.networks.training import Training
from normgeo.experiments.questions import BLANK, ENTITIES, FIRST_WORD, PAD, Question, encoded
from normgeo.experiments.results import METHODS, result_of

ROOT = Path(__file__).parents[2]
BOTH = ("none", "layer")
NO_NORM = Normalizer("none", "none")
H, F, S, T = 6, 4, 3, 7


def as_layer(cell, method):
    """The same cell, of normgeo."""
    norm = NO_NORM if method == "none" else replace(NORMALIZERS[method], eps=cells.EPS)
    gain = "g_batch" if method == "batch" else "g"
    units = [(cell[of]["W"], cell[of]["b"], cell[of].get(gain)) for of in ("h", "x")]
    memory = (cell["c"]["b"], cell["c"][gain]) if "c" in cell else None
    return CellLayer("lstm", norm, units, memory, gate_by_gate=False)


@pytest.mark.parametrize(("double", "bound"), [(False, 1e-6), (True, 1e-12)])
@pytest.mark.parametrize("method", METHODS)
def test_cells_are_those_of_run_cell(method, double, bound):
    """Steps of both, at first parameters that are moved, so that gains and shifts count."""
    with jax.enable_x64(double):
        cell = cells.init_lstm(jax.random.key(0), H, F, method)
        leaves, structure = jax.tree.flatten(cell)
        keys = jax.random.split(jax.random.key(1), len(leaves))
        moved = [
            leaf + 0.3 * jax.random.normal(key, leaf.shape)
            for leaf, key in zip(leaves, keys, strict=True)
        ]
        cell = jax.tree.unflatten(structure, moved)
        X = jax.random.normal(jax.random.key(2), (S, T, F))
        exact = as_layer(jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), cell), method)
        run = run_cell(exact, np.asarray(X, np.float64))
        state = cells.rest(S, H)
        for t in range(T):
            state = cells.lstm(cell, state, X[:, t])
            for ours, theirs in zip(state, run.states, strict=True):
                assert np.abs(np.asarray(ours) - theirs[t + 1]).max() < bound


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


@pytest.mark.parametrize("experiment", [draw, handwriting])
@pytest.mark.parametrize("method", BOTH)
def test_loss_descends_along_its_gradient(experiment, method):
    params = experiment.init(jax.random.key(0), method)
    batch = jax.tree.map(lambda each: jnp.asarray(each[:2]), experiment.data()[0])

    def loss(params):
        return experiment.loss(params, batch, jax.random.key(1))

    before, gradient = jax.jit(jax.value_and_grad(loss))(params)
    squared = sum((leaf**2).sum() for leaf in jax.tree.leaves(gradient))
    rate = 1e-3 / jnp.sqrt(squared)
    after = jax.jit(loss)(jax.tree.map(lambda p, g: p - rate * g, params, gradient))
    assert before - after == pytest.approx(float(rate * squared), rel=0.05)


def test_layer_norm_is_in_one_of_the_two_networks():
    for experiment in (draw, handwriting):
        plain, normed = (experiment.init(jax.random.key(0), method) for method in BOTH)
        gains = [
            "'g'" in jax.tree_util.keystr(path)
            for tree in (plain, normed)
            for path, _ in jax.tree_util.tree_leaves_with_path(tree)
        ]
        assert any(gains)
        assert not any(gains[: len(jax.tree.leaves(plain))])


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


def training(**asked):
    few = {"steps": 6, "seeds": [0], "rates": [0.01], "methods": [*BOTH], **asked}
    return Training(draw.EXPERIMENT, **few)


def test_run_that_was_stopped_goes_on_to_the_same_numbers(tmp_path):
    normed, keep = [BOTH[1]], tmp_path / "a.checkpoint"
    whole, stopped = training(methods=normed), training(methods=normed)
    whole.go()

    def stop(done, steps):
        if done == 3:
            raise Stop

    stopped.go(keep, stop)
    assert stopped.steps == [0, 1, 2, 3]
    later = training(methods=normed)
    later.resume(keep)
    later.go(keep)
    assert (later.steps, later.figures) == (whole.steps, whole.figures)
    for one, other in zip(jax.tree.leaves(later.runs), jax.tree.leaves(whole.runs), strict=True):
        assert np.array_equal(one, other)
    with pytest.raises(Refusal, match="checkpoint of another run"):
        training(methods=normed, seeds=[1]).resume(keep)
    keep.write_bytes(keep.read_bytes()[:900])
    with pytest.raises(Refusal, match="no checkpoint"):
        later.resume(keep)


def test_rates_and_seeds_at_once_are_those_alone():
    several = training(seeds=[0, 1], rates=[0.01, 0.02], methods=[BOTH[1]])
    alone = training(seeds=[1], rates=[0.02], methods=[BOTH[1]])
    several.go()
    alone.go()
    there, here = several.figures[BOTH[1]][-1][3], alone.figures[BOTH[1]][-1][0]
    assert there == pytest.approx(here, rel=1e-4)


def test_command_writes_what_the_page_reads(tmp_path, capsys):
    file = tmp_path / "x.json"
    asked = ["experiment", "draw", "--steps", "4", "--seeds", "0,1", "--rates", "0.01,0.02"]
    assert main([*asked, "-o", str(file)]) == 0
    said = capsys.readouterr().out
    result = result_of(json.loads(file.read_text("utf-8")))
    assert result.steps == (0, 1, 2, 3, 4)
    assert "Here: " in said
    assert result.command == (
        "python -m normgeo experiment draw --steps 4 --norm all --seeds 0,1 --rates 0.01,0.02"
    )
    assert main([*asked, "--norm", BOTH[1]]) == 0
    assert "Here: " not in capsys.readouterr().out


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
    command = [*(sys.executable, "-m", "normgeo", "experiment", "draw", "--steps", "3000")]
    command += ["--seeds", "0", "--rates", "0.01", "--norm", BOTH[0]]
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
    later = training(steps=3000, methods=[BOTH[0]])
    later.resume(keep)
    assert later.done > 0
    if end == signal.SIGINT:
        assert result_of(json.loads(file.read_text("utf-8"))).steps[-1] >= later.done


@pytest.mark.parametrize("experiment", [draw, handwriting])
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
        document = [f"w{w}" for w in rng.integers(20, size=32 if n < 5 else 9)]
        for place, name in enumerate(rng.permutation(8 if n < 5 else 3)):
            document[place * len(document) // 8] = f"@entity{name}"
        query = [f"w{w}" for w in rng.integers(20, size=16 if n < 5 else 4)]
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
    for method, first in (("layer", 1.0), ("batch", 0.1)):
        found = cells.init_lstm(jax.random.key(0), H, F, method)
        gain = {"layer": "g", "batch": "g_batch"}[method]
        assert all((found[of][gain] == np.float32(first)).all() for of in ("h", "x", "c"))


def test_what_a_reader_shows_is_small(asked):
    best = {method: reader.init(jax.random.key(0), method) for method in METHODS}
    (one,) = reader.moving(best, asked)["questions"]
    assert len(json.dumps(one, separators=(",", ":"))) < 45_000
    for found in one["methods"].values():
        assert np.shape(found["attention"]) == (16, 32)
        assert np.shape(found["chance"]) == (16, 8)
