"""`normgeo network`: it measures what a function gives, keeps what there is, and goes on."""

import json
import os
from pathlib import Path

import pytest

import normgeo
from normgeo.__main__ import main
from normgeo.measured.saved.examples import EXAMPLES

Captured = pytest.CaptureFixture[str]

SOURCE = """
import os, signal
import numpy as np

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 5))
parameters = {"W": rng.standard_normal((6, 5)), "b": rng.standard_normal(6)}
parameters["V"] = rng.standard_normal((3, 6))
calls, interrupted = 0, ()

def f(p, inputs=X):
    global calls
    calls += 1
    if calls in interrupted:
        os.kill(os.getpid(), signal.SIGINT)
    a = inputs @ p["W"].T + p["b"]
    c = a - a.mean(axis=1, keepdims=True)
    return c / np.sqrt((c**2).mean(axis=1, keepdims=True) + 1e-5) @ p["V"].T

def network():
    return f, parameters

def two_inputs():
    return f, parameters, [X, 2 * X]

def stopped_at_30():
    global interrupted
    interrupted = (30,)
    return network()

def stopped_twice():
    global interrupted
    interrupted = (49, 50)  # both within one pass
    def g(p):
        value = f(p)
        f(p)
        return value
    return g, parameters

def nothing():
    return parameters

number = 3
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    path = tmp_path / "mine_for_network.py"
    path.write_text(SOURCE, "utf-8")
    return path


@pytest.fixture(autouse=True)
def _imported_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(__import__("sys").modules, "mine_for_network", raising=False)


def test_table_is_what_measure_says_and_the_cost_comes_first(mine: Path, capsys: Captured) -> None:
    assert main(["network", "mine_for_network:network", "-o", "t.json"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    space: dict[str, object] = {}
    exec(SOURCE, space)
    parameters = space["parameters"]
    assert err == f"It takes {normgeo.measuring_cost(parameters)}.\n"
    table = normgeo.measure(space["f"], parameters)  # type: ignore[arg-type]
    assert (mine.parent / "t.json").read_text("utf-8") == table.render("json")


@pytest.mark.parametrize("format", ["text", "markdown", "latex", "csv", "json"])
def test_saved_table_is_printed_in_every_format(mine: Path, format: str, capsys: Captured) -> None:
    table = normgeo.read_measured(EXAMPLES["decoder"].path)
    assert main(["network", str(EXAMPLES["decoder"].path), "--format", format]) == 0
    given = capsys.readouterr().out
    assert main(["network", "--example", "decoder", "--format", format]) == 0
    assert capsys.readouterr().out == given
    if format in ("csv", "json"):
        assert given == table.render(format)
    else:
        assert given.startswith(table.render(format).split("\n\n")[0])
        assert "Scale-invariant weights" in given


def test_each_option_reaches_the_measurement(mine: Path) -> None:
    words = ["--neurons", "-1", "--tries", "6", "--seed", "5", "--negative", "-o", "a.json"]
    words += ["--embeddings", "W", "V", "--matrices", "V"]
    assert main(["network", "mine_for_network.py:two_inputs", *words]) == 0
    table = normgeo.read_measured("a.json")
    options = {"neurons": -1, "tries": 6, "seed": 5, "negative": True}
    options |= {"embeddings": ("W", "V"), "matrices": ("V",)}
    assert vars(table.options) == options
    assert main(["network", "mine_for_network.py:network", *words]) == 0
    assert 1.9 < table.calls / normgeo.read_measured("a.json").calls < 2.1


def test_cost_alone_runs_nothing(mine: Path, capsys: Captured) -> None:
    assert main(["network", "mine_for_network.py:two_inputs", "--cost", "-o", "t.json"]) == 0
    assert "forward passes" in capsys.readouterr().out
    assert os.listdir() == ["mine_for_network.py"] or {*os.listdir()} == {
        "mine_for_network.py",
        "__pycache__",
    }


@pytest.mark.parametrize(
    ("output", "kept"),
    [
        (["-o", "t.json"], "t.json"),
        (["-o", "t.html"], "t.part.json"),
        ([], "stopped_at_30.part.json"),
    ],
)
def test_what_there_is_at_ctrl_c_is_kept_and_gone_on_with(
    mine: Path, output: list[str], kept: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["network", "mine_for_network.py:stopped_at_30", *output]) == 130
    err = capfd.readouterr().err
    assert "Stopping after this step, with what there is." in err
    assert f"network mine_for_network.py:stopped_at_30 --resume {kept}\n" in err
    part = normgeo.read_measured(kept)
    assert not part.complete
    assert [*part.tensors] == ["W"]
    assert main(["network", "mine_for_network.py:network", "--resume", kept, "-o", kept]) == 0
    whole = normgeo.read_measured(kept)
    assert whole.complete
    assert main(["network", "mine_for_network.py:network", "-o", "all.json"]) == 0
    one, other = (json.loads(Path(path).read_text("utf-8")) for path in (kept, "all.json"))
    assert one | {"calls": 0} == other | {"calls": 0}


def test_second_ctrl_c_leaves_at_once(mine: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["network", "mine_for_network.py:stopped_twice", "-o", "t.json"]) == 130
    assert not Path("t.json").exists()
    assert capfd.readouterr().err.endswith("Interrupted. Every file that was written is whole.\n")


REFUSED = {
    "": (
        [],
        "Give a function as MODULE:FUNCTION, a saved table, or --example, one of "
        "transformer, post_norm, resnet_18, decoder.",
    ),
    "no function": (
        ["mine_for_network"],
        "A network is given as MODULE:FUNCTION, as in my_model:network; got 'mine_for_network'.",
    ),
    "no name": (
        ["mine_for_network:f()"],
        "A network is given as MODULE:FUNCTION, as in my_model:network; got "
        "'mine_for_network:f()'.",
    ),
    "no module": (
        ["no_such_module:f"],
        "There is no module 'no_such_module' here or among those installed. Give its name as in "
        "`import`, or its file, as my_model.py:network.",
    ),
    "no file": (["none.py:f"], "There is no file none.py."),
    "not there": (
        ["mine_for_network:absent"],
        "mine_for_network must hold a function 'absent'; it has none.",
    ),
    "no callable": (
        ["mine_for_network:number"],
        "mine_for_network must hold a function 'number'; it has none.",
    ),
    "no network": (
        ["mine_for_network:nothing"],
        "mine_for_network:nothing must return (f, parameters) or (f, parameters, inputs), with a "
        "function f; it returned dict.",
    ),
    "another table": (
        ["mine_for_network:network", "--resume", "other.json"],
        "`resume` must be a table of the same network, parameters, inputs and options; this one "
        "has other names, shapes, options or outputs. Measure from the start.",
    ),
    "another kind": (
        ["mine_for_network:network", "-o", "t.pkl"],
        "A report is written to .html, .pdf, .md or .tex, and its numbers to .csv or .json; got "
        "t.pkl.",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_network_is_refused_in_a_sentence(
    mine: Path, what: str, capsys: Captured
) -> None:
    Path("other.json").write_bytes(EXAMPLES["decoder"].path.read_bytes())
    words, sentence = REFUSED[what]
    assert main(["network", *words]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == sentence
    assert not Path("t.pkl").exists()


def test_what_the_users_own_code_raises_comes_as_it_is(mine: Path) -> None:
    mine.write_text("import no_such_library\n", "utf-8")
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        main(["network", "mine_for_network:network"])
