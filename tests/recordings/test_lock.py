"""Each file has one writer: between processes, after a crash, and by the calls of Windows."""

import errno
import subprocess
import sys

import pytest

from normgeo import Recorder, read_recording
from normgeo.base.refusal import Refusal
from normgeo.recordings import format as layout
from normgeo.recordings import lock as locks

WRITER = """
import sys
import numpy as np
from normgeo import Recorder
recorder = Recorder(sys.argv[1], {"w": "batch"})
recorder.step({"w": np.eye(2, 3)}, 0.1)
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_file_is_taken_while_another_process_writes_and_free_once_that_is_killed(tmp_path):
    path = tmp_path / "run"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], **pipes) as writer:
        try:
            assert writer.stdout.readline() == "ready\n"
            assert len(read_recording(path).steps) == 1
            with pytest.raises(Refusal, match=r"^Another recorder writes"):
                Recorder(path, {"w": "batch"}, append=True)
        finally:
            writer.kill()
    with Recorder(path, {"w": "batch"}, append=True):
        pass


class Windows:
    """The byte locks of Windows: they lock a place in a file for one handle at a time."""

    LK_NBLCK = 2

    def __init__(self, files):
        self.files, self.held = files, {}

    def locking(self, fileno, mode, length):
        (file,) = (file for file in self.files if file.fileno() == fileno)
        assert (mode, length) == (self.LK_NBLCK, 1)
        if self.held.setdefault((file.name, file.tell()), fileno) != fileno:
            raise PermissionError(errno.EACCES, "Permission denied")


def test_windows_locks_a_byte_that_no_reader_needs(tmp_path, monkeypatch):
    path = tmp_path / "run"
    path.write_bytes(b"some")
    with path.open("ab", buffering=0) as one, path.open("ab", buffering=0) as other:
        windows = Windows([one, other])
        monkeypatch.setitem(sys.modules, "msvcrt", windows)
        monkeypatch.setitem(sys.modules, "fcntl", None)
        assert locks.lock(one)
        assert not locks.lock(other)
        ((_, place),) = windows.held
        assert place > layout.LARGEST + layout.LONGEST_HEADER
        assert one.tell() == other.tell() == 4
        one.write(b"more")
    assert path.read_bytes() == b"somemore"


@pytest.mark.skipif(sys.platform == "win32", reason="flock is of other systems")
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks_refuses_nothing(tmp_path, monkeypatch, number):
    def flock(fileno, how):
        raise OSError(number, "no locks here")

    monkeypatch.setattr("fcntl.flock", flock)
    with Recorder(tmp_path / "run", {"w": "batch"}):
        pass
