"""A server's memory over many different states, and whether each state shows its page.

`python -m benchmarks.memory COUNT` opens legal states, the largest among them; `… COUNT hostile`
opens states with words that no page expects. Both print the memory after every tenth state, and the
maximum.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import psutil
from streamlit.testing.v1 import AppTest

from benchmarks.states import State, hostile, legal
from normgeo.base.budget import memory
from normgeo.ui.computing.server import SERVER

STATES = 2000
MOST = 1e9  # bytes
LONGEST = 300  # seconds for a page
APP = Path(__file__).parents[1] / "app.py"
KINDS = {"legal": legal, "hostile": hostile}


class Watched(NamedTuple):
    """A state, and the memory of the server, its workers and its results after it, in bytes."""

    state: str
    server: int
    workers: int
    kept: int


class _Log(logging.Handler):
    """Collects logged errors."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def watched(states: Iterable[State]) -> Iterator[Watched]:
    """Open each state in a new session, and yield the memory after it.

    Raises:
        RuntimeError: a page has an exception, or logs an error.

    """
    server, log = psutil.Process(), _Log()
    logging.getLogger().addHandler(log)
    for page, query in states:
        session = AppTest.from_file(str(APP), default_timeout=LONGEST)
        for name, value in query.items():
            session.query_params[name] = value
        session.switch_page(f"pages/{page}.py").run()
        if errors := [*(one.message for one in session.exception), *log.said]:
            raise RuntimeError(f"{page} {query}: {errors[0]}")
        held = [child.memory_info().rss for child in server.children(recursive=True)]
        address = f"{page}?{'&'.join(f'{name}={value}' for name, value in query.items())}"
        yield Watched(
            address, server.memory_info().rss, sum(held), session.session_state[SERVER].kept.size
        )


def main(count: int, kind: str) -> None:
    most, last = 0, ""
    for number, one in enumerate(watched(islice(KINDS[kind](), count)), start=1):
        if one.server > most:
            most, last = one.server, one.state
        if number % max(1, count // 10) == 0 or number == count:
            kept = memory(one.kept)
            line = f"{number}: {memory(one.server)}, workers {memory(one.workers)}, kept {kept}"
            print(line, flush=True)
    print(f"most: {memory(most)} at {last!a:.300}")
    sys.exit(most >= MOST)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STATES, *sys.argv[2:3] or ["legal"])
