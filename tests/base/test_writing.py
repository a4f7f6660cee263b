"""Files are written whole or not at all."""

import threading
from pathlib import Path
from typing import Any

import pytest

from normgeo.base.writing import write_bytes


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    write_bytes(b"new", link)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError("disk full")])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    failure: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.csv"
    target.write_bytes(b"old")

    def fail(*_: object) -> None:
        (part,) = (path for path in tmp_path.iterdir() if path != target)
        assert part.read_bytes() == b"new"
        raise failure

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(type(failure) if isinstance(failure, OSError) else failure):
        write_bytes(b"new", target)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    target = tmp_path / "nowhere" / "a.csv"
    with pytest.raises(FileNotFoundError) as caught:
        write_bytes(b"", target)
    assert caught.value.filename == str(target)


def test_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    target, contents = tmp_path / "a", [bytes([i]) * 100_000 for i in range(8)]
    threads = [threading.Thread(target=write_bytes, args=(c, target)) for c in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert target.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [target]
