"""The page Your network: its layers, its table and its words, found by key."""

import csv
import json
import os
import struct
import tempfile
import tracemalloc
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import streamlit as st

from normgeo import Recorder
from normgeo.base.numbers import number
from normgeo.base.refusal import Refusal
from normgeo.checkpoints.examples import EXAMPLES
from normgeo.datasets import opened
from normgeo.pictures.your_network import own_layer
from normgeo.pictures.your_network.layer import report_of
from normgeo.recordings.example import EXAMPLE
from normgeo.settings import Settings
from normgeo.ui.computing.server import SERVER, Server
from normgeo.ui.presence import Presence
from normgeo.ui.your_network import exports, own
from normgeo.ui.your_network import files as held_files
from tests.at_once import AtOnce


@pytest.mark.exhaustive
def test_each_layer_is_shown_with_its_story_and_sentences(shown, subtests):
    for key in EXAMPLES:
        with subtests.test(key=key):
            page = shown("your_network", layer=key, tab="decided")
            assert page.figures == ["trained_layer", "layer_spectrum"]
            assert str(EXAMPLES[key].story) in page.words
            assert " stands " in page.words
            assert "F_WW: the largest of 7" in page.words
            labels = [button.proto.label for button in page.app.get("download_button")]
            assert {"Report as HTML", "Report as PDF"} <= {*labels}


def test_table_has_a_row_for_each_neuron(shown):
    (table,) = shown("your_network").app.dataframe
    assert list(table.value["neuron"]) == list(range(12))
    assert list(table.value["frozen"]) == [False] * 11 + [True]
    assert table.value["share of the gain, %"].sum() == pytest.approx(100), "as in the picture"


def test_chosen_neuron_is_told_and_kept_in_the_address(shown):
    page = shown("your_network")
    assert "Neuron 11, frozen: norm of the row 7.92" in page.words, "of which the story is"
    assert "neuron 11" in str(page.figure("trained_layer")["data"])
    assert page.query == {}
    page.app.number_input(key="neuron").set_value(0).run()
    assert page.query["neuron"] == "0"
    assert "Neuron 0: norm of the row 1.35" in page.words
    assert "Neuron 0: norm" in shown("your_network", neuron="0").words
    for layer in ("layer", "pre_norm"):
        assert "Neuron 0: norm" in shown("your_network", layer=layer).words


def test_neuron_that_a_layer_lacks_is_its_last_one(shown):
    assert "Neuron 11, frozen" in shown("your_network", neuron="200").words


def test_what_cannot_be_is_said_and_the_page_goes_on(shown):
    page = shown("your_network", norm="weight", stands="before")
    assert "so it stands after W; got one that stands before W. State “after W”" in page.words
    assert page.app.selectbox(key="stands").value == "before"


def test_training_run_has_its_story_and_what_is_assumed(shown):
    page = shown("your_network", tab="training")
    assert page.figures == ["trained_layer", "training_run"]
    assert str(EXAMPLE.story) in page.words
    assert "`python -m normgeo training FILE…` prints the same" in page.words
    assert "uncorrelated from step to step" in page.words


def given(page, *files, key="own_weights"):
    """Give the page files, each as (name, content)."""
    kind = "application/octet-stream"
    several = [(name, content, kind) for name, content in files]
    one = not key.startswith(("own_weights", "own_training"))
    page.app.file_uploader(key=key).set_value(several[0] if one else several).run()
    assert [error.message for error in page.app.exception] == []
    assert page.app.error.len == 0, "no defect"


def npz(**arrays):
    file = BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


W = np.arange(1.0, 13.0).reshape(3, 4) ** 2
NET = npz(**{"fc.weight": W, "fc_bn.weight": np.ones(3), "fc_bn.running_var": np.ones(3)})


BOMB = BytesIO()
np.savez_compressed(BOMB, **{"fc.weight": np.zeros((300, 100_000), "i1")})
BOMB = BOMB.getvalue()


OF_NORM = ("fc_bn.weight", "fc_bn.bias")


