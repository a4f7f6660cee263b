"""Folders of models and files of other kinds: real ones are read, others refused in a sentence."""

import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from normgeo.base.refusal import Refusal
from normgeo.datasets.model_folders import LARGEST, configuration, expanded
from normgeo.datasets.other_files import CONVERTED, PICKLED
from normgeo.datasets.tensor_files import list_tensors

FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
INDEX = "model.safetensors.index.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model in two shards, with its index and its configuration."""
    rng = np.random.default_rng(0)
    shards = {FIRST: {"a": rng.random((2, 3))}, SECOND: {"b": rng.random(4), "c": rng.random(5)}}
    for name, tensors in shards.items():
        save_file(tensors, tmp_path / name)
    places = {tensor: name for name, tensors in shards.items() for tensor in tensors}
    write(tmp_path, {"metadata": {"total_size": 120}, "weight_map": places})
    said = {"model_type": "llama", "rms_norm_eps": 1e-6}
    (tmp_path / "config.json").write_text(json.dumps(said))
    return tmp_path


def write(folder: Path, index: object) -> None:
    (folder / INDEX).write_text(json.dumps(index))


def refused(path: Path) -> str:
    with pytest.raises(Refusal) as told:
        list_tensors(path)
    return str(told.value)


@pytest.mark.parametrize("given", ["", INDEX])
def test_shards_are_read_by_their_index(folder: Path, given: str) -> None:
    found = {tensor.name: tensor for tensor in list_tensors(folder / given)}
    assert {name: tensor.file for name, tensor in found.items()} == {
        "a": FIRST,
        "b": SECOND,
        "c": SECOND,
    }
    np.testing.assert_array_equal(found["a"].read(), np.random.default_rng(0).random((2, 3)))
    assert configuration(expanded(folder / given)) == ("llama", 1e-6)


def test_folder_of_one_file_is_that_file(tmp_path: Path) -> None:
    save_file({"w": np.ones(3)}, tmp_path / "model.safetensors")
    save_file({"other": np.ones(3)}, tmp_path / "adapter.safetensors")
    assert [tensor.name for tensor in list_tensors(tmp_path)] == ["w"]
    assert configuration(expanded(tmp_path)) == ("", None)


def test_folder_without_weights_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path) == (
        "A folder of a model holds model.safetensors or its index with shards; "
        f"{tmp_path} holds neither. Give its files of tensors by name."
    )


def test_missing_shard_is_named_before_any_is_read(folder: Path) -> None:
    (folder / SECOND).unlink()
    (folder / FIRST).write_bytes(b"damaged")
    assert refused(folder) == (
        f"{folder / INDEX} names the shard {SECOND}, with 2 of its tensors, which is not there. "
        "Fetch it too."
    )


def test_shard_that_is_cut_or_of_another_model_is_told(folder: Path) -> None:
    whole = (folder / SECOND).read_bytes()
    (folder / SECOND).write_bytes(whole[:-8])
    assert refused(folder).startswith(f"{folder / SECOND} is no whole file of safetensors (")
    save_file({"b": np.ones(4)}, folder / SECOND)
    assert refused(folder) == (
        f"{folder / INDEX} says that 'c' is in {SECOND}, and it is not. Fetch the shards again."
    )


@pytest.mark.parametrize("name", ["../secret.safetensors", "/etc/passwd", "a\\b", "..", ""])
def test_index_names_nothing_outside_its_folder(folder: Path, name: str) -> None:
    write(folder, {"weight_map": {"a": name}})
    assert refused(folder) == f"Shards lie beside their index; {folder / INDEX} names {name!r}."


