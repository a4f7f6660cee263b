"""Contents in memory as named files, for readers that need files."""

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
    """Give contents the paths of files during a `with` block; nothing stays on disk.

    If the system has files in memory (Linux), only the names are on disk meanwhile. An error in the
    block shows a file by its name only.

    Args:
        contents: the name of each, of which only the last part is used, and its bytes.

    Raises:
        Refusal: as the block does. OSError: not enough space.

    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="normgeo-")))
        paths = []
        for index, (name, content) in enumerate(contents):
            path = folder / str(index) / _plain(name)
            path.parent.mkdir()
            _write(path, content, stack)
            paths.append(path)
        try:
            yield paths
        except Refusal as refusal:
            raise Refusal(_without_folders(refusal), way_out=refusal.way_out) from None


def _plain(name: str) -> str:
    """Return the last part of a name, changed to one that is no path and that systems accept."""
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
