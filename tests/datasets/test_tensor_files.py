"""Checkpoints: listing and reading, and the sentences about bad ones."""

import json
import re
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from safetensors.numpy import save, save_file

from normgeo.base.refusal import Refusal
from normgeo.datasets.files import read_array
from normgeo.datasets.tensor_files import list_tensors
from tests.pairwise import first

W = np.array([[1.5, -2.0, 3e-20], [0.1, 0.0, 7.0]])
RNG = np.random.default_rng(0)


def crafted(header: object, data: bytes = b"") -> bytes:
    """A .safetensors file with a header, in JSON or as raw bytes, and numbers."""
    words = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(words)) + words + data


def of(kind: str, *shape: int, end: int) -> dict[str, Any]:
    return {"dtype": kind, "shape": list(shape), "data_offsets": [0, end]}


def read(path: Path) -> dict[str, Any]:
    return {tensor.name: tensor.read() for tensor in list_tensors([path])}


def test_formats_keep_names_shapes_types_and_every_digit(tmp_path: Path) -> None:
    arrays = {"a/kernel": W, "b.weight": W.astype(np.float32).T.copy(), "n": np.arange(3)}
    save_file(arrays, tmp_path / "all.safetensors")
    np.savez_compressed(tmp_path / "all.npz", **arrays)
    for name in ("all.safetensors", "all.npz"):
        listed = {tensor.name: tensor.shape for tensor in list_tensors([tmp_path / name])}
        assert listed == {name: array.shape for name, array in arrays.items()}
        for key, found in read(tmp_path / name).items():
            np.testing.assert_array_equal(found, arrays[key])
            assert found.dtype == (np.float64 if key == "n" else arrays[key].dtype)
    np.save(tmp_path / "fortran.npy", np.asfortranarray(W))
    np.savetxt(tmp_path / "text.csv", W, fmt="%.17g", delimiter=",")
    for name in ("fortran.npy", "text.csv"):
        np.testing.assert_array_equal(read(tmp_path / name)[name.partition(".")[0]], W)


def test_numbers_of_a_checkpoint_stay_in_the_file_until_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "large.safetensors"
    save_file({"small": W, "large": np.zeros((1000, 1000))}, path)
    np.save(tmp_path / "mapped.npy", np.zeros((1000, 1000)))
    tracemalloc.start()
    for tensor in list_tensors([path, tmp_path / "mapped.npy"]):
        tensor.load()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e6


def test_bfloat16_is_the_upper_half_of_a_float32(tmp_path: Path) -> None:
    path, bits = tmp_path / "w.safetensors", np.arange(0, 0x7F80, 7, dtype="<u2")
    path.write_bytes(crafted({"w": of("BF16", len(bits), end=2 * len(bits))}, bits.tobytes()))
    exact = [struct.unpack(">f", struct.pack(">HH", b, 0))[0] for b in bits.tolist()]
    np.testing.assert_array_equal(read(path)["w"], exact)


@pytest.mark.parametrize(
    ("kind", "exponents", "bias", "finite"),
    [("F8_E4M3", 4, 7, lambda b: b & 127 != 127), ("F8_E5M2", 5, 15, lambda b: b & 124 != 124)],
)
def test_float8_is_what_its_bits_say(
    kind: str, exponents: int, bias: int, finite: Callable[[int], bool], tmp_path: Path
) -> None:
    path = tmp_path / "w.safetensors"
    bits = [b for b in range(256) if finite(b)]
    path.write_bytes(crafted({"w": of(kind, len(bits), end=len(bits))}, bytes(bits)))

    def value(b: int) -> float:
        M = 7 - exponents
        exponent, fraction = b >> M & (2**exponents - 1), (b & (2**M - 1)) / 2**M
        size = (
            (1 + fraction) * 2.0 ** (exponent - bias) if exponent else fraction * 2.0 ** (1 - bias)
        )
        return -size if b > 127 else size

    np.testing.assert_array_equal(read(path)["w"], list(map(value, bits)))
    path.write_bytes(crafted({"w": of(kind, 1, end=1)}, b"\x7f"))
    with pytest.raises(Refusal, match="1 of 1 are NaN"):
        read(path)