@pytest.mark.parametrize(
    "places", [None, {}, [], {"a": 3}, "a", {f"{i}": f"{i}" for i in range(2001)}]
)
def test_index_without_a_map_is_refused(folder: Path, places: object) -> None:
    write(folder, {"weight_map": places})
    assert refused(folder) == (
        f"An index maps tensors to files, `weight_map`, up to 2000; {folder / INDEX} has none."
    )


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff", b"[" * 100_000])
def test_description_that_is_no_json_of_an_object_is_refused(folder: Path, content: bytes) -> None:
    (folder / INDEX).write_bytes(content)
    assert refused(folder).startswith(f"{folder / INDEX} must be JSON that describes a model (")
    (folder / "config.json").write_bytes(content)
    with pytest.raises(Refusal, match=r"config\.json must be JSON that describes a model"):
        configuration([folder / "config.json"])


def test_description_that_does_not_end_is_refused(folder: Path) -> None:
    with (folder / INDEX).open("wb") as file:
        file.truncate(LARGEST + 1)
    assert "it is over 20,000,000 bytes long" in refused(folder)
    (folder / INDEX).unlink()
    os.mkfifo(folder / INDEX)
    assert refused(folder) == f"{folder / INDEX} is no file."


def test_configuration_of_a_model_of_several_parts(tmp_path: Path) -> None:
    said = {"model_type": "gemma3", "text_config": {"rms_norm_eps": 1e-6, "model_type": "x"}}
    (tmp_path / "config.json").write_text(json.dumps(said))
    assert configuration([tmp_path / "config.json"]) == ("gemma3", 1e-6)
    (tmp_path / "config.json").write_text('{"model_type": 3, "layer_norm_eps": "small"}')
    assert configuration([tmp_path / "config.json"]) == ("", None)


# Files of other kinds.


@pytest.mark.parametrize("suffix", CONVERTED)
def test_each_other_kind_has_its_sentence_with_the_line_that_converts(
    suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"m{suffix}"
    path.write_bytes(b"anything")
    sentence = refused(path)
    assert str(path) in sentence
    assert sentence.endswith("makes a file that is read.") or suffix == ".msgpack"
    start = sentence.index("numpy.savez(" if suffix != ".h5" else "d = {}")
    line = sentence[start : sentence.index(" makes a file")]
    compile(line, "line", "exec")
    assert repr(str(path)) in line


@pytest.mark.parametrize("suffix", PICKLED)
def test_without_pytorch_a_pickle_is_told_and_not_opened(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    path = tmp_path / f"m{suffix}"
    assert refused(path) == (
        f"{path} is pickled, which runs code when it is read, and PyTorch, which reads its weights "
        "alone, is not installed here. Where it is, "
        f"safetensors.torch.save_file(torch.load({str(path)!r}, weights_only=True), "
        "'weights.safetensors') makes a file that is read."
    )


class Stored:
    """The part of PyTorch's tensor that is used."""

    def __init__(self, values: np.ndarray, dtype: str = "torch.float32") -> None:
        self.values, self.shape, self.dtype = values, values.shape, dtype

    def detach(self) -> "Stored":
        return self

    def float(self) -> "Stored":
        return Stored(self.values.astype(np.float32))

    def numpy(self) -> np.ndarray:
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A stand-in: PyTorch itself is tested in its own environment."""
    module = ModuleType("torch")
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def test_with_pytorch_weights_alone_are_asked_for(torch: ModuleType, tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    weight = Stored(np.ones((2, 3), np.float16), "torch.bfloat16")

    def load(path: Path, **options: Any) -> object:
        asked.append(options)
        return {"epoch": 3, "state_dict": {"w": weight, "n": 5, "in": {"b": Stored(np.ones(2))}}}

    torch.load = load  # type: ignore[attr-defined]
    path = tmp_path / "m.pt"
    path.write_bytes(b"anything")
    found = {tensor.name: tensor for tensor in list_tensors(path)}
    assert asked == [{"map_location": "cpu", "weights_only": True}]
    assert {name: (t.shape, t.kind) for name, t in found.items()} == {
        "w": ((2, 3), "bfloat16"),
        "in.b": ((2,), "float32"),
    }
    np.testing.assert_array_equal(found["w"].read(), np.ones((2, 3)))


def test_what_pytorch_refuses_or_holds_no_tensors_is_told(
    torch: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "m.ckpt"
    path.write_bytes(b"anything")

    def refuse(path: Path, **options: Any) -> object:
        raise RuntimeError("Weights only load failed.\nMore of it")

    torch.load = refuse  # type: ignore[attr-defined]
    assert refused(path) == (
        f"PyTorch reads no weights alone from {path} (Weights only load failed). Save its "
        "state_dict."
    )
    torch.load = lambda path, **options: [1, 2]  # type: ignore[attr-defined]
    assert refused(path) == f"{path} holds no tensors by name. Save a model's state_dict."