@pytest.fixture
def own_tab(shown):
    return shown("your_network", tab="own", rate="0.1")


@pytest.mark.exhaustive
def test_change_before_a_file_was_sent_is_kept(own_tab):
    """The browser sends a file with the address that it knows."""
    before = own_tab.query
    own_tab.app.selectbox(key="trained_by").set_value("adam").run()
    after = own_tab.query
    assert after == {**before, "trained_by": "adam"}
    for key in (None, "own_drop"):
        own_tab.app.query_params.clear()
        own_tab.app.query_params.update(before)
        if key is None:
            given(own_tab, ("net.npz", NET))
        else:
            own_tab.app.button(key=key).click().run()
        assert own_tab.query == after


@pytest.mark.exhaustive
def test_config_of_an_upload_says_its_family(own_tab):
    """BERT's blocks are not written like Llama's, so names alone do not tell its norms."""
    rng, up = np.random.default_rng(0), "model.layers.0.mlp.up_proj.weight"
    shapes = {"input_layernorm": 8, "post_attention_layernorm": 8} | dict.fromkeys(
        ("self_attn.q_proj", "self_attn.k_proj", "mlp.gate_proj", "mlp.up_proj"), (8, 8)
    )
    net = {
        f"model.layers.{i}.{name}.weight": rng.random(shape)
        for i in range(2)
        for name, shape in shapes.items()
    } | {"model.norm.weight": rng.random(8)}
    for family, told in (
        ("llama", "RMS norm before W: guessed"),
        ("bert", "norm of this layer is"),
    ):
        said = json.dumps({"model_type": family, "rms_norm_eps": 3e-4}).encode()
        given(own_tab, ("net.npz", npz(**net)), ("config.json", said))
        own_tab.app.selectbox(key="own_layer").set_value(up).run()
        assert told in own_tab.words


def test_layer_of_a_visitor_takes_the_place_of_the_one_that_ships(own_tab, shown):
    given(own_tab, ("net.npz", NET))
    (table,) = shown("your_network", tab="neurons").app.dataframe
    assert len(table.value) == 12, "another session does not see it"
    assert own_tab.figures == ["trained_layer"]
    assert sorted(drawn_norms(own_tab)) == pytest.approx(sorted(np.linalg.norm(W, axis=1)))
    assert "batch norm after W: guessed from names." in own_tab.words
    assert "fc.weight" not in str(own_tab.query)
    own_tab.app.button(key="own_drop").click().run()
    assert len(drawn_norms(own_tab)) == 12
    assert [place.value for place in own_tab.app.file_uploader] == [[], None, None, None, None]
    given(own_tab, ("again.npz", NET), key=own_tab.app.file_uploader[0].key)
    assert len(drawn_norms(own_tab)) == 3


def drawn_norms(page):
    marks = [each for each in page.figure("trained_layer")["data"] if "customdata" in each]
    arrays = [each["x"] for each in marks if each.get("xaxis") not in ("x2", "x3")]
    return [n for x in arrays for n in np.frombuffer(b64decode(x["bdata"]), x["dtype"]).tolist()]


def test_inputs_tell_where_epsilon_counts_and_are_left_out_of_layers_of_others(own_tab):
    other = np.arange(1.0, 11.0).reshape(5, 2)
    net = {"fc.weight": W, "fc_bn.weight": np.ones(3), "out.weight": other}
    given(own_tab, ("net.npz", npz(**net)))
    assert "Where ε counts is not known" in own_tab.captions("trained_layer")
    given(own_tab, ("x.csv", b"1,2,3,4\n4,3,2,2\n0,1,0,2"), key="own_x")
    known = "ε counts"
    assert known not in own_tab.captions("trained_layer"), "it is known, and shortens z by little"
    assert own_tab.app.info.len == 0
    own_tab.app.selectbox(key="own_layer").set_value("out.weight").run()
    assert sorted(drawn_norms(own_tab)) == pytest.approx(np.linalg.norm(other, axis=1))
    assert [info.value for info in own_tab.app.info] == [
        "X of shape (3, 4) is left out here: `out.weight` has W of shape (5, 2). It is taken where "
        "a layer of as many features is open."
    ]
    own_tab.app.selectbox(key="own_layer").set_value("fc.weight").run()
    assert known not in own_tab.captions("trained_layer")
    assert own_tab.app.info.len == 0


