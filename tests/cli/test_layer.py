"""`normgeo layer`: its numbers against the library, its words, its corrections and refusals."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from normgeo import layer_report, load_layer
from normgeo.__main__ import main
from normgeo.checkpoints.examples import EXAMPLES
from normgeo.tables.formats import FORMATS
from normgeo.tables.layer import COLUMNS
from tests.pairwise import loops

Captured = pytest.CaptureFixture[str]
TRAINED = ("--optimizer", "momentum", "--rate", "0.1", "--decay", "0.003")


def records(capsys: Captured, *arguments: str) -> list[dict[str, Any]]:
    assert main(["layer", *arguments, "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    shapes = {"conv1.weight": (4, 3, 2, 2), "conv1_bn.weight": (4,), "conv1_bn.running_var": (4,)}
    shapes |= {"mlp.1.weight": (5, 4), "mlp.0.weight": (4,), "\x1b[2J.weight": (2, 2)}
    save_file({k: rng.uniform(0.1, 1, v) for k, v in shapes.items()}, tmp_path / "m.safetensors")
    return tmp_path / "m.safetensors"


def test_records_are_what_the_library_says(capsys: Captured) -> None:
    found = records(capsys, "--example", "batch", *TRAINED, "--sort", "norm")
    layer = load_layer(EXAMPLES["batch"].path)
    report = layer_report(layer, optimizer="momentum", rate=0.1, decay=0.003)
    assert report.angles is not None
    assert report.balance is not None
    assert [one["norm"] for one in found] == sorted(report.norms.tolist(), reverse=True)
    assert found[0]["neuron"] == 11
    assert found[0]["frozen"] is True
    for one in found:
        h = one["neuron"]
        assert one["angle"] == pytest.approx(np.degrees(report.angles[h]))
        assert one["over_balance"] == pytest.approx(report.norms[h] / report.balance.norm[h])
    assert sum(one["gain_share"] for one in found) == pytest.approx(1)


def test_several_layers_are_told_in_a_line_each(checkpoint: Path, capsys: Captured) -> None:
    assert main(["layer", str(checkpoint)]) == 0
    out, err = capsys.readouterr()
    assert "--layer NAME" in err
    lines = [line for line in out.splitlines() if ".weight" in line]
    assert ["after W" in line for line in lines] == [False, True, False]
    assert lines[0].count("unknown") == 3
    assert "before W" in lines[2]
    assert "\x1b" not in out
    found = records(capsys, str(checkpoint))
    assert sorted(one["layer"] for one in found) == [
        *("\x1b[2J.weight", "conv1.weight", "mlp.1.weight")
    ]
    for one in found:
        norms = layer_report(load_layer(checkpoint, one["layer"])).norms
        assert one["median_norm"] == pytest.approx(np.median(norms))


@pytest.mark.parametrize("rows", loops([(), ("--family", "gaussian")], FORMATS, of=1))
def test_every_format_has_every_neuron(
    rows: list[tuple[tuple[str, ...], str]], capsys: Captured, subtests: pytest.Subtests
) -> None:
    for given, format in rows:
        with subtests.test(given=given, format=format):
            assert main(["layer", "--example", "pre_norm", *given, "--format", format]) == 0
            out, _ = capsys.readouterr()
            assert len(out.splitlines()) > 12


def test_how_a_kernel_moves_is_stated(checkpoint: Path, tmp_path: Path, capsys: Captured) -> None:
    images = np.random.default_rng(1).standard_normal((2, 3, 5, 6))
    np.save(tmp_path / "x.npy", images)
    given = [str(checkpoint), "--layer", "conv1.weight", "--x", str(tmp_path / "x.npy")]
    given += ["--eps", "0.01", "--stride", "2,1", "--padding", "same"]
    assert main(["layer", *given]) == 0
    assert "windows of images: stride 2 × 1, padding same, dilation 1." in capsys.readouterr().out
    layer = load_layer(
        checkpoint, "conv1.weight", x=tmp_path / "x.npy", eps=0.01, stride=(2, 1), padding="same"
    )
    report = layer_report(layer)
    assert report.epsilon is not None
    found = [one["shorter_by_eps"] for one in records(capsys, *given)]
    np.testing.assert_allclose(found, report.epsilon.of_neurons)
    assert main(["layer", *given[:-1], "wide"]) == 2
    assert "`padding` must be a whole number" in capsys.readouterr().err


def test_words_say_where_the_norm_stands_and_what_is_missing(capsys: Captured) -> None:
    assert main(["layer", "--example", "pre_norm"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "layer norm stands before W. Ignored: columns of W × δ, with the norm's gain" in out
    assert "guessed from names: 'block.mlp.0' is beside it in a sequence" in out
    assert "need the learning rate η of the optimizer: state it" in out
    assert "effective rate" not in out


def test_layer_whose_norm_no_name_tells_is_unknown(tmp_path: Path, capsys: Captured) -> None:
    np.savez(tmp_path / "net.npz", **{"a.weight": np.eye(3), "b.weight": np.eye(3)})
    assert main(["layer", str(tmp_path / "net.npz")]) == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = (line for line in lines if line.startswith("b.weight"))
    assert line.split()[:8] == ["b.weight", "3", "3", "unknown", "—", "unknown", "unknown", "0"]
    assert main(["layer", str(tmp_path / "net.npz"), "--layer", "a.weight"]) == 0
    assert "Unknown: no name tells which norm this layer has" in capsys.readouterr().out
    assert main(["layer", str(tmp_path / "net.npz"), "--layer", "a.weight", "--norm", ""]) == 0
    assert "There is no norm. Not ignored: all of W × δ;" in capsys.readouterr().out


def test_neurons_shown_are_one_at_least(capsys: Captured) -> None:
    for top in ("0", "-1"):
        assert main(["layer", "--example", "batch", "--top", top]) == 2
        assert capsys.readouterr().err.startswith("`top` must be a whole number from 1")


def test_a_table_of_the_first_neurons_says_so_and_one_of_all_does_not(capsys: Captured) -> None:
    for top, said in (("2", True), ("12", False)):
        assert main(["layer", "--example", "batch", "--top", top]) == 0
        assert (f"The first {top} of 12 neurons, by " in capsys.readouterr().out) == said


def test_roles_are_listed_and_corrected(checkpoint: Path, capsys: Captured) -> None:
    assert main(["layer", str(checkpoint), "--roles"]) == 0
    out, _ = capsys.readouterr()
    assert "running variance" in out
    assert "guessed from names" in out
    found = records(
        capsys,
        *(str(checkpoint), "--layer", "mlp.1.weight", "--role", "conv1.weight=other"),
        *("--norm", "", "--method", "weight", "--rate", "1"),
    )
    W = load_layer(checkpoint, "mlp.1.weight").W
    rates = [one["effective_rate"] for one in found]
    np.testing.assert_allclose(rates, 1 / np.square(W).sum(axis=1))


def test_pairs_of_which_epsilon_takes_most_are_listed(capsys: Captured) -> None:
    found = records(capsys, "--example", "layer", "--epsilon")
    assert len(found) == 2400
    assert [*found[0]] == ["neuron", "case", "z", "z_without_eps", "lost", "shorter"]
    assert found[0]["lost"] == pytest.approx(abs(found[0]["z_without_eps"]) - abs(found[0]["z"]))
    assert main(["layer", "--example", "layer", "--epsilon", "--top", "2"]) == 0
    assert "The 2 of 2,400 pairs of which ε takes most." in capsys.readouterr().out


def test_roles_are_written_to_a_file(checkpoint: Path, tmp_path: Path, capsys: Captured) -> None:
    for name in ("roles.html", "roles.csv"):
        assert main(["layer", str(checkpoint), "--roles", "-o", str(tmp_path / name)]) == 0
    assert capsys.readouterr().out == ""
    page = (tmp_path / "roles.html").read_text()
    assert page.count("<table>") == 2
    assert "running variance" in page
    assert "is beside it in a sequence" in page
    rows = (tmp_path / "roles.csv").read_text().splitlines()
    assert rows[0] == "tensor,shape,type,taken for"
    assert len(rows) == 7


def test_gradients_of_all_layers_are_found_by_the_names_of_their_weights(
    checkpoint: Path, tmp_path: Path, capsys: Captured
) -> None:
    kernel = load_layer(checkpoint, "conv1.weight").W.reshape(4, 3, 2, 2)
    save_file({"conv1.weight": kernel, "other": kernel}, tmp_path / "g.safetensors")
    given = [str(checkpoint), "--gradient", str(tmp_path / "g.safetensors"), "--rate", "0.1"]
    found = {one["layer"]: one["angle"] for one in records(capsys, *given)}
    # Gradients as long as their weights, so tan(angle) = η‖G‖/‖w‖ = η.
    assert found["conv1.weight"] == pytest.approx(np.degrees(np.arctan(0.1)))
    assert found["mlp.1.weight"] is None
    assert main(["layer", *given]) == 0
    assert "5.71059" in capsys.readouterr().out


def test_refusals_are_sentences(capsys: Captured, subtests: pytest.Subtests) -> None:
    for arguments, sentence in [
        ((), "Give files of tensors, or one --example."),
        (("--example", "none"), "`example` must be one of batch, layer, pre_norm; got 'none'."),
        (("--example", "layer", "--role", "weight"), "`--role` must have the form TENSOR=ROLE; "),
        (("--example", "layer", "--sort", "size"), "`sort` must be one of neuron, block, norm, "),
        (("--example", "layer", "--rate", "-1"), "`rate` must be a finite number above 0; got -1"),
        (("--example", "layer", "--place", "left"), "`place` must be one of after, before, "),
        (("--example", "layer", "--stride", "9" * 5000), "`stride` must be a whole number from 1 "),
        (("--example", "layer", "--padding", "-1"), "`padding` must be a whole number from 0 up; "),
        (("model.pkl",), "Tensors are read from files that end in one of .safetensors, .npy, "),
    ]:
        with subtests.test(arguments=arguments, sentence=sentence):
            assert main(["layer", *arguments]) == 2
            out, err = capsys.readouterr()
            assert out == ""
            assert err.startswith(sentence)
            assert len(err.splitlines()) == 1


def test_columns_sort_with_the_unknown_last(capsys: Captured) -> None:
    for column in COLUMNS:
        found = records(capsys, "--example", "batch", "--sort", column)
        values = [one[column] for one in found]
        if column in {"neuron", "block"}:
            assert values == sorted(values)
        elif values[0] is not None:
            assert values == sorted(values, reverse=True)


def test_report_is_a_page_with_every_neuron_and_no_markup_of_the_file(
    checkpoint: Path, tmp_path: Path, capsys: Captured
) -> None:
    page = tmp_path / "report.html"
    assert main(["layer", "--example", "batch", *TRAINED, "-o", str(page)]) == 0
    html = page.read_text("utf-8")
    assert html.count("<tr>") == 1 + 12
    assert "1 of 12 blocks are expected to turn less than 0.01° a step." in html
    save_file({"<b>x</b>.weight": np.ones((2, 2))}, checkpoint)
    assert main(["layer", str(checkpoint), "-o", str(page)]) == 0
    assert "&lt;b&gt;x" in page.read_text("utf-8")
    assert "<b>" not in page.read_text("utf-8")
    assert capsys.readouterr().out == ""
    assert main(["layer", str(checkpoint), "-o", str(tmp_path / "report.txt")]) != 0
    assert "A report is written to .html, .pdf, .md or .tex" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_numbers_in_a_file_are_those_that_are_printed(
    checkpoint: Path, tmp_path: Path, suffix: str, capsys: Captured
) -> None:
    file = tmp_path / f"numbers.{suffix.upper()}"
    assert main(["layer", str(checkpoint), "--format", suffix]) == 0
    printed = capsys.readouterr().out
    assert main(["layer", str(checkpoint), "-o", str(file)]) == 0
    assert capsys.readouterr() == ("", "")
    assert file.read_bytes().decode() == printed
    assert "mlp.0" not in printed
    assert "mlp.1.weight" in printed


def test_all_layers_are_written_as_they_are_shown(
    checkpoint: Path, tmp_path: Path, capsys: Captured
) -> None:
    """Of a layer that cannot be read the row says why, in every format."""
    save_file({"a.weight": np.ones((3, 2)), "b.weight": np.full((2, 2), np.nan)}, checkpoint)
    assert main(["layer", str(checkpoint)]) == 0
    shown = capsys.readouterr().out
    for suffix in ("html", "csv", "json"):
        file = tmp_path / f"all.{suffix}"
        assert main(["layer", str(checkpoint), "-o", str(file)]) == 0
        written = file.read_text("utf-8")
        for word in ("a.weight", "b.weight", "must hold finite numbers", "1.41"):
            assert word in shown, word
            assert word in written, (suffix, word)


def test_report_is_a_document_of_pages(tmp_path: Path) -> None:
    assert main(["layer", "--example", "layer", "-o", str(tmp_path / "report.pdf")]) == 0
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")
