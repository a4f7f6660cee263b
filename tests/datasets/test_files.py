"""Arrays from files: valid files, and the sentences about others."""

import os
import re
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZipFile

import numpy as np
import pytest

from normgeo.base.refusal import Refusal
from normgeo.datasets import files
from normgeo.datasets.files import read_array

W = np.array([[1.5, -2.0, 3e-20], [0.1, 0.0, 7.0]])


def test_formats_keep_every_digit(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", W)
    np.savez(tmp_path / "one.npz", anything=W)
    np.savez_compressed(tmp_path / "two.NPZ.npz", X=np.ones(3), W=W)
    np.savetxt(tmp_path / "w.csv", W, fmt="%.17g", delimiter=",")
    (tmp_path / "named.csv").write_text("a,b,c\r\n1.5,-2,3e-20\r\n\r\n0.1, 0,7\r\n", "utf-8-sig")
    for name in ("w.npy", "one.npz", "two.NPZ.npz", "w.csv", "named.csv"):
        np.testing.assert_array_equal(read_array("W", tmp_path / name), W)


def test_numbers_of_a_table_are_what_python_reads(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    values = (
        np.random.default_rng(0).standard_normal((200, 3))
        * 10.0 ** np.arange(-300, 300, 3)[:, None]
    )
    path.write_text("\n".join(",".join(map(repr, row)) for row in values.tolist()), "utf-8")
    np.testing.assert_array_equal(read_array("W", path), values)
    path.write_text("nan,inf\n-inf,9007199254740993\n", "utf-8")
    np.testing.assert_array_equal(
        read_array("W", path), [[np.nan, np.inf], [-np.inf, float("9007199254740993")]]
    )


def test_type_and_shape_are_those_of_the_file(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", W.astype(np.float16)[0])
    found = read_array("W", tmp_path / "w.npy")
    assert found.dtype == np.float16
    assert found.shape == (3,)


NO_HEADING = (
    "The first line of {} must be numbers, or names of which none is or begins like a number; "
)
BAD_TEXT = {
    "": "{} holds no line of comma-separated numbers.",
    "a,b\n": "{} holds no line of comma-separated numbers.",
    "1,2\n3,x\n": "Every value of {} must be a number, but for a heading on its first line; "
    "line 2 has 'x'.",
    "a,b\n1,\n": "Every value of {} must be a number, but for a heading on its first line; "
    "line 2 has ''.",
    "1,2\nTrue,4\n": "Every value of {} must be a number, but for a heading on its first line; "
    "line 2 has 'True'.",
    "a,b\n1,2\n3,4,5\n": "All lines of {} must have equally many numbers: the first has 2, line 3 "
    "has 3.",
    "1,2\n3\n": "All lines of {} must have equally many numbers: the first has 2, line 2 has 1.",
    "1;2\n3;4\n": NO_HEADING + "it has '1;2'. Correct it, or leave it out.",
    "1,2.o,3\n4,5,6\n": NO_HEADING + "it has '2.o' beside '1'. Correct it, or leave it out.",
    "1.2.3\n4\n": NO_HEADING + "it has '1.2.3'. Correct it, or leave it out.",
    "1,,3\n4,5,6\n": NO_HEADING + "it has '' beside '1'. Correct it, or leave it out.",
    "0,name\n4,5\n": NO_HEADING + "it has 'name' beside '0'. Correct it, or leave it out.",
}


def test_text_that_is_no_array_is_refused_in_a_sentence(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    path = tmp_path / "w.csv"
    for content, sentence in BAD_TEXT.items():
        path.write_text(content, "utf-8")
        refused = pytest.raises(ValueError, match=f"^{re.escape(sentence.format(path))}$")
        with subtests.test(content=content), refused:
            read_array("W", path)


def test_bytes_that_are_no_array_are_refused_in_a_sentence(tmp_path: Path) -> None:
    sentence = "holds no array of numbers as NumPy writes them with `np.save` or `np.savez` ("
    for content in (b"", b"\x93NUMPY", b"PK\x03\x04 cut short", b"pickle"):
        for name in ("w.npy", "w.npz"):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(ValueError, match=re.escape(f"{tmp_path / name} {sentence}")):
                read_array("W", tmp_path / name)
    (tmp_path / "w.csv").write_bytes(b"\xff\xfe1,2")
    with pytest.raises(ValueError, match="is not a text of comma-separated numbers"):
        read_array("W", tmp_path / "w.csv")


def test_objects_are_not_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "w.npz", W=np.array([{}], dtype=object), allow_pickle=True)
    for name in ("w.npy", "w.npz"):
        with pytest.raises(ValueError, match=r"allow_pickle=False"):
            read_array("W", tmp_path / name)


def test_archive_without_the_name_and_other_files_are_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "w.npz", a=W, c=W)
    sentence = f"{tmp_path / 'w.npz'} must hold one array, or one with the name 'W'; it holds a, c."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        read_array("W", tmp_path / "w.npz")
    sentence = "Arrays are read from files that end in one of .npy, .npz, .csv; got w.txt."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        read_array("W", Path("w.txt"))
    with pytest.raises(FileNotFoundError):
        read_array("W", tmp_path / "none.npy")


def test_a_heading_is_named(tmp_path: Path) -> None:
    path, told = tmp_path / "w.csv", list[str]()
    path.write_text("width,β₁,_a\n1,2,3\n", "utf-8")
    np.testing.assert_array_equal(read_array("W", path, told.append), [[1, 2, 3]])
    path.write_text("1,2,3\n", "utf-8")
    np.testing.assert_array_equal(read_array("W", path, told.append), [[1, 2, 3]])
    assert told == [f"Line 1 of {path} was taken for its heading: width,β₁,_a.".replace(",", ", ")]


def header(shape: str, dtype: str = "<f8") -> bytes:
    """A header of an .npy file, with nothing after it."""
    words = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}}}".encode()
    return b"\x93NUMPY\x01\x00" + len(words).to_bytes(2, "little") + words