def test_what_epsilon_takes_is_told_of_each_neuron_and_case(own_tab, shown, taken):
    page = shown("your_network", layer="layer", tab="epsilon")
    assert page.figures == ["trained_layer", "layer_epsilon"]
    assert len(page.app.dataframe[0].value) == 500
    net = {"fc.weight": W / 1e3, "fc_ln.weight": np.ones(3), "fc_ln.bias": np.ones(3)}
    given(own_tab, ("net.npz", npz(**net)))
    own_tab.app.query_params["tab"] = "epsilon"
    own_tab.app.run()
    assert [one.value for one in own_tab.app.info] == [
        "Where ε counts is not known without activations."
    ]
    own_tab.app.query_params["tab"] = "own"
    own_tab.app.run()
    x = np.array([[1.0, 2, 3, 4], [4, 3, 2, 2], [0, 1, 0, 2]])
    given(own_tab, ("x.npz", npz(x=x)), key="own_x")
    own_tab.app.query_params["tab"] = "epsilon"
    own_tab.app.run()
    a = x @ W.T / 1e3
    centered = a - a.mean(1, keepdims=True)
    lost = np.abs(centered / centered.std(1, keepdims=True))
    lost -= np.abs(centered / np.sqrt(centered.var(1, keepdims=True) + 1e-5))
    found = json.loads(taken("layer_epsilon", "json"))
    assert (found[0]["case"], found[0]["neuron"]) == np.unravel_index(lost.argmax(), lost.shape)
    np.testing.assert_allclose([one["lost"] for one in found], np.sort(lost, None)[::-1])


@pytest.mark.exhaustive
def test_what_few_have_is_asked_of_a_layer_too(own_tab, rng):
    """Stride of a convolution, family, gradient and norm, as the command line takes them."""
    kernel, images = rng.standard_normal((3, 2, 2, 2)), rng.standard_normal((4, 2, 5, 5))
    given(own_tab, ("net.npz", npz(**{"conv.weight": kernel, "n.weight": np.ones(3)})))
    given(own_tab, ("x.npz", npz(x=images)), key="own_x")
    own_tab.app.text_input(key="own_stride").set_value("2").run()
    own_tab.app.selectbox(key="own_family").set_value("gaussian").run()
    own_tab.app.selectbox(key="own_norm").set_value("n").run()
    gradients = rng.standard_normal((2, 3, 2, 2, 2))
    given(own_tab, ("g.npz", npz(gradient=gradients)), key="own_gradient")
    own_tab.app.query_params["tab"] = "decided"
    own_tab.app.run()
    assert "windows of images: stride 2, padding 0, dilation 1." in own_tab.words
    assert "the gradient file, of 2 batches" in own_tab.words
    assert "Null directions of F_WW:" in own_tab.words
    assert own_tab.figures == ["trained_layer", "layer_spectrum"]
    assert "directions are null, by the rank" in own_tab.captions("layer_spectrum")
    assert "Norm and place: as stated." in own_tab.words
    own_tab.app.query_params["tab"] = "own"
    own_tab.app.run()
    own_tab.app.text_input(key="own_padding").set_value("wide").run()
    (said,) = [info.value for info in own_tab.app.info]
    assert said.startswith("`padding` must be a whole number")


