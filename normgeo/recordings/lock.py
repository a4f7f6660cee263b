"""A lock on an open file, which the system takes off when its process ends, however it ends."""

from __future__ import annotations

from typing import IO

_FAR = 2**31 - 2
"""Where the byte is that Windows locks: others cannot read what is locked there, and no recording
that is read is as long."""


def lock(file: IO[bytes]) -> bool:
    """Take a file for its writer until it is closed; return False where another one has it.

    A file system without locks, as some of clusters are, cannot tell, and nothing is refused.
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
    """Lock a file on Windows, which locks bytes from the place on where the file is."""
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
