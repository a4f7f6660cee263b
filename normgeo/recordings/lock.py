"""A lock on an open file, which the system releases when the process ends in any way."""

from __future__ import annotations

from typing import IO

_FAR = 2**31 - 2
"""The byte that Windows locks, beyond any recording: other programs cannot read a locked byte."""


def lock(file: IO[bytes]) -> bool:
    """Lock a file for its writer until it is closed; return False if another writer holds it.

    On a file system without locks, as on some clusters, nothing is refused.
    """
    try:
        import fcntl
    except ImportError:
        return _lock_byte(file)
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _lock_byte(file: IO[bytes]) -> bool:
    """Lock a file on Windows, where a lock begins at the file's current position."""
    import msvcrt

    place = file.tell()
    file.seek(_FAR)
    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except PermissionError:
        return False
    except OSError:
        return True
    finally:
        file.seek(place)
    return True
