"""Contents in memory are read like files, and leave nothing behind."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

from normgeo.base.refusal import Refusal
from normgeo.checkpoints.examples import EXAMPLES
from normgeo.datasets.in_memory import as_files
from normgeo.datasets.tensor_files import list_tensors


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("key", EXAMPLES)
def test_numbers_are_those_of_the_file_and_outlive_it(folder: Path, key: str) -> None:
    path = EXAMPLES[key].path
    with as_files([(path.name, path.read_bytes())]) as paths:
        read = {one.name: one.read() for one in list_tensors([*paths])}
    assert list(folder.iterdir()) == []
    for tensor in list_tensors(path):
        np.testing.assert_array_equal(read[tensor.name], tensor.read())


def test_refusal_tells_the_name_and_no_folder(folder: Path, subtests: pytest.Subtests) -> None:
    for name, told in [
        ("a.npz", "a.npz"),
        ("../../etc/a.npz", "a.npz"),
        ("C:\\x\\a.npz", "a.npz"),
        ("a\x00b.npz", "a_b.npz"),
        ("é" * 500 + ".npz", "é" * 60 + ".npz"),
        ("\ud800.npz", "_.npz"),
    ]:
        with subtests.test(name=name):
            with (
                pytest.raises(Refusal, match=f"^{told} holds no array") as refused,
                as_files([(name, b"PK not an archive")]) as paths,
            ):
                list_tensors([*paths])
            assert str(folder) not in str(refused.value)
            assert list(folder.iterdir()) == []


def test_two_files_of_one_name_are_two(folder: Path) -> None:
    with as_files([("a.csv", b"1,2"), ("a.csv", b"3,4")]) as paths:
        assert [path.read_bytes() for path in paths] == [b"1,2", b"3,4"]