def test_only_places_and_norms_that_the_layer_can_have_are_offered(own_tab, rng):
    """A kernel of several pixels has no norm before it; nine neurons have no groups of two."""
    net = {"a.weight": np.ones((2, 3)), "fc.0.weight": np.eye(4), "fc.1.weight": np.ones(4)}
    given(own_tab, ("net.npz", npz(**net)))
    assert own_tab.app.selectbox(key="own_layer").value == "fc.0.weight", "the first with a norm"
    assert len(own_tab.app.selectbox(key="stands").options) == 4
    kernel = rng.standard_normal((9, 2, 3, 3))
    net = npz(**{"conv.weight": kernel, "n.weight": np.ones(9), "far.weight": np.ones(5)})
    given(own_tab, ("net.npz", net))
    assert own_tab.app.selectbox(key="stands").options == [
        "automatic",
        "after W",
        "after a residual sum",
    ]
    assert "Not here: before W. A norm before a conv" in own_tab.app.selectbox(key="stands").help
    assert "group norm" not in own_tab.app.selectbox(key="norm").options
    assert own_tab.app.selectbox(key="own_norm").options == ["as its name proposes", "none", "n"]
    own_tab.app.selectbox(key="stands").set_value("residual").run()
    assert "weight norm" not in own_tab.app.selectbox(key="norm").options
    assert own_tab.figures == ["trained_layer"]


def test_role_can_be_corrected(own_tab):
    given(own_tab, ("net.npz", npz(strange=W, other=W[:, :2])))
    assert "none of their 2 tensors is known for one" in own_tab.words
    (editor,) = own_tab.app.data_editor
    assert list(editor.value["tensor"]) == ["strange", "other"]
    own_tab.app.session_state["_own_layer"].roles["strange"] = "weight"
    own_tab.app.run()
    assert len(drawn_norms(own_tab)) == 3


@pytest.mark.exhaustive
def test_all_layers_of_a_checkpoint_are_a_table_with_files_to_take(shown, monkeypatch, taken):
    page = shown("your_network", rate="0.1")
    net = {"a.weight": W, "b.weight": 2 * W, "c.weight": W * np.nan, "fc_bn.weight": np.ones(3)}
    page.app.query_params["tab"] = "own"
    page.app.run()
    given(page, ("net.npz", npz(**net)))
    page.app.query_params["tab"] = "layers"
    page.app.run()
    (table,) = page.app.dataframe
    assert list(table.value["layer"]) == ["a.weight", "b.weight", "c.weight"]
    assert list(table.value["taken from"]) == ["unknown"] * 3
    assert "The norm of this layer is unknown, for no name tells it" in page.words
    assert "Names do not tell the norm of 3 of 3 layers. State norm and place" in page.words
    assert "guessed" not in page.words
    norms = np.linalg.norm(W, axis=1)
    expected = [np.median(norms), 2 * np.median(norms)]
    np.testing.assert_allclose(table.value["median norm"][:2], expected)
    assert "'c.weight' in net.npz must hold finite numbers" in table.value["missing"][2]
    assert "`'c.weight'` in `net.npz` must hold finite numbers" in page.words
    (records,) = [json.loads(taken("report", "json"))]
    np.testing.assert_allclose([one["median_norm"] for one in records[:2]], expected)
    assert "c.weight" in taken("report", "html")
    page.app.selectbox(key="own_layer").set_value("b.weight").run()
    assert sorted(drawn_norms(page)) == pytest.approx(sorted(2 * norms))
    page.app.selectbox(key="own_layer").set_value("c.weight").run()
    assert [tab.label for tab in page.app.tabs] == ["All layers", "Your own layer"]
    monkeypatch.setattr(own_layer, "EVERY", 287)
    page.app.query_params["rate"] = "0.2"
    page.app.run()
    said = [info.value for info in page.app.info]
    assert any("A page tells all layers of up to" in one for one in said)


