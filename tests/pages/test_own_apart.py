"""A user's layer or run that takes longer is reported by a worker, as the script would."""

import json
import struct
from collections.abc import Iterator

import numpy as np
import pytest

from normgeo import Recorder
from normgeo.base.refusal import Refusal
from normgeo.checkpoints import checkpoint
from normgeo.checkpoints.examples import EXAMPLES
from normgeo.datasets.tensor_files import list_tensors
from normgeo.pictures.your_network import checkpoints, own_layer, own_run
from normgeo.ui.computing import waiting
from normgeo.ui.your_network import apart
from normgeo.workers.pool import Pool
from normgeo.workers.run import Limits
from tests.pages.test_your_network import (
    NET,
    W,
    drawn_norms,
    drawn_run,
    given,
    npz,
    own_tab,
    run_tab,
)

__all__ = ["own_tab", "run_tab"]


@pytest.fixture(scope="module")
def one_worker() -> Iterator[Pool]:
    pool = Pool(1)
    pool.start()
    yield pool
    pool.close()


@pytest.fixture
def pool(one_worker) -> Pool:
    return one_worker


@pytest.fixture
def in_a_worker(monkeypatch):
    """The server itself looks into no file."""

    def refused(files, *arguments):
        if [*np.ravel(files)] not in shipped:
            raise AssertionError("the server looks into a file")
        return list_tensors(files)

    shipped = [[one.path] for one in EXAMPLES.values()]

    for module in (own_layer, own_run, checkpoint, checkpoints):
        monkeypatch.setattr(module, "list_tensors", refused)
    monkeypatch.setattr(checkpoints, "read_recording", refused)


@pytest.mark.exhaustive
def test_worker_tells_a_layer_what_is_possible_and_all_layers(own_tab, in_a_worker, rng):
    given(own_tab, ("net.npz", NET))
    assert sorted(drawn_norms(own_tab)) == pytest.approx(sorted(np.linalg.norm(W, axis=1)))
    kernel = rng.standard_normal((9, 2, 3, 3))
    given(own_tab, ("net.npz", npz(**{"conv.weight": kernel, "n.weight": np.ones(9)})))
    assert own_tab.app.selectbox(key="stands").options == [
        "automatic",
        "after W",
        "after a residual sum",
    ]
    own_tab.app.query_params["tab"] = "layers"
    own_tab.app.run()
    given_norms = np.linalg.norm(kernel.reshape(9, -1), axis=1)
    assert sorted(drawn_norms(own_tab)) == pytest.approx(sorted(given_norms))


def test_refusal_of_a_worker_is_one_sentence_and_roles_can_be_corrected(own_tab, in_a_worker):
    given(own_tab, ("net.npz", npz(strange=W, other=W[:, :2])))
    assert "none of their 2 tensors is known for one" in own_tab.words
    own_tab.app.session_state["_own_layer"].roles["strange"] = "weight"
    own_tab.app.run()
    assert len(drawn_norms(own_tab)) == 3


def test_worker_tells_a_recording_and_checkpoints_by_their_steps(run_tab, in_a_worker, tmp_path):
    walk = [W, 2 * W, 5 * W]
    norms = np.outer(np.linalg.norm(W, axis=1), [1, 2, 5])
    with Recorder(tmp_path / "own.run", {"w": "batch"}, optimizer="adamw") as recorder:
        for weights in walk:
            recorder.step({"w": weights}, 0.1, decay=0.1)
    given(run_tab, ("own.run", (tmp_path / "own.run").read_bytes()), key="own_training")
    np.testing.assert_allclose(drawn_run(run_tab), norms, rtol=1e-6)
    files = [(f"net_{k}.npz", npz(**{"fc.weight": walk[k]})) for k in (2, 0, 1)]
    given(run_tab, *files, key="own_training")
    assert "do not say at which learning rate η they were made. State it" in run_tab.words
    (editor,) = run_tab.app.data_editor
    assert list(editor.value["step of the optimizer"]) == [2, 0, 1]
    run_tab.app.query_params["rate"] = "0.1"
    run_tab.app.run()
    np.testing.assert_allclose(drawn_run(run_tab), norms, rtol=1e-6)
    run_tab.app.session_state["_own_run"].steps = (0, 1, 2)
    run_tab.app.run()
    np.testing.assert_allclose(drawn_run(run_tab), norms[:, [2, 0, 1]], rtol=1e-6)


@pytest.fixture
def given_up(in_a_worker, monkeypatch):
    """Runs of pages that are closed as soon as they wait, and whose worker is given 0.2 s."""
    runs = []

    def closed(run, *rest):
        runs.append(run)
        raise Refusal("The script ends here.")

    monkeypatch.setattr(waiting, "until_ended", closed)
    monkeypatch.setattr(apart, "LIMITS", Limits(moment=0.2, patience=0.2))
    return runs


def many_tensors():
    """A file of 20,000 numbers, each a tensor: it takes a second to look through the names."""
    names = [f"h.{i}.{name}" for i in range(10_000) for name in ("a.weight", "b.weight")]
    header = {
        name: {"dtype": "F32", "shape": [1, 1], "data_offsets": [4 * i, 4 * i + 4]}
        for i, name in enumerate(names)
    }
    words = json.dumps(header).encode()
    return struct.pack("<Q", len(words)) + words + bytes(4 * len(names))


def test_layer_of_a_page_that_was_closed_is_given_up(own_tab, given_up):
    """If nobody asks for it any more, its worker is stopped, and the server has nothing to do."""
    given(own_tab, ("many.safetensors", many_tensors()))
    (run,) = given_up
    assert run.wait(30)
    assert (run.stopping, run.result) == (True, None)


def test_run_of_a_page_that_was_closed_is_given_up(run_tab, given_up):
    run_tab.app.query_params["rate"] = "0.1"
    run_tab.app.run()
    file = many_tensors()
    given(run_tab, *((f"{k}.safetensors", file) for k in range(3)), key="own_training")
    run = given_up[-1]
    assert run.wait(30)
    assert (run.stopping, run.whole) == (True, False)
