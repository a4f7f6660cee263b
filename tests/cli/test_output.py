"""Where commands write: never over what they read."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from normgeo.__main__ import main


def in_a_longer_way(free: Path, file: Path) -> Path:
    return file.parent / ".." / file.parent.name / file.name


def by(link: Callable[[Path, Path], None]) -> Callable[[Path, Path], Path]:
    def linked(free: Path, file: Path) -> Path:
        link(free, file)
        return free

    return linked


WAYS: dict[str, Callable[[Path, Path], Path]] = {
    "its name": lambda free, file: file,
    "a longer name": in_a_longer_way,
    "a link": by(Path.symlink_to),
    "a second name": by(Path.hardlink_to),
}
"""How an output may be one file with an input, from a free name and that of the input."""


@pytest.mark.parametrize("way", WAYS)
def test_no_command_writes_over_a_file_that_it_reads(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights, gradient, recipe = (tmp_path / f"{name}" for name in ("w.csv", "g.csv", "r.json"))
    np.savetxt(weights, np.eye(3) + 1, delimiter=",")
    np.savetxt(gradient, np.eye(3), delimiter=",")
    recipe.write_text('{"view": "effect", "settings": {}, "version": "0.1.0"}')
    of_layer = ["layer", str(weights)]
    for place, (command, read) in enumerate(
        [
            (of_layer, weights),
            ([*of_layer, "--gradient", str(gradient)], gradient),
            (["training", str(gradient), str(weights)], weights),
            (["render", str(recipe)], recipe),
        ]
    ):
        before = read.read_bytes()
        output = WAYS[way](tmp_path / f"other{place}{read.suffix}", read)
        assert main([*command, "-o", str(output)]) == 2
        sentence = f"{output} is a file that is read. Write to another one with -o.\n"
        assert capsys.readouterr() == ("", sentence)
        assert read.read_bytes() == before


def test_a_command_writes_over_what_it_does_not_read(tmp_path: Path) -> None:
    weights, report = tmp_path / "w.csv", tmp_path / "report.csv"
    np.savetxt(weights, np.eye(3) + 1, delimiter=",")
    report.write_text("an earlier one")
    assert main(["layer", str(weights), "-o", str(report)]) == 0
    assert report.read_text().startswith("layer,neuron,")
