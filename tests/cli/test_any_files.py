"""Whatever a file holds, a command reads it or refuses it in a sentence."""

import re
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from shutil import copy

import numpy as np
import pandas
import pytest
from safetensors.numpy import save_file

from normgeo import Recorder, Rows
from normgeo.__main__ import main
from normgeo.base.refusal import Refusal
from tests.datasets.test_tensor_files import mutated

FILES = 800
LONGEST_LINE = 900
NOTICES = ("was taken for its heading", "Choose one with --layer")  # beside an answer or a refusal
TOKEN = re.compile(rb"[0-9.]+|'[^']{0,20}'|\"[^\"]{0,30}\"|true|false|True|False")
WORDS = (
    *(b"1e400", b"-1", b"0", b"true", b"null", b"[[]]", b"{}", b'"\\ud800"', b"NaN", b"9" * 5000),
    *(b"(True,)", b"'|O'", b"'<f2'", b"'<c16'", b"'<M8[s]'", b"['a']", b"1L", b"_", b"1_0", b"0x1"),
    *(b"\xff\xfe", b"\x00", b"\x1b[2J", "\u202e٣".encode(), b"[" * 3000, b'"', b"\r\n", b",,"),
)
"""What stands in a file in the place of a number, a word or a truth value."""


def reworded(content: bytes, suffix: str, rng: np.random.Generator) -> bytes:
    """A file with another word in its head, of which safetensors tell the length."""
    places = [found.span() for found in TOKEN.finditer(content[:4000])]
    if places:
        start, end = places[rng.integers(len(places))]
        content = content[:start] + WORDS[rng.integers(len(WORDS))] + content[end:]
    if suffix == ".safetensors" and rng.integers(2):
        head, closing, _ = content[8:].partition(b"}}")
        content = struct.pack("<Q", len(head + closing)) + content[8:]
    return content


def save_whole(folder: Path, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Save one whole file of each kind; return weights that a recording of them is of."""
    W, X, ones = rng.standard_normal((4, 3)), rng.standard_normal((9, 3)), np.ones(4)
    np.savez(folder / "a.npz", **{"fc.weight": W, "fc.bias": 0 * ones, "norm.weight": ones})
    named = {"fc.weight": W, "bn.running_var": ones, "bn.num_batches_tracked": np.array(3)}
    np.savez_compressed(folder / "b.npz", **named)
    np.save(folder / "W.npy", W)
    np.save(folder / "X.npy", X)
    np.savetxt(folder / "W.csv", W, delimiter=",", header="a,b,c", comments="")
    pandas.DataFrame(X, columns=["a", "b", "c"]).to_parquet(folder / "X.parquet")
    layer = {"layer.weight": W, "layer.bias": ones.astype(np.float16), "layer_norm.weight": ones}
    save_file(layer, folder / "l.safetensors")
    with Recorder(folder / "r.run", {"w": "layer", "v": "batch"}, optimizer="adam") as recorder:
        for step in range(6):
            weights = {"w": W + 0.1 * step, "v": W - 0.1 * step}
            recorder.step(weights, 0.1, decay=0.1, gradients=weights)
    recipe = '{"view": "effect", "settings": {"delta": 5, "method": "layer"}, "version": "0.1.0"}'
    (folder / "p.json").write_text(recipe)
    return weights


def ways(
    file: Path, whole: Path, weights: dict[str, np.ndarray]
) -> Iterator[tuple[str, ...] | Callable[[], object]]:
    """The commands that read such a file, and the functions that no command has."""
    layer, match = ("layer", str(whole / "l.safetensors")), file.suffix
    if match in {".npz", ".npy", ".csv", ".safetensors"}:
        yield from (("layer", str(file), *more) for more in ([], ["--roles"]))
        yield from ((*layer, what, str(file)) for what in ("--x", "--gradient"))
        yield "training", str(file), str(whole / file.name), "--rate", "0.1"
    if match in {".npz", ".npy", ".csv", ".parquet"}:
        yield "fisher", "-W", str(whole / "W.npy"), "-X", str(file)
        yield "fisher", "-W", str(file), "-X", str(whole / "X.npy")
    if match in {".npy", ".csv", ".parquet"}:
        yield lambda: list(Rows.of(file).blocks())
    if match == ".run":
        yield from (("training", str(file), "--format", format) for format in ("text", "csv"))
        yield lambda: gone_on(copy(file, file.with_suffix(".again")), weights)
    if match in {".json", ".csv"}:
        yield "render", str(file), "-o", str(file.with_name("out.csv"))


def gone_on(file: Path, weights: dict[str, np.ndarray]) -> None:
    with Recorder(file, {"w": "layer", "v": "batch"}, append=True) as recorder:
        recorder.step(weights, 0.1)


@pytest.mark.exhaustive
def test_files_of_anything_are_read_or_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng, whole = np.random.default_rng(5), tmp_path / "whole"
    whole.mkdir()
    weights = save_whole(whole, rng)
    seeds = sorted(whole.iterdir())
    for number in range(FILES):
        seed = seeds[number % len(seeds)]
        file, content = tmp_path / seed.name, seed.read_bytes()
        changed = mutated(content, rng) if rng.integers(2) else reworded(content, seed.suffix, rng)
        file.write_bytes(changed)
        for way in ways(file, whole, weights):
            if callable(way):
                with suppress(Refusal, OSError):
                    way()
                continue
            status, (out, err) = main(way), capsys.readouterr()
            assert status in (0, 1, 2)
            assert [c for c in out + err if not c.isprintable() and c not in "\r\n"] == []
            told = [line for line in err.splitlines() if not any(n in line for n in NOTICES)]
            assert not status or [len(line) < LONGEST_LINE for line in told] == [True], (way, err)
