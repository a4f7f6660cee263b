"""Contents that are in memory, as files with names for those who read files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from normgeo.base.refusal import Refusal
from normgeo.base.text import Text

_LONGEST = 120  # characters of a name


@contextmanager
def as_files(contents: Sequence[tuple[str, bytes]]) -> Iterator[list[Path]]:
    """Give contents the paths of files for as long as the block lasts; nothing stays on a disk.

    Where the system has files in memory (Linux), only the names are on a disk meanwhile. A
    refusal in the block tells a file by its name alone.

    Args:
        contents: the name of each, of which only the last part counts, and its bytes.

    Raises:
        Refusal: as the block does. OSError: no room for them.

    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="normgeo-")))
        paths = []
        for place, (name, content) in enumerate(contents):
            path = folder / str(place) / _plain(name)
            path.parent.mkdir()
            _write(path, content, stack)
            paths.append(path)
        try:
            yield paths
        except Refusal as refusal:
            raise Refusal(_without_folders(refusal), **refusal.way_out) from None


def _plain(name: str) -> str:
    """The last part of a name, which can be no path and no name that a system refuses."""
    last = PurePosixPath(name.replace("\\", "/")).name
    suffix = PurePosixPath(last).suffix
    stem = "".join(one if one.isprintable() else "_" for one in last.removesuffix(suffix))
    while len(stem.encode(errors="replace")) > _LONGEST:
        stem = stem[:-1]
    return f"{stem or '_'}{suffix[:20]}".encode(errors="replace").decode()


def _write(path: Path, content: bytes, stack: ExitStack) -> None:
    if not hasattr(os, "memfd_create"):
        path.write_bytes(content)
        return
    number = os.memfd_create("normgeo")
    stack.callback(os.close, number)
    with open(number, "wb", closefd=False) as file:
        file.write(content)
    path.symlink_to(f"/proc/{os.getpid()}/fd/{number}")


def _without_folders(refusal: Refusal) -> str:
    said = refusal.args[0] if refusal.args else ""
    if not isinstance(said, Text):
        return str(said)
    values = {
        name: Path(value.name) if isinstance(value, Path) else value
        for name, value in said.values.items()
    }
    return Text(said.sentence, values)
