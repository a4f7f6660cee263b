"""`normgeo open`: what it starts, from where, and its refusals; a browser test opens it."""

import runpy
import socket
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from normgeo.__main__ import main
from normgeo.cli import explorer
from normgeo.datasets.opened import PASSED, opened
from normgeo.measured.saved.examples import EXAMPLES as TABLES
from normgeo.recordings.example import EXAMPLE

ROOT = Path(__file__).parents[2]
Captured = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


@pytest.fixture
def started(monkeypatch: Patch, tmp_path: Path) -> list[tuple[Path, list[str]]]:
    """The folder and the words of every Streamlit that was started, from another folder."""
    found: list[tuple[Path, list[str]]] = []

    def run_module(name: str, run_name: str, alter_sys: bool) -> None:
        assert (name, run_name, alter_sys) == ("streamlit", "__main__", True)
        found.append((Path.cwd(), sys.argv))

    monkeypatch.setattr(runpy, "run_module", run_module)
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setenv(PASSED, "[{}, null]")
    monkeypatch.chdir(tmp_path)
    return found


def test_open_serves_the_application_of_the_checkout_with_its_settings(
    started: list[tuple[Path, list[str]]],
) -> None:
    assert main(["open"]) == 0
    assert started == [(ROOT, ["streamlit", "run", str(ROOT / "app.py")])]
    assert (started[0][0] / ".streamlit" / "config.toml").is_file()


@pytest.mark.parametrize("headless", ["--no-browser", "--headless"])
def test_open_takes_a_port_and_may_leave_the_browser_alone(
    headless: str, started: list[tuple[Path, list[str]]]
) -> None:
    with socket.socket() as probe:
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    assert main(["open", f"--port={port}", headless]) == 0
    ((_, words),) = started
    assert words[3:] == [f"--server.port={port}", "--server.headless=true"]


def test_a_classroom_is_told_the_address_to_type(
    started: list[tuple[Path, list[str]]], monkeypatch: Patch, capsys: Captured
) -> None:
    monkeypatch.setattr(explorer, "network_address", lambda: "192.0.2.7")
    assert main(["open", "--classroom"]) == 0
    ((_, words),) = started
    assert words[3:] == ["--server.address=0.0.0.0", "--browser.serverAddress=192.0.2.7"]
    sentence = "Everybody in this network can open the explorer, at the address below.\n"
    assert capsys.readouterr() == ("", sentence)


@pytest.mark.parametrize("own", ["127.0.0.1", None])
def test_a_classroom_needs_a_network(
    own: str | None,
    started: list[tuple[Path, list[str]]],
    monkeypatch: Patch,
    capsys: Captured,
) -> None:
    class Probe(socket.socket):
        def connect(self, address: object) -> None:
            if own is None:
                raise OSError(101, "Network is unreachable")

        def getsockname(self) -> tuple[str | None, int]:
            return own, 0

    monkeypatch.setattr(socket, "socket", Probe)
    assert main(["open", "--classroom"]) == 1
    sentence = "This machine is in no network: connect it first, or leave out --classroom.\n"
    assert capsys.readouterr() == ("", sentence)
    assert started == []


