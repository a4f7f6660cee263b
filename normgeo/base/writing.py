"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from secrets import token_hex

from normgeo.base.refusal import Refusal
from normgeo.base.text import text


def require_writable(path: str | Path) -> None:
    """Refuse a path that a file must not replace.

    Raises:
        ValueError: a pipe, a device or a folder. OSError: a file that is read-only.

    """
    target = Path(path)
    if not target.exists():
        return
    if not target.is_file():
        raise Refusal(
            "Only a file is written over; {path!s} is a folder, pipe or device.", path=path
        )
    # An administrator may write protected files: respect the permission bits, not the right.
    if not target.stat().st_mode & 0o222 or not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, text("it is read-only"), str(path))


def write_bytes(content: bytes, path: str | Path) -> None:
    """Write a file, all of it or nothing: its name never refers to a part of it.

    Raises:
        ValueError, OSError: as `require_writable`; or a path that can't be written.

    """
    require_writable(path)
    target = Path(path).resolve()
    part = target.with_name(f".{target.name}.{token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            file.write(content)
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise
    finally:
        part.unlink(missing_ok=True)