WHOLE = "{} is no whole file of safetensors ("
TWICE = crafted(b'{"a":%s,"a":%s}' % ((json.dumps(of("F32", 1, end=4)).encode(),) * 2), bytes(4))
BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", WHOLE),
    "pickle": (b"\x80\x04\x95 pickled by another program", WHOLE),
    "numpy": (b"\x93NUMPY\x01\x00", WHOLE),
    "claims more": (struct.pack("<Q", 10**15) + b"{}", WHOLE),
    "long header": (
        struct.pack("<Q", 11_000_000) + bytes(11_000_000),
        "{} has a header of 11,000,000 bytes; up to 10,000,000 are read. Take a file with fewer "
        "tensors.",
    ),
    "cut short": (crafted({"w": of("F32", 3, end=12)}, bytes(11)), WHOLE),
    "more than it says": (crafted({"w": of("F32", 3, end=12)}, bytes(13)), WHOLE),
    "overflow": (crafted({"w": of("F32", 2**62, 2**62, end=4)}, bytes(4)), WHOLE),
    "nested": (crafted(b'{"a":' + b"[" * 100_000), WHOLE),
    "text": (crafted(b"\xff\xfe"), WHOLE),
    "unknown type": (crafted({"w": of("F33", 1, end=4)}, bytes(4)), WHOLE),
    "twice": (TWICE, "The tensors of {} must have names of their own; 'a' is there 2 times."),
    "float4": (
        crafted({"w": of("F4", 2, end=1)}, bytes(1)),
        "'w' in {} has numbers of type F4, which are not read; these are: ",
    ),
    "complex": (
        crafted({"w": of("C64", 1, end=8)}, bytes(8)),
        "'w' in {} has numbers of type C64, which are not read; these are: ",
    ),
}