def test_all_layers_that_ship_are_a_table_too(shown, taken):
    page = shown("your_network", tab="layers", layer="layer", stands="residual")
    (table,) = page.app.dataframe
    assert list(table.value["layer"]) == [one.title for one in EXAMPLES.values()]
    for key, stands, least in zip(
        EXAMPLES, table.value["stands"], table.value["least norm"], strict=True
    ):
        alone = report_of(Settings(layer=key, stands="residual" if key == "layer" else "auto"))
        assert (stands, least) == (alone.layer.place.title, pytest.approx(alone.norms.min()))
    (records,) = [json.loads(taken("report", "json"))]
    assert [one["H"] for one in records] == list(table.value["H"])


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.usefixtures("undrawn")
def test_bad_file_is_one_sentence_and_the_page_survives(own_tab, subtests):
    for name, content, sentence in [
        ("net.npz", b"PK", "holds no array of numbers"),
        ("net.npz", NET[:-40], "holds no array of numbers"),
        ("net.npy", NET[:9], "holds no array of numbers"),
        ("net.safetensors", NET, "is no whole file of safetensors"),
        ("net.safetensors", b"", "is no whole file of safetensors"),
        ("net.npz", npz(weight=np.array([[None]])), "Object arrays cannot be loaded"),
        (
            "net.npz",
            npz(**{"fc.weight": W * np.nan}),
            "must hold finite numbers; 12 of 12 are NaN",
        ),
        ("net.npz", npz(**{"fc.weight": W[:0]}), "must not be empty"),
        ("net.csv", b"1,2\n3", "the first has 2, line 2 has 1"),
        ("net.csv", b"1,2\n3,a", "line 2 has 'a'"),
        ("net.csv", b"\xff\xfe\x00", "is not a text"),
        ("net.csv", b"1," * 30_000 + b"1", "up to 20,000 are read from text"),
        ("net.npz", npz(**{"fc.weight": np.ones((20_000, 1))}), "up to 16,384 neurons"),
        ("net.npz", BOMB, "up to 200 MB as float64; 'fc.weight' would take 240 MB"),
    ]:
        with subtests.test(name=name, content=content, sentence=sentence):
            given(own_tab, (name, content))
            (said,) = [info.value for info in own_tab.app.info]
            assert sentence in said.replace("`", "")
            assert "/proc" not in said
            assert "/tmp" not in said
            given(own_tab, ("net.npz", NET))
            assert own_tab.figures == ["trained_layer"]
            assert [info.value for info in own_tab.app.info] == []


def test_files_are_held_to_a_budget_of_a_session_and_of_the_server(own_tab, monkeypatch):
    monkeypatch.setattr(held_files, "ONE", len(NET) - 1)
    given(own_tab, ("net.npz", NET))
    assert "The files of a session may take" in own_tab.words
    monkeypatch.setattr(held_files, "ONE", len(NET))
    monkeypatch.setattr(held_files, "ALL", len(NET) - 1)
    given(own_tab, ("net.npz", NET))
    assert "The files of all visitors take" in own_tab.words
    monkeypatch.setattr(held_files, "ALL", held_files.in_memory() + len(NET))
    given(own_tab, ("net.npz", NET))
    given(own_tab, ("again.npz", NET))
    assert held_files._HELD in own_tab.app.session_state
    assert own_tab.app.session_state[held_files._HELD].names("weights") == ["again.npz"]


def test_uploads_of_a_session_that_has_ended_are_given_back():
    """The next visitor frees them, once nobody can come back; the frozen heap would keep them."""
    here, other = held_files.Files(Presence(left=0.0)), held_files.Files()
    for one in (here, other):
        one.uploaded["weights"] = [("net.npz", NET)]
        one.closing["weights"] = [BytesIO(NET)]
        held_files._ALIVE.add(one)
    held = here.closing["weights"][0]
    for now, size in ((0, len(NET)), (59, len(NET)), (61, 0)):
        held_files.give_back(now, 60)
        assert here.size == size
    assert held.closed
    assert other.size == len(NET)


def test_browser_tells_that_it_is_there_while_uploads_are_held(own_tab, monkeypatch):
    """On every page, four times within the time for which Streamlit keeps a session."""
    every = []
    monkeypatch.setattr(st, "fragment", lambda f, run_every: every.append(run_every) or f)
    own_tab.app.run()
    assert every == []
    given(own_tab, ("net.npz", NET))
    assert {*every} == {st.get_option("server.disconnectedSessionTTL") / 4}


