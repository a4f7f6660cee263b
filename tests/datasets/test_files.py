"""Arrays from files: what is read, and the sentences about what is not."""

import re
from pathlib import Path

import numpy as np
import pytest

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
    "1;2\n3;4\n": "Every value of {} must be a number, but for a heading on its first line; "
    "line 2 has '3;4'.",
}


@pytest.mark.parametrize("content", BAD_TEXT)
def test_text_that_is_no_array_is_refused_in_a_sentence(content: str, tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text(content, "utf-8")
    with pytest.raises(ValueError, match=f"^{re.escape(BAD_TEXT[content].format(path))}$"):
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