def test_file_that_is_no_checkpoint_is_refused_in_a_sentence(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    path = tmp_path / "w.safetensors"
    for name, (content, sentence) in BAD.items():
        with subtests.test(name):
            path.write_bytes(content)
            with pytest.raises(Refusal) as refused:
                read(path)
            assert str(refused.value).startswith(sentence.format(path))
            assert "\n" not in str(refused.value)


def test_tensor_that_is_no_array_of_numbers_is_named(tmp_path: Path) -> None:
    bad = W.copy()
    bad[0, 2], bad[1, 1:] = np.nan, np.inf
    np.savez(tmp_path / "w.npz", bad=bad, none=np.zeros((0, 3)), words=np.array(["one"]))
    said = {}
    for tensor in list_tensors([tmp_path / "w.npz"]):
        with pytest.raises(Refusal) as refused:
            tensor.read()
        said[tensor.name] = str(refused.value)
    assert said == {
        "bad": "'bad' in w.npz must hold finite numbers; 1 of 6 are NaN and 2 infinite, the first "
        "at (0, 2). Repair the file first.",
        "none": "'none' in w.npz must not be empty; it has the shape (0, 3). Choose another "
        "tensor.",
        "words": "'words' in w.npz must hold real numbers; its type is <U3. Choose another tensor.",
    }


def test_names_of_all_files_differ(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", W=W)
    save_file({"W": W}, tmp_path / "b.safetensors")
    sentence = (
        "Tensors must have names of their own; 'W' is in a.npz and in b.safetensors. Give one of "
        "the files."
    )
    with pytest.raises(Refusal, match=f"^{re.escape(sentence)}$"):
        list_tensors([tmp_path / "a.npz", tmp_path / "b.safetensors"])
    with ZipFile(tmp_path / "a.npz", "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("W.npy", ZipFile(tmp_path / "a.npz").read("W.npy"))
    with pytest.raises(Refusal, match=r"'W' is in a\.npz and in a\.npz"):
        list_tensors([tmp_path / "a.npz"])


def test_pickles_and_bombs_are_refused_before_they_unfold(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"is pickled, which runs code when it is read, and PyTorch"):
        list_tensors([tmp_path / "model.pt"])
    np.savez(tmp_path / "o.npz", W=np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(Refusal, match="allow_pickle=False"):
        list_tensors([tmp_path / "o.npz"])
    with ZipFile(tmp_path / "bomb.npz", "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for i in range(40):
            archive.writestr(f"{i}.npy", bytes(14_000_000))
    tracemalloc.start()
    with pytest.raises(Refusal, match=r"holds 560 MB; up to 522 MB are read"):
        list_tensors([tmp_path / "bomb.npz"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e6


def test_a_million_columns_of_text_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("1," * 10**6 + "1\n", "utf-8")
    with pytest.raises(Refusal, match=r"has 1,000,001 columns or more; up to 20,000 are read from"):
        list_tensors([path])


MOST_MEMORY = 20e6  # for files of a few hundred bytes


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """A file that is cut, changed, repeated or filled somewhere."""
    changed = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(changed) + 1))
        match rng.integers(6):
            case 0:
                del changed[at:]
            case 1:
                changed[at : at + 1] = rng.bytes(1)
            case 2:
                changed[at:at] = rng.bytes(int(rng.integers(1, 9)))
            case 3:
                del changed[at : at + int(rng.integers(1, 9))]
            case 4:
                changed[at : at + 8] = b"\xff" * 8
            case _:
                changed[at : at + 1] = bytes([b'0123456789[]{}",:-.eE('[rng.integers(21)]])
    return bytes(changed)


@pytest.mark.parametrize("mutations", first([240, 2400]))
def test_mutated_files_are_read_or_refused_and_nothing_else(mutations: int, tmp_path: Path) -> None:
    """No other error, and memory that does not grow with the sizes they declare."""
    np.savez(tmp_path / "a.npz", W=W, b=np.zeros(3))
    np.savez_compressed(tmp_path / "b.npz", W=W, b=np.zeros(3))
    np.save(tmp_path / "c.npy", W)
    np.savetxt(tmp_path / "d.csv", W, delimiter=",", header="a,b,c")
    header = save({"layer.weight": W, "layer.bias": W[0].astype(np.float16)})
    (tmp_path / "e.safetensors").write_bytes(header)
    seeds = sorted(tmp_path.iterdir())
    rng, refusals = np.random.default_rng(11), []
    tracemalloc.start()
    for trial in range(mutations):
        seed = seeds[trial % len(seeds)]
        path = tmp_path / f"mutated{seed.suffix}"
        path.write_bytes(mutated(seed.read_bytes(), rng))
        try:
            read(path)
        except Refusal as error:
            refusals.append(str(error))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MOST_MEMORY
    assert mutations // 20 < len(refusals) < mutations * 19 // 20
    assert [said for said in refusals if not said.endswith(".") or "\n" in said] == []


HEADERS = {
    "{'descr': '<f8', 'fortran_order': False, 'shape': (True, 3), }": "its shape is (True, 3)",
    "{'descr': '|S0', 'fortran_order': False, 'shape': (2, 3), }": (
        "its numbers are of the type |S0"
    ),
    "{'descr': ('<f8', (2,)), 'fortran_order': False, 'shape': (3,), }": (
        "its numbers are of the type ('<f8', (2,))"
    ),
}


def with_header(path: Path, header: str) -> Path:
    words = header.ljust(117) + "\n"
    path.write_bytes(
        b"\x93NUMPY\x01\x00" + struct.pack("<H", len(words)) + words.encode() + bytes(48)
    )
    return path


def test_arrays_whose_header_lies_are_refused_and_those_of_old_are_read(tmp_path: Path) -> None:
    for header, what in HEADERS.items():
        path = with_header(tmp_path / "w.npy", header)
        with pytest.raises(Refusal) as refused:
            read(path)
        assert str(refused.value) == (
            f"{path} holds no array of numbers as NumPy writes them with `np.save` or `np.savez` "
            f"({what})."
        )
    for shape in ("(2L, 3L)", "(2L, 3 L)"):
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
        assert read(with_header(tmp_path / "w.npy", header))["w"].shape == (2, 3)


def test_small_archive_may_unpack_to_hundreds_of_times_its_size(tmp_path: Path) -> None:
    np.savez_compressed(path := tmp_path / "w.npz", w=np.zeros((2000, 2000)))
    assert not read_array("w", path).any()


def test_archive_that_unpacks_to_hundreds_of_times_its_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive, archive.open("w.npy", "w") as file:
        np.lib.format.write_array(file, np.zeros((3000, 3000)))
    sentence = (
        f"{path} unpacks 72 MB from 0 MB, more than 100 times as much. Save it with `np.savez`, "
        "which does not pack."
    )
    tracemalloc.start()
    for way in (list_tensors, lambda path: read_array("w", path)):
        with pytest.raises(Refusal, match=f"^{re.escape(sentence)}$"):
            way(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e6