def test_nothing_of_a_file_is_kept_for_others_or_logged(own_tab, nothing_kept, caplog):
    given(own_tab, ("secret_net.npz", NET))
    assert "secret_net" not in caplog.text
    assert "fc.weight" not in caplog.text
    assert all("fc.weight" not in str(key) for key in nothing_kept._entries)


@pytest.fixture
def open_files(tmp_path, monkeypatch):
    """Opens files of a folder as the command line does, by names and what they are for."""

    def open_them(layer=None, **names):
        monkeypatch.setenv(opened.PASSED, "")
        opened.pass_on({what: [tmp_path / name] for what, name in names.items()}, layer)

    return open_them


def test_opened_file_is_seen_first_by_its_name_and_as_it_is_now(shown, open_files, tmp_path):
    (tmp_path / "net.npz").write_bytes(NET)
    open_files(weights="net.npz")
    page = shown("home")
    assert page.figures == ["trained_layer"], "the bare address leads to what was opened"
    page.open("your_network")
    assert sorted(drawn_norms(page)) == pytest.approx(sorted(np.linalg.norm(W, axis=1)))
    assert "`net.npz`" in page.words
    assert str(tmp_path) not in str(page.app.session_state) + page.words + str(page.query)
    assert "layer" not in [box.key for box in page.app.selectbox]

    page.app.button(key="own_drop").click().run()
    assert len(drawn_norms(page)) == 12
    assert "layer" in [box.key for box in page.app.selectbox]
    page.app.button(key="own_again").click().run()
    assert len(drawn_norms(page)) == 3
    assert "Changed on the disk" not in page.words

    (tmp_path / "net.npz").write_bytes(npz(**{"fc.weight": W[:2]}))
    page.app.run()
    assert len(drawn_norms(page)) == 2
    assert "Changed on the disk since it was opened, and shown as it is now: `net.npz`." in (
        page.words
    )
    (tmp_path / "net.npz").unlink()
    page.app.run()
    (said,) = [info.value for info in page.app.info]
    assert said == (
        "`net.npz` cannot be read any more: No such file or directory. Start `normgeo open` anew."
    )
    page.open("home")
    assert page.figures[0] == "contrast", "Home is there for those who go there"


def test_opened_recording_is_shown_in_its_tab_and_that_is_said_above(shown, monkeypatch):
    monkeypatch.setenv(opened.PASSED, "")
    opened.pass_on({"training": [EXAMPLE.path]})
    page = shown("home")
    assert page.figures == ["trained_layer", "training_run"], "the bare address leads there"
    page.open("your_network", tab="training")
    said = f"`{EXAMPLE.path.name}` is below, in the tab “A training run”."
    assert said in page.words
    assert str(EXAMPLE.story) not in page.words
    page.app.button(key="own_run_other").click().run()
    assert said not in page.words
    assert str(EXAMPLE.story) in page.words
    page.app.button(key="own_run_other").click().run()
    assert said in page.words


def test_opened_file_of_a_gigabyte_takes_a_few_megabytes(open_files, tmp_path, monkeypatch):
    layer = {f"{i}.weight": {"dtype": "F32", "shape": [16, 64]} for i in range(2)}
    large = {"dtype": "F32", "shape": [4000, 32_000], "data_offsets": [8192, 512_008_192]}
    again = large | {"data_offsets": [512_008_192, 1_024_008_192]}
    for i, one in enumerate(layer.values()):
        one["data_offsets"] = [4096 * i, 4096 * (i + 1)]
    words = json.dumps({**layer, "a.weight": large, "b.weight": again}).encode()
    with (tmp_path / "large.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(words)) + words)
        file.write(np.arange(1, 2049, dtype="f4").tobytes())
        file.truncate(8 + len(words) + 1_024_008_192)  # zeros that take no place
    open_files(weights="large.safetensors", layer="1.weight")
    monkeypatch.setitem(st.session_state, SERVER, Server(AtOnce()))
    mine = own.Own(held_files.Files(), "1.weight")
    tracemalloc.start()
    found = mine.told(Settings())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.values["neuron"]) == 16
    assert peak < 20e6
    mine.layer = "a.weight"
    with pytest.raises(Refusal, match=r"up to 500 MB as float64; 'a.weight' would take 1 GB"):
        mine.told(Settings())