def test_bad_port_is_refused_in_a_sentence(
    started: list[tuple[Path, list[str]]], capsys: Captured, subtests: pytest.Subtests
) -> None:
    for port in ["0", "65536", "-1", "80x", "", "8501.0", "٨٥٠١", "8" * 5000]:
        with subtests.test(port=port):
            assert main(["open", f"--port={port}"]) == 2
            sentence = f"`--port` must be a whole number from 1 to 65535; got {port[:60]!r}.\n"
            assert capsys.readouterr() == ("", sentence)
            assert started == []


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_port_in_use_is_one_sentence(
    family: socket.AddressFamily, started: list[tuple[Path, list[str]]], capsys: Captured
) -> None:
    with socket.socket(family) as other:
        other.bind(("", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["open", "--port", str(port)]) == 1
    sentence = f"Port {port} is in use. Choose another one with --port.\n"
    assert capsys.readouterr() == ("", sentence)
    assert started == []


def test_without_streamlit_it_says_how_to_install_it(
    monkeypatch: Patch, started: list[tuple[Path, list[str]]], capsys: Captured
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["open"]) == 1
    assert capsys.readouterr() == (
        "",
        "The explorer needs Streamlit, which is not installed: install it with "
        f"{sys.executable} -m pip install streamlit.\n",
    )
    assert started == []


def test_without_the_application_it_says_where_it_looked(
    monkeypatch: Patch, started: list[tuple[Path, list[str]]], capsys: Captured, tmp_path: Path
) -> None:
    monkeypatch.setattr(explorer, "PLACES", (tmp_path / "a", tmp_path / "b"))
    assert main(["open"]) == 1
    assert capsys.readouterr() == (
        "",
        f"This installation of normgeo has no explorer: neither {tmp_path / 'a'} nor "
        f"{tmp_path / 'b'} holds one.\n",
    )
    assert started == []


@pytest.fixture
def network(started: list[tuple[Path, list[str]]]) -> Path:
    """A folder, in which `normgeo` runs, with a checkpoint of two layers and inputs of one."""
    np.savez("net.npz", **{"a.weight": np.eye(3), "b.weight": np.ones((2, 4))})
    np.save("x.npy", np.ones((5, 4)))
    np.save("w.npy", np.eye(3))
    Path("bad.safetensors").write_bytes(b"no")
    Path("cut.run").write_bytes(EXAMPLE.path.read_bytes()[:40])
    return Path.cwd()


def test_files_reach_the_server_by_their_paths_and_the_room_is_told(
    network: Path,
    started: list[tuple[Path, list[str]]],
    monkeypatch: Patch,
    capsys: Captured,
) -> None:
    monkeypatch.setattr(explorer, "network_address", lambda: "192.0.2.7")
    assert main(["open", "net.npz", "--layer", "b.weight", "--x", "x.npy", "--classroom"]) == 0
    assert "All who open it see what it opens with: net.npz, x.npy.\n" in capsys.readouterr().err
    assert "net.npz" not in str(started)
    found = opened()
    assert found.layer == "b.weight"
    assert {what: [*paths] for what, paths in found.files.items()} == {
        "weights": [network / "net.npz"],
        "x": [network / "x.npy"],
    }
    assert found.changed == []
    (network / "net.npz").write_bytes(b"other")
    (network / "x.npy").unlink()
    assert found.changed == ["net.npz", "x.npy"]


def test_a_recording_is_opened_as_one(started: list[tuple[Path, list[str]]]) -> None:
    assert main(["open", str(EXAMPLE.path)]) == 0
    assert {what: [*paths] for what, paths in opened().files.items()} == {
        "training": [EXAMPLE.path]
    }


def test_a_measured_table_and_a_folder_of_a_model_are_opened_as_such(
    network: Path, started: list[tuple[Path, list[str]]], capsys: Captured
) -> None:
    table = TABLES["decoder"].path
    assert main(["open", str(table)]) == 0
    assert {what: [*paths] for what, paths in opened().files.items()} == {"network": [table]}
    assert main(["open", str(table), str(table)]) == 2
    assert capsys.readouterr().err == "Give one measured table; got 2.\n"
    (network / "model").mkdir()
    save_file({"w.weight": np.eye(3)}, network / "model/model.safetensors")
    (network / "model/config.json").write_text('{"model_type": "bert"}')
    assert main(["open", str(network / "model")]) == 0
    assert {what: [*paths] for what, paths in opened().files.items()} == {
        "weights": [network / "model/config.json", network / "model/model.safetensors"]
    }


def test_files_are_checked_before_the_server_starts(
    network: Path,
    started: list[tuple[Path, list[str]]],
    capsys: Captured,
    subtests: pytest.Subtests,
) -> None:
    for words, sentence in [
        ("bad.safetensors", "bad.safetensors is no whole file of safetensors ("),
        ("none.npz", "none.npz: No such file or directory."),
        ("model.onnx", "Tensors are read from files that end in one of .safetensors, "),
        ("net.npz --layer c", "Choose one of the 2 layers of the files by its name; got 'c'"),
        ("net.npz --layer a.weight --x x.npy", "`X` of a layer with W of shape (3, 3) must have "),
        ("w.npy --x x.npy", "`X` of a layer with W of shape (3, 3) must have shape (5, 3); got "),
        ("net.npz --gradient bad.safetensors", "bad.safetensors is no whole file of safetensors"),
        ("--x x.npy", "Give the file of the layer's weights too."),
        ("cut.run", "A recording is a file that `normgeo.Recorder` has written; cut.run is none: "),
        ("cut.run cut.run", "Give one recording; got 2."),
    ]:
        with subtests.test(words=words, sentence=sentence):
            assert main(["open", *words.split()]) in (1, 2)
            out, err = capsys.readouterr()
            assert out == ""
            assert err.startswith(sentence)
            assert len(err.splitlines()) == 1
            assert started == []
