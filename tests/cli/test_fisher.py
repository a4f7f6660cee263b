"""`normgeo fisher`: its numbers against the matrix, its words, its files and its refusals."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normgeo import NORMALIZERS, NormalizedGLM, expected_dimension, fisher
from normgeo.__main__ import main
from normgeo.datasets.datasets import load
from normgeo.tables.formats import FORMATS

ROOT = Path(__file__).parents[2]
Captured = pytest.CaptureFixture[str]
SMALL = ("dataset=wine", "neurons=4")


def records(capsys: Captured, *arguments: str) -> list[dict[str, Any]]:
    assert main(["fisher", *arguments, "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def wine(name: str, family: str = "bernoulli", H: int = 4) -> tuple[NormalizedGLM, Any]:
    """The model of the settings `SMALL`, made here."""
    X = load("wine").X
    rng = np.random.default_rng(0)
    return NormalizedGLM.random(NORMALIZERS[name], family, H, X.shape[1], rng), X


def test_numbers_are_those_of_the_matrix_and_the_formula(
    capsys: Captured, subtests: pytest.Subtests
) -> None:
    for name in NORMALIZERS:
        with subtests.test(name=name):
            found = records(capsys, f"method={name}", *SMALL)
            model, X = wine(name)
            values = np.linalg.eigvalsh(fisher(model, X).weights())[::-1]
            spectrum = [r for r in found if r["kind"] == "eigenvalue"]
            np.testing.assert_allclose([r["eigenvalue"] for r in spectrum], values[:20], rtol=1e-9)
            shares = [r["share_of_trace"] for r in spectrum]
            whole = values.sum() or 1.0  # 0 where pairs leave only signs
            np.testing.assert_allclose(shares, values[:20] / whole, rtol=1e-9)
            null = {
                r["reason"]: r["null_directions"] for r in found if r["kind"] == "null_directions"
            }
            assert sum(null.values()) == expected_dimension(model.normalizer, 4, 13, "bernoulli")
            assert null["no known reason"] == 0
            if name == "layer":
                assert null["weight matrix re-centering"] == 13
            for r in found:
                assert r["fisher"] == "expected Fisher information, per case"
                assert (r["of"], r["coupling"], r["cases"], r["phi"]) == (
                    "F_WW",
                    "exact",
                    len(X),
                    1.0,
                )


def test_all_parameters_and_the_coupling_of_the_paper(
    capsys: Captured, subtests: pytest.Subtests
) -> None:
    for coupling in ["exact", "paper"]:
        with subtests.test(coupling=coupling):
            settings = ("method=layer", "family=categorical", "dataset=wine", "neurons=3")
            found = records(capsys, *settings, "--all", "--coupling", coupling, "-k", "45")
            model, X = wine("layer", "categorical", H=3)
            F = fisher(model, X, coupling=coupling)
            values = np.linalg.eigvalsh(F.to_dense())[::-1]
            spectrum = [r["eigenvalue"] for r in found if r["kind"] == "eigenvalue"]
            np.testing.assert_allclose(spectrum, values, atol=1e-12)
            assert {(r["of"], r["coupling"]) for r in found} == {("F", coupling)}
            null = 45 - np.linalg.matrix_rank(F.factor_times(np.eye(45)), tol=1e-9)
            assert sum(r["null_directions"] or 0 for r in found) == null
            if coupling == "exact":
                assert null == expected_dimension(model.normalizer, 3, 13, "categorical") + 1  # b


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_says_which_fisher_which_scale_and_what_explains(
    format: str, capsys: Captured
) -> None:
    assert main(["fisher", "method=layer", *SMALL, "--format", format]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    words = " ".join(out.split())
    assert "xpected Fisher information, per case" in words
    assert "weight matrix re-scaling" in words
    assert "z ignores it, and so does the model." in words
    if format in {"csv", "json"}:
        rows = json.loads(out) if format == "json" else list(csv.DictReader(io.StringIO(out)))
        assert {(r["coupling"], float(r["phi"]), int(r["cases"])) for r in rows} == {
            ("exact", 1.0, 178)
        }
        return
    assert "xpected Fisher information, per case; N = 178, dispersion φ = 1" in words
    assert "layer norm, Wine, Bernoulli outputs, H = 4, D = 13" in words
    assert "By formula, for generic weights and many generic cases: 14." in words
    if format == "text":
        assert "Null directions of F_WW: 14 of 52" in out


@pytest.mark.parametrize("format", ["text", "json"])
def test_what_float64_cannot_decide_is_said(format: str, tmp_path: Path, capsys: Captured) -> None:
    """A feature that is another one but for 1e-13: neither null nor not."""
    rng = np.random.default_rng(0)
    W, X = rng.standard_normal((1, 3)), rng.standard_normal((20, 3))
    X[:, 2] = X[:, 0] + 1e-13 * X[:, 2]
    for name, array in (("w", W), ("x", X)):
        np.save(tmp_path / f"{name}.npy", array)
    files = ["-W", str(tmp_path / "w.npy"), "-X", str(tmp_path / "x.npy")]
    assert main(["fisher", "method=standard", *files, "--format", format]) == 0
    out = capsys.readouterr().out
    if format == "json":
        undecided = [r for r in json.loads(out) if r["kind"] == "undecided_directions"]
        assert [r["undecided_directions"] for r in undecided] == [1]
        return
    assert "Null directions of F_WW: 0 of 3, 1 cannot be decided in float64" in out
    assert len(re.findall(r"cannot be decided in float64 +1\n", out)) == 1
    assert "1 of the directions cannot be decided in float64: singular" in " ".join(out.split())


def test_inputs_in_blocks_give_what_they_give_in_memory(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, X = wine("batch")
    np.save(tmp_path / "w.npy", model.W)
    np.save(tmp_path / "x.npy", X)
    files = ["-W", str(tmp_path / "w.npy"), "-X", str(tmp_path / "x.npy")]
    command = ["method=batch", "family=bernoulli", *files, "-k", "52"]

    def values(found: list[dict[str, Any]]) -> list[float]:
        return [r["eigenvalue"] for r in found if r["kind"] == "eigenvalue"]

    whole = records(capsys, *command)
    blocks = records(capsys, *command, "--block", "40")
    np.testing.assert_allclose(values(blocks), values(whole), atol=1e-12)
    (null,) = (r for r in blocks if r["kind"] == "null_directions")
    assert null["null_directions"] == 4
    assert null["reason"] == "not explained: reasons are found of cases in memory"
    single = values(records(capsys, *command, "--float32"))
    off = np.abs(np.subtract(single, values(whole))).max() / values(whole)[0]
    assert 1e-10 < off < 1e-5
    # A file too large to be held is read in blocks without being asked to.
    monkeypatch.setattr("normgeo.datasets.numpy_files.LARGEST", 1000)
    monkeypatch.setattr("normgeo.cli.fisher.LARGEST", 4)
    assert main(["fisher", "method=batch", *files]) == 0
    assert "The null directions of up to 4 parameters are counted" in capsys.readouterr().out


def test_bad_blocks_are_refused(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    for arguments, sentence in [
        (
            ("--block", "9"),
            "--block and --float32 are of inputs from an .npy, .csv or .parquet file: -X.",
        ),
        (
            ("-W", "w.npy", "-X", "x.npy", "--block", "0"),
            "`block` must be a whole number from 1 up; got 0.",
        ),
        (
            ("-W", "w.npy", "-X", "x.npy", "--block", "2"),
            "`X` must hold finite numbers; got inf in row 4, column 1, counted from 0. Remove or "
            "impute it first.",
        ),
    ]:
        with subtests.test(arguments=arguments, sentence=sentence):
            monkeypatch.chdir(tmp_path)
            np.save("w.npy", np.eye(2))
            np.save("x.npy", np.where(np.arange(12).reshape(6, 2) == 9, np.inf, 1.0))
            assert main(["fisher", *arguments]) == 2
            assert " ".join(capsys.readouterr().err.split()).endswith(sentence)


WITHIN_A_LIMIT = """
import resource, sys
import numpy as np
import scipy.linalg, scipy.sparse.linalg
from normgeo.__main__ import main
import normgeo.null_directions.explanation, normgeo.tables.fisher