@pytest.fixture
def taken(monkeypatch):
    """The content of the file behind each button, by (name, suffix)."""
    found = {}

    def download(name, label, suffix, content, *, file, help=None):
        found[name, suffix] = content

    monkeypatch.setattr(exports, "download", download)
    return lambda name, suffix: found[name, suffix]().decode()


def test_files_taken_of_a_layer_hold_its_numbers(own_tab, taken):
    given(own_tab, ("<i>net.npz", NET))
    norms = np.linalg.norm(W, axis=1)
    rows = csv.DictReader(taken("trained_layer", "csv").splitlines())
    np.testing.assert_allclose([float(row["norm"]) for row in rows], norms, rtol=1e-12)
    records = json.loads(taken("trained_layer", "json"))
    np.testing.assert_allclose([one["norm"] for one in records], norms, rtol=1e-12)
    assert "fc.weight: H = 3, D = 4" in taken("trained_layer", "html")
    own_tab.app.query_params["tab"] = "decided"
    own_tab.app.run()
    report = taken("report", "html")
    assert "fc.weight: H = 3, D = 4" in report
    for norm in norms:
        assert number(float(norm)) in report
    assert "stands after W" in report


def test_files_taken_of_a_run_hold_its_numbers(run_tab, taken, tmp_path):
    with Recorder(tmp_path / "own.run", {"w": "batch"}, optimizer="adamw") as recorder:
        for k in range(3):
            recorder.step({"w": (k + 1) * W}, 0.1, decay=0.1)
    given(run_tab, ("own.run", (tmp_path / "own.run").read_bytes()), key="own_training")
    expected = np.outer(np.linalg.norm(W, axis=1), [1, 2, 3]).ravel()
    rows = csv.DictReader(taken("training_run", "csv").splitlines())
    np.testing.assert_allclose([float(row["norm"]) for row in rows], expected, rtol=1e-6)
    records = json.loads(taken("training_run", "json"))
    np.testing.assert_allclose([one["norm"] for one in records], expected, rtol=1e-6)
    assert "own.run" in taken("training_run", "html")
    report = taken("report", "html")
    for last in expected.reshape(3, 3)[:, -1]:
        assert number(float(last)) in report


