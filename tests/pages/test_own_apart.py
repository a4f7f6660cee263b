"""A layer of one's own that takes longer is told by a worker: as the script itself would."""

import json
import struct
from collections.abc import Iterator

import numpy as np
import pytest

from normgeo.base.refusal import Refusal
from normgeo.layers import checkpoint
from normgeo.pictures.your_network import own_layer
from normgeo.ui import results, waiting
from normgeo.ui.your_network import apart
from normgeo.workers.pool import Pool
from normgeo.workers.run import Limits
from tests.pages.test_your_network import NET, W, drawn_norms, given, npz, own_tab

__all__ = ["own_tab"]


@pytest.fixture(scope="module")
def one_worker() -> Iterator[Pool]:
    pool = Pool(1)
    pool.start()
    yield pool
    pool.close()


@pytest.fixture
def in_a_worker(monkeypatch, one_worker):
    """Nothing of a file is looked into by the server itself."""

    def refused(*arguments, **options):
        raise AssertionError("the server looks into a file")

    monkeypatch.setattr(results, "POOL", one_worker)
    monkeypatch.setattr(results, "LONGEST", 1e-9)
    monkeypatch.setattr(own_layer, "list_tensors", refused)
    monkeypatch.setattr(checkpoint, "list_tensors", refused)


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


def test_layer_of_a_page_that_was_closed_is_given_up(own_tab, in_a_worker, monkeypatch):
    """Nobody asks for it any more: its worker is stopped, and the server had nothing to do."""
    runs = []

    def closed(run, *rest):
        runs.append(run)
        raise Refusal("The script ends here.")

    monkeypatch.setattr(waiting, "until_ended", closed)
    monkeypatch.setattr(apart, "LIMITS", Limits(moment=0.2, patience=0.2))
    names = [f"h.{i}.{name}" for i in range(10_000) for name in ("a.weight", "b.weight")]
    header = {
        name: {"dtype": "F32", "shape": [1, 1], "data_offsets": [4 * i, 4 * i + 4]}
        for i, name in enumerate(names)
    }
    words = json.dumps(header).encode()
    file = struct.pack("<Q", len(words)) + words + bytes(4 * len(names))
    given(own_tab, ("many.safetensors", file))
    (run,) = runs
    assert run.wait(30)
    assert (run.stopping, run.result) == (True, None)
