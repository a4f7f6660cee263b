"""Rows from every kind of source: the same rows in each pass, and refusals in sentences."""

from operator import add
from pathlib import Path

import dask.array
import numpy as np
import pandas
import pytest

from normgeo import Rows
from normgeo.base.refusal import Refusal
from tests.refused import says

X = np.arange(60.0).reshape(20, 3) / 7


def gathered(rows: Rows) -> np.ndarray:
    return np.concatenate(list(rows.blocks()))


def saved(path: Path, kind: str) -> Path:
    """Save X as a file of this kind."""
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    if kind == ".csv":
        frame.to_csv(path / "x.csv", index=False)
    elif kind == ".parquet":
        frame.to_parquet(path / "x.parquet")
    else:
        np.save(path / "x.npy", np.asfortranarray(X) if kind == "by columns" else X)
    return next(path.iterdir())


@pytest.mark.parametrize("kind", [".npy", "by columns", ".csv", ".parquet"])
def test_a_file_gives_its_rows_in_blocks_and_again(kind: str, tmp_path: Path) -> None:
    file = str(saved(tmp_path, kind))
    expected = {None: [20], 1: [1] * 20, 6: [6, 6, 6, 2], 20: [20], 99: [20]}
    for block, sizes in expected.items():
        rows = Rows.of(file, block=block)
        for _ in range(2):
            np.testing.assert_array_equal(gathered(rows), X)
        assert [len(part) for part in rows.blocks()] == sizes
        if kind != ".csv":  # whose number of lines is unknown
            assert rows.count == 20


def test_arrays_functions_and_lists_give_their_rows() -> None:
    np.testing.assert_array_equal(gathered(Rows.of(X, block=7)), X)
    np.testing.assert_array_equal(gathered(Rows.of([X[:3], X[3:3], X[3:]])), X)
    np.testing.assert_array_equal(gathered(Rows.of(lambda: (x[None] for x in X), block=8)), X)
    np.testing.assert_array_equal(gathered(Rows.of(X.tolist())), X)
    np.testing.assert_array_equal(gathered(Rows.of(X[:, 0])), X[:, :1])
    np.testing.assert_array_equal(gathered(Rows.of(pandas.DataFrame(X))), X)
    assert [len(part) for part in Rows.of(X).blocks([2, 5, 13])] == [2, 5, 13]


def test_parts_of_a_dask_array_know_where_they_start() -> None:
    rows = Rows.of(dask.array.from_array(X, chunks=((1, 12, 7), 3)), block=5)
    starts = rows.gathered(lambda part: [(part.start, len(gathered(part)))], add)
    assert starts == [(0, 1), (1, 12), (13, 7)]


def test_numbers_keep_their_type_unless_asked() -> None:
    assert gathered(Rows.of(X.astype(">f4"))).dtype == np.float32
    assert gathered(Rows.of(X.astype(np.int8))).dtype == np.float64
    assert gathered(Rows.of(X, dtype="float32")).dtype == np.float32
    assert gathered(Rows.of(X.astype(np.float16), dtype=np.float64)).dtype == np.float64


def test_a_block_of_a_file_is_all_that_is_read(tmp_path: Path) -> None:
    big = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, (10**9, 64))
    del big  # 256 GB, sparse
    rows = Rows.of(tmp_path / "x.npy")
    assert rows.count == 10**9
    assert next(rows.blocks()).shape == (2048, 64)


def test_bad_sources_are_refused_in_a_sentence(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", X)
    with says(
        "Rows are read in blocks from files that end in one of .npy, .csv, .parquet; got "
        f"{tmp_path / 'x.npz'}."
    ):
        Rows.of(tmp_path / "x.npz")
    with pytest.raises(FileNotFoundError):
        Rows.of(tmp_path / "none.csv")
    np.save(tmp_path / "cube.npy", np.ones((2, 2, 2)))
    with says(
        f"{tmp_path / 'cube.npy'} must hold a matrix of real numbers, a row for each case; it "
        "holds an array of shape (2, 2, 2) with elements of type float64."
    ):
        Rows.of(tmp_path / "cube.npy")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 or not")
    with pytest.raises(ValueError, match=r"bad\.parquet is no whole Parquet file \("):
        Rows.of(tmp_path / "bad.parquet")
    pandas.DataFrame({"a": [1.0], "who": ["me"]}).to_parquet(tmp_path / "names.parquet")
    with says(
        f"Every column of {tmp_path / 'names.parquet'} must hold numbers; 'who' does not. Write a "
        "file without it."
    ):
        gathered(Rows.of(tmp_path / "names.parquet"))
    (tmp_path / "slip.csv").write_text("1,2\n3,4\n5,six\n", "utf-8")
    with pytest.raises(ValueError, match=r"slip\.csv.*3.*'six'"):
        gathered(Rows.of(tmp_path / "slip.csv", block=2))
    with says(
        "Rows must come as matrices (n, D) of real numbers; got an array of shape (2, 2) with "
        "elements of type complex128."
    ):
        gathered(Rows.of(1j * np.ones((2, 2))))
    with says(
        "The function that gives the rows must return an iterator of arrays (n, D); got None."
    ):
        gathered(Rows.of(lambda: None))
    with says("Rows must come as matrices (n, D) of real numbers; got [[1.0], [1.0, 2.0]]."):
        gathered(Rows.of(lambda: iter([[[1.0], [1.0, 2.0]]])))
    with says("`dtype` must be float32, float64 or None; got 'float16'."):
        Rows.of(X, dtype="float16")
    with says(
        "`rows` must hold plain numbers; got a masked array, whose mask would be lost. Drop the "
        "masked cases or fill them in first."
    ):
        gathered(Rows.of([np.ma.masked_array(X, X > 3)]))


def test_a_file_that_shrinks_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.ones((20_000, 3)))
    blocks = Rows.of(path, block=5).blocks()
    next(blocks)
    with path.open("r+b") as file:
        file.truncate(100_000)
    with says(f"{path} became shorter while it was read. Begin again."):
        list(blocks)


def test_damaged_parquet_is_refused_with_its_name(tmp_path: Path) -> None:
    """For damage anywhere: in a file's metadata, or in its columns."""
    path, rng = tmp_path / "x.parquet", np.random.default_rng(3)
    pandas.DataFrame(rng.standard_normal((400, 3)), columns=[*"abc"]).to_parquet(path)
    whole, sentences = path.read_bytes(), list[str]()
    for _ in range(60):
        damaged = bytearray(whole)
        at = int(rng.integers(4, len(whole) - 8))
        damaged[at : at + 12] = rng.bytes(12)
        path.write_bytes(damaged)
        try:
            gathered(Rows.of(path))
        except Refusal as refusal:
            sentences.append(str(refusal))
    assert len(sentences) > 6
    assert [one for one in sentences if "x.parquet" not in one or "\n" in one] == []