def test_nothing_of_an_upload_stays_on_the_disk_or_in_open_files(run_tab, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = []
    real = tempfile.TemporaryDirectory.cleanup
    monkeypatch.setattr(
        tempfile.TemporaryDirectory, "cleanup", lambda self: (seen.append(self.name), real(self))
    )
    nets = [(f"net_{k}.npz", npz(**{"fc.weight": W + k})) for k in range(3)]
    run_tab.app.query_params.update({"rate": "0.1", "trained_by": "adamw"})
    for files in (nets, nets[:1], [("bad.run", b"no")]):
        given(run_tab, *files, key="own_training")
    run_tab.app.query_params["tab"] = "own"
    run_tab.app.run()
    given(run_tab, *nets[:1])
    assert len(seen) == 5, "four times names of uploads, and once a recording of checkpoints"
    assert [*tmp_path.iterdir()] == []
    if (open_files := Path("/proc/self/fd")).exists():
        links = [os.readlink(one) for one in open_files.iterdir() if one.is_symlink()]
        assert not [link for link in links if "normgeo" in link]


@pytest.fixture
def run_tab(shown):
    return shown("your_network", tab="training")


def drawn_run(page):
    """The measured norms that the picture of the run shows, a list for each block."""
    lines = page.figure("training_run")["data"]
    solid = [line for line in lines if line["line"]["dash"] == "solid" and line["yaxis"] == "y"]
    return [np.frombuffer(b64decode(line["y"]["bdata"]), line["y"]["dtype"]) for line in solid]


def test_run_of_a_visitor_takes_the_place_of_the_one_that_ships(run_tab, tmp_path, rng):
    walk = np.cumsum(rng.standard_normal((9, 2, 4)), axis=0)
    with Recorder(tmp_path / "own.run", {"w": "batch"}, optimizer="adamw") as recorder:
        for weights in walk:
            recorder.step({"w": weights}, 0.1, decay=0.1)
    content = (tmp_path / "own.run").read_bytes()
    given(run_tab, ("own.run", content), key="own_training")
    np.testing.assert_allclose(drawn_run(run_tab), np.linalg.norm(walk, axis=2).T, rtol=1e-6)
    run_tab.app.selectbox(key="block").set_value(1).run()
    assert "Block `w[1]`: its norm still shrinks. Norm " in run_tab.words
    assert "block" not in str(run_tab.query)
    run_tab.app.selectbox(key="block").set_value(None).run()
    assert "Block `w" not in run_tab.words
    assert "`own.run`" in run_tab.words
    assert "own.run" not in str(run_tab.query)
    labels = [button.proto.label for button in run_tab.app.get("download_button")]
    assert labels.count("CSV") == labels.count("JSON") + 1 == 2, "JSON is of one's own alone"
    assert {"Report as HTML", "Report as PDF"} <= {*labels}

    given(run_tab, ("own.run", content[:-1]), key="own_training")
    assert "The file ends within a record, after 8 whole ones" in run_tab.words
    for name, bad, sentence in (
        ("own.run", b"PK\3\4", "own.run is none: it begins with other bytes."),
        ("own.run", content[:30], "own.run is none: it ends before its first step was recorded."),
        ("own.run", b"", "own.run is none: it ends before its first step was recorded."),
    ):
        given(run_tab, (name, bad), key="own_training")
        (said,) = [info.value.replace("`", "") for info in run_tab.app.info]
        assert said.endswith(sentence)
        assert "/" not in said
    run_tab.app.button(key="own_run_other").click().run()
    assert [len(norms) for norms in drawn_run(run_tab)] == [300] * 6


def test_checkpoints_of_a_visitor_are_a_run_by_their_steps(run_tab, rng):
    walk = np.cumsum(rng.standard_normal((5, 3, 4)), axis=0)
    files = [
        (
            f"net_{k}.npz",
            npz(**{"fc.weight": w, "fc_bn.weight": np.ones(3), "fc_bn.bias": np.ones(3)}),
        )
        for k, w in zip((30, 10, 20, 50, 40), walk, strict=True)
    ]
    given(run_tab, *files, key="own_training")
    assert "do not say at which learning rate η they were made. State it" in run_tab.words
    for name, value in {"rate": "0.1", "decay": "0.1", "trained_by": "lion"}.items():
        run_tab.app.query_params[name] = value
    run_tab.app.run()
    in_order = walk[[1, 2, 0, 4, 3]]
    np.testing.assert_allclose(drawn_run(run_tab), np.linalg.norm(in_order, axis=2).T, rtol=1e-6)
    (editor,) = run_tab.app.data_editor
    assert list(editor.value["step of the optimizer"]) == [30, 10, 20, 50, 40]
    run_tab.app.session_state["_own_run"].steps = (0, 1, 2, 3, 4)
    run_tab.app.run()
    np.testing.assert_allclose(drawn_run(run_tab), np.linalg.norm(walk, axis=2).T, rtol=1e-6)
    run_tab.app.session_state["_own_run"].steps = (0, 1, 1, 3, 4)
    run_tab.app.run()
    assert "a step for each, rising; got 5 files and 5 steps" in run_tab.words
    given(run_tab, files[0], ("bomb.npz", BOMB), key="own_training")
    assert "checkpoints of up to 200 MB as float64; `bomb.npz` takes 240 MB" in run_tab.words