def zipped(path: Path, content: bytes, size: int | None = None, method: int = ZIP_DEFLATED) -> None:
    """An .npz file with one member, which may declare a false size."""
    with ZipFile(path, "w", method) as archive:
        archive.writestr("W.npy", content)
        if size is not None:
            archive.infolist()[0].file_size = size


HUGE = "(1000000, 1000000)"  # 8 TB
HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "header.npy": (
        lambda path: path.write_bytes(header(HUGE)),
        "holds 8,000,000 MB; up to 512 MB are read. Take fewer cases or features.",
    ),
    "endless.npy": (
        lambda path: path.write_bytes(header("(1000000, " * 60 + ")" * 60)),
        "holds no array of numbers",
    ),
    "powers.npy": (
        lambda path: path.write_bytes(header("(" + "1000000000, " * 30 + ")")),
        "holds over a million terabytes; up to 512 MB are read.",
    ),
    "negative.npy": (lambda path: path.write_bytes(header("(-1, 3)")), "its shape is (-1, 3)"),
    "short.npy": (
        lambda path: path.write_bytes(header("(1000, 1000)") + bytes(80)),
        "it is cut short: its header says 8,000,000 bytes of numbers",
    ),
    "length.npy": (
        lambda path: path.write_bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b"(" * 10**6),
        "holds no array of numbers",
    ),
    "version.npy": (
        lambda path: path.write_bytes(b"\x93NUMPY\x09\x00" + bytes(99)),
        "the version (9, 0) of its format holds no numbers",
    ),
    "header.npz": (
        lambda path: zipped(path, header(HUGE)),
        "holds 8,000,000 MB; up to 512 MB are read.",
    ),
    "bomb.npz": (
        lambda path: zipped(path, header("(3, 3)") + bytes(20_000_000), 700_000_000),
        "holds 700 MB; up to 512 MB are read.",
    ),
    "short.npz": (
        lambda path: zipped(path, header("(1000, 1000)") + bytes(80)),
        "it is cut short",
    ),
    "liar.npz": (
        lambda path: zipped(path, header("(1000, 1000)") + bytes(20_000_000), 500),
        "holds no array of numbers",
    ),
    "lzma.npz": (
        lambda path: zipped(path, header("(3, 3)") + bytes(72), method=ZIP_LZMA),
        "it is compressed in a way that NumPy does not write",
    ),
    "broken.npz": (
        lambda path: (zipped(path, np.arange(999.0).tobytes()), damage(path)),
        "holds no array of numbers",
    ),
    "field.csv": (lambda path: path.write_text('"' + "1" * 200_000), "field larger than"),
    "escape.csv": (
        lambda path: path.write_text("a\x1b[2J\u202e,b\n1,x\n", "utf-8"),
        "line 2 has 'x'",
    ),
}


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[60:70] = bytes(10)
    path.write_bytes(content)


def test_a_hostile_file_is_refused_before_it_takes_memory(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name, (write, words) in HOSTILE.items():
        with subtests.test(name):
            path = tmp_path / name
            write(path)
            tracemalloc.start()
            try:
                with pytest.raises(Refusal, match=re.escape(words)) as refused:
                    read_array("W", path)
                peak = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()
            assert peak < 8_000_000
            assert str(refused.value).isprintable()


def test_the_largest_text_is_smaller_than_the_largest_array(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST_TEXT", 10)
    path = tmp_path / "w.csv"
    path.write_text("1,2,3,4,5\n")
    assert read_array("W", path).shape == (1, 5)
    path.write_text("1,2,3,4,5,6\n")
    with pytest.raises(Refusal, match="up to 0 MB are read"):
        read_array("W", path)


@pytest.mark.skipif(sys.platform == "win32", reason="has no FIFO")
def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "w.csv")
    with pytest.raises(Refusal, match="is no file but a pipe or a device"):
        read_array("W", tmp_path / "w.csv")
