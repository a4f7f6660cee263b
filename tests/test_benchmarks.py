"""`python -m benchmarks` with a benchmark that has no figures."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks.timing import Row


def test_benchmark_without_figures_ends_with_a_sentence_and_the_next_one_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped() -> Iterator[Row]:
        yield Row("a", 1.0, "b", 2.0, "0.50 ×")
        raise RuntimeError("The page /a is not at rest after 120 s.")

    def late() -> Iterator[Row]:
        raise TimeoutError("No answer.\nCall log: …")
        yield

    there = {
        "benchmarks.frames": SimpleNamespace(TITLE="Frames", rows=late),
        "benchmarks.peers": SimpleNamespace(TITLE="Peers", rows=lambda: iter(())),
        "benchmarks.pages": SimpleNamespace(TITLE="Pages", rows=stopped),
        "benchmarks.load": SimpleNamespace(
            TITLE="Load", rows=lambda: iter([Row("c", 1.0, "d", 4.0, "0.25 ×", "< 3 ×")])
        ),
    }
    readme = tmp_path / "README.md"
    readme.write_text("<!-- pages -->\nas it was\n<!-- end of pages -->\n", "utf-8")
    monkeypatch.setattr(benchmarks, "README", readme)
    monkeypatch.setattr(benchmarks, "import_module", there.__getitem__)
    with pytest.raises(SystemExit) as ended:
        benchmarks.main(["pages", "frames", "peers", "load"])
    assert ended.value.code == (
        "No figures came of pages, frames, peers: the sentences above say why."
    )
    assert capsys.readouterr().out == (
        "Pages …\n"
        "  a: 0.50 × \n"
        "  The page /a is not at rest after 120 s. Its table stays as it was.\n"
        "Frames …\n"
        "  No answer. Its table stays as it was.\n"
        "Peers …\n"
        "  There is nothing to compare with. Its table stays as it was.\n"
        "Load …\n"
        "  c: 0.25 × (aim < 3 ×)\n"
    )
    written = readme.read_text("utf-8")
    assert "<!-- pages -->\nas it was\n<!-- end of pages -->" in written
    assert "| c | 1 s | d | 4 s | 0.25 × | < 3 × |" in written
