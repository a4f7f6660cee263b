"""`normgeo open`: the explorer in a browser, from a checkout or an installed package."""

from __future__ import annotations

import argparse
import errno
import importlib.util
import os
import runpy
import socket
import sys
from pathlib import Path
from typing import Any

from normgeo.base.arguments import digits
from normgeo.base.refusal import Failure, Refusal
from normgeo.base.text import text
from normgeo.cli.layer import EXTRA, WORDS

PACKAGE = Path(__file__).parents[1]
# A wheel holds app.py, pages/ and .streamlit/ in the package; a checkout, beside it.
PLACES = (PACKAGE / "explorer", PACKAGE.parent)
PORTS = range(1, 2**16)


def add(commands: Any) -> None:
    """Add the command to the others, argparse's subparsers."""
    parser = commands.add_parser("open", help=text("open the explorer in a browser"))
    parser.set_defaults(run=run)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        type=Path,
        help=text(
            "a checkpoint that Your network opens with, mapped and not copied, a recording of "
            "a training run, which is followed while it grows, or a measured table"
        ),
    )
    parser.add_argument("--layer", metavar="NAME", help=WORDS["layer"])
    for name, what in EXTRA.items():
        parser.add_argument(f"--{name}", metavar="FILE", type=Path, help=what)
    parser.add_argument(
        "--port", help=text("of this machine; default: 8501, or the next that is free")
    )
    parser.add_argument(
        "--no-browser",
        "--headless",
        dest="headless",
        action="store_true",
        help=text("serve the explorer and say where it is, without opening a browser"),
    )
    parser.add_argument(
        "--classroom",
        action="store_true",
        help=text(
            "let everybody in this network open it too, and say the address to type; "
            "otherwise only this machine can"
        ),
    )


def run(options: argparse.Namespace) -> None:
    """Serve the explorer until it is interrupted.

    Raises:
        ValueError: no port, or files that hold no layer. OSError: a port or a file that can't be
            had. Failure: something is not installed, or a classroom without a network.

    """
    words = ["streamlit", "run", str(_folder() / "app.py")]
    if options.port is not None:
        words.append(f"--server.port={_free(options.port)}")
    if options.headless:
        words.append("--server.headless=true")
    if importlib.util.find_spec("streamlit") is None:
        raise Failure(
            "The explorer needs Streamlit, which is not installed: install it with {command}.",
            command=f"{sys.executable} -m pip install streamlit",
        )
    names = _open(options)
    if options.classroom:
        # Given an address, Streamlit does not ask an outside host for this machine's public one.
        words += ["--server.address=0.0.0.0", f"--browser.serverAddress={network_address()}"]
        print(
            text("Everybody in this network can open the explorer, at the address below."),
            file=sys.stderr,
            flush=True,
        )
        if names:
            print(
                text("All who open it see what it opens with: {names!s}.", names=", ".join(names)),
                file=sys.stderr,
                flush=True,
            )
    # Streamlit reads its settings from the folder in which it starts.
    os.chdir(_folder())
    sys.argv = words
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


def _open(options: argparse.Namespace) -> list[str]:
    """Check files of a layer or of a run, pass them to the pages, and return their names."""
    from normgeo.checkpoints.checkpoint import Checkpoint
    from normgeo.checkpoints.reading import read_layer
    from normgeo.datasets.model_folders import resolved
    from normgeo.datasets.opened import pass_on
    from normgeo.datasets.tensor_files import list_tensors
    from normgeo.measured.saved.reading import is_measured, read_measured
    from normgeo.recordings.format import is_recording
    from normgeo.recordings.recording import read_recording

    extra = {name: path for name in EXTRA if (path := getattr(options, name)) is not None}
    runs = [path for path in options.files if is_recording(path)]
    tables = [path for path in options.files if is_measured(path)]
    weights = resolved(path for path in options.files if path not in (*runs, *tables))
    if len(runs) > 1:
        raise Refusal("Give one recording; got {count}.", count=len(runs))
    if len(tables) > 1:
        raise Refusal("Give one measured table; got {count}.", count=len(tables))
    for path in runs:
        read_recording(path)
    for path in tables:
        read_measured(path)
    files = {what: paths for what, paths in (("training", runs), ("network", tables)) if paths}
    if not weights:
        if extra or options.layer is not None:
            raise Refusal("Give the file of the layer's weights too.")
        pass_on(files)
        return [path.name for path in (*runs, *tables)]
    found = Checkpoint.of([*weights])
    for path in extra.values():
        list_tensors(path)
    if options.layer is not None or len(found.proposals) == 1:
        read_layer(found, found.choose(options.layer), extra)
    files |= {"weights": weights, **{name: [path] for name, path in extra.items()}}
    pass_on(files, None if options.layer is None else found.choose(options.layer).name)
    return [path.name for paths in files.values() for path in paths]


def network_address() -> str:
    """Return the address of this machine in its network.

    Raises:
        Failure: it is not in a network.

    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: the system only chooses the address that it would send from.
            probe.connect(("192.0.2.1", 9))
            address = str(probe.getsockname()[0])
        except OSError:
            address = "127.0.0.1"
    if address.startswith("127."):
        raise Failure("This machine is in no network: connect it first, or leave out --classroom.")
    return address


def _folder() -> Path:
    for place in PLACES:
        if (place / "app.py").is_file() and (place / "pages").is_dir():
            return place
    inside, beside = PLACES
    raise Failure(
        "This installation of normgeo has no explorer: neither {inside} nor {beside} holds one.",
        inside=inside,
        beside=beside,
    )


def _free(port: str) -> int:
    """Return a port as a number, if it is free."""
    if digits(port) not in PORTS:
        raise Refusal(
            "`--port` must be a whole number from {first} to {last}; got {port!r}.",
            first=PORTS[0],
            last=PORTS[-1],
            port=port[:60],
        )
    with socket.socket() as probe:
        if os.name == "posix":
            # As servers do: a connection that has just ended does not block the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", int(port)))
        except OSError as error:
            used = error.errno == errno.EADDRINUSE
            raise Failure(
                text("Port {port} is in use. Choose another one with --port.", port=port)
                if used
                else text("Port {port}: {why}.", port=port, why=error.strerror)
            ) from error
    return int(port)