room, file = int(sys.argv[1]), sys.argv[2]
square = np.ones((999, 999))  # NumPy's BLAS and SciPy's take their room at their first products
square @ square, scipy.linalg.blas.dgemm(1.0, square, square), scipy.linalg.eigh(np.eye(200))
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
most = 1024 * int(status["VmData"].split()[0]) + room
resource.setrlimit(resource.RLIMIT_DATA, (most, most))
try:
    np.load(file)
    sys.exit("the limit is none")
except MemoryError:
    sys.exit(main(sys.argv[3:]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")
@pytest.mark.exhaustive
def test_a_file_of_ten_times_the_memory(tmp_path: Path) -> None:
    """As many copies of a few rows as fill it have the statistics, and so the F, of these rows."""
    room, D = 8 * 2**20, 64
    rng = np.random.default_rng(0)
    few = rng.standard_normal((4096, D)).astype(np.float32)
    copies = 10 * room // few.nbytes
    path = tmp_path / "big.npy"
    big = np.lib.format.open_memmap(path, "w+", few.dtype, (copies * len(few), D))
    for copy in range(copies):
        big[copy * len(few) : (copy + 1) * len(few)] = few
    big.flush()
    assert path.stat().st_size > 10 * room
    W = rng.standard_normal((2, D)) / 8
    np.save(tmp_path / "w.npy", W)
    command = ["fisher", "method=batch", "-W", str(tmp_path / "w.npy"), "-X", str(path)]
    command += ["--block", "1000", "-k", "3", "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-c", WITHIN_A_LIMIT, str(room), str(path), *command],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    F = fisher(NormalizedGLM(NORMALIZERS["batch"], "gaussian", W), few.astype(float)).weights()
    values = [r["eigenvalue"] for r in found if r["kind"] == "eigenvalue"]
    np.testing.assert_allclose(values, np.linalg.eigvalsh(F)[:-4:-1], rtol=1e-10)
    assert [r["null_directions"] for r in found if r["kind"] == "null_directions"] == [2]


def test_files_give_what_the_same_arrays_give_from_a_data_set(
    tmp_path: Path, capsys: Captured
) -> None:
    model, X = wine("layer")
    np.savez(tmp_path / "layer.npz", W=model.W, b=model.b, g=np.ones(4))
    np.savetxt(tmp_path / "x.csv", X, fmt="%.17g", delimiter=",", header="a,b", comments="")
    layer, inputs = str(tmp_path / "layer.npz"), str(tmp_path / "x.csv")
    files = ["-W", layer, "-b", layer, "-g", layer, "-X", inputs]
    from_files = records(capsys, "method=layer", "family=bernoulli", *files)
    from_data = records(capsys, "method=layer", *SMALL)
    for a, b in zip(from_files, from_data, strict=True):
        # Up to rounding: arrays laid out otherwise in memory are summed in another order.
        values = [(each.pop("eigenvalue"), each.pop("share_of_trace")) for each in (a, b)]
        assert a == b
        if a["kind"] == "eigenvalue":
            np.testing.assert_allclose(*values, rtol=1e-9, atol=1e-15)
        else:
            assert values == [(None, None)] * 2
    # Without a family they are Gaussian; a bias in a column of its own is a bias.
    np.savetxt(tmp_path / "b.csv", np.arange(4.0))
    found = records(
        capsys, "method=weight", "-W", layer, "-X", inputs, "-b", str(tmp_path / "b.csv")
    )
    other, _ = wine("weight", "gaussian")
    values = np.linalg.eigvalsh(fisher(other, X).weights())[::-1]
    np.testing.assert_allclose(found[0]["eigenvalue"], values[0])


def test_frozen_statistics_are_those_of_the_files(tmp_path: Path, capsys: Captured) -> None:
    model, X = wine("batch")
    np.savez(tmp_path / "a.npz", W=model.W, X=X)
    path = str(tmp_path / "a.npz")
    found = records(capsys, "method=batch", "statistics=frozen", "-W", path, "-X", path)
    assert sum(r["null_directions"] or 0 for r in found) == 0


def test_bad_files_are_refused_in_a_sentence(tmp_path: Path, capsys: Captured) -> None:
    model, X = wine("layer")
    good, wide, broken = (str(tmp_path / name) for name in ("a.npz", "wide.npy", "broken.npy"))
    np.savez(good, W=model.W, X=X)
    np.save(wide, X[:, :5])
    Path(broken).write_bytes(b"no array")
    np.save(tmp_path / "nan.npy", np.full((4, 13), np.nan))

    def refused(*arguments: str, status: int = 2) -> str:
        assert main(["fisher", *arguments]) == status
        out, err = capsys.readouterr()
        assert out == ""
        return err.rstrip("\n")

    assert refused("-W", good) == (
        "A model from files needs its weights and its inputs: give both -W FILE and -X FILE; got "
        "-W alone."
    )
    assert refused("-W", good, "-X", wide) == (
        "`W` (H, D) and `X` (N, D) must have the same number of features D; got W of shape (4, 13) "
        "and X of shape (178, 5)."
    )
    assert refused("-W", good, "-X", broken).startswith(f"{broken} holds no array of numbers")
    assert refused("-W", str(tmp_path / "nan.npy"), "-X", good) == (
        "`W` must hold finite numbers; got 52 NaN or infinite among 52. Remove or impute them "
        "first."
    )
    assert refused("-W", good, "-X", good, "-b", good) == (
        f"{good} must hold one array, or one with the name 'b'; it holds W, X."
    )
    none = str(tmp_path / "none.npy")
    assert refused("-W", good, "-X", none, status=1) == f"{none}: No such file or directory."
    assert refused("-k", "0") == (
        "`k` must be a whole number from 1 to 610, which is H·D, or None for all; got 0."
    )
    assert refused("method=layer", "neurons=1").startswith("A layer mean is taken over")


def test_a_setting_that_changes_nothing_is_refused(tmp_path: Path, capsys: Captured) -> None:
    path = str(tmp_path / "a.npz")
    np.savez(path, W=np.eye(3), X=np.random.default_rng(0).standard_normal((5, 3)))
    files = ["-W", path, "-X", path]
    assert main(["fisher", *files, "dataset=iris", "seed=3", "method=layer"]) == 2
    assert capsys.readouterr() == (
        "",
        "`dataset`, `seed` would change nothing with -W, -X; the settings here are family, method, "
        "groups, eps, statistics.\n",
    )
    assert main(["fisher", "rate=3"]) == 2
    assert capsys.readouterr().err.startswith("`rate` would change nothing with a data set; the")
    settings = ["family=poisson", "method=batch", "eps=0.1", "statistics=frozen", "groups=2"]
    assert main(["fisher", *files, *settings]) == 0


def test_the_heading_of_a_file_is_told(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "x.csv"
    np.savetxt(path, [[1, 2, 4], [3, 1, 0], [5, 9, 2]], delimiter=",", header="a,b,c")
    assert main(["fisher", "method=layer", "-W", str(path), "-X", str(path)]) == 0
    sentence = f"Line 1 of {path} was taken for its heading: # a, b, c.\n"
    assert capsys.readouterr().err == sentence * 2


def test_saturated_outputs_are_said(tmp_path: Path, capsys: Captured) -> None:
    model, X = wine("weight")
    np.savez(tmp_path / "a.npz", W=model.W, X=X, b=np.full(4, 60.0))
    path = str(tmp_path / "a.npz")
    command = ["fisher", "method=weight", "family=bernoulli", "-W", path, "-X", path, "-b", path]
    assert main(command) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "The Bernoulli outputs are saturated: their mean variance A'' is" in words


def test_a_large_layer_has_its_spectrum_by_products(tmp_path: Path, capsys: Captured) -> None:
    rng = np.random.default_rng(0)
    W, X = rng.standard_normal((30, 100)), rng.standard_normal((40, 100))
    np.savez(tmp_path / "a.npz", W=W, X=X, b=np.full(30, 60.0))
    path = str(tmp_path / "a.npz")
    command = ["fisher", "method=layer", "family=bernoulli", "-k", "3"]
    assert main([*command, "-W", path, "-X", path, "-b", path]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "Largest 3 of 3000 eigenvalues of F_WW" in words
    assert "by Lanczos" in words
    assert "The Bernoulli outputs are saturated" in words
    assert "The null directions of up to 2,048 parameters are counted; these are 3,000." in words


def test_fisher_needs_neither_plotly_nor_streamlit_nor_for_files_scikit_learn(
    tmp_path: Path,
) -> None:
    np.savez(tmp_path / "a.npz", W=np.eye(3), X=np.random.default_rng(0).standard_normal((5, 3)))
    path = str(tmp_path / "a.npz")
    code = (
        "import sys; from normgeo.__main__ import main;"
        f"main(['fisher', 'method=layer', '-W', {path!r}, '-X', {path!r}]);"
        "heavy = 'plotly', 'streamlit', 'sklearn', 'choreographer';"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    words = done.stdout.decode("ascii")
    assert words.splitlines()[-1] == "[]"
    assert "?" not in words
