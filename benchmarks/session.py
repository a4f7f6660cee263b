"""A visitor of the application without a browser: the messages of Streamlit's page to its server.

A browser draws, which costs more than the server; many visitors are many sessions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from time import perf_counter, sleep
from urllib.parse import urlencode, urlsplit

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

SECONDS = 300.0  # for an answer
LONGEST = 3600.0  # for a server to become idle, on a machine that is also used for other work
REST = 3  # consecutive seconds in which an idle server uses less than a tenth of a processor


class Session:
    """One open page."""

    def __init__(self, socket: ClientConnection, page: str) -> None:
        self._socket, self._page = socket, page

    def show(self, **query: object) -> float:
        """Go to an address of the page, and return the seconds until its script ends.

        Raises:
            RuntimeError: the script failed.

        """
        begin = perf_counter()
        self.ask(**query)
        if not self.ended(SECONDS):
            raise RuntimeError(f"The page {self._page} takes more than {SECONDS:g} s.")
        return perf_counter() - begin

    def ask(self, **query: object) -> None:
        """Go to an address of the page, without waiting for it."""
        ask = BackMsg()
        ask.rerun_script.page_name = self._page
        ask.rerun_script.query_string = urlencode(query)
        self._socket.send(ask.SerializeToString())

    def cookie(self, name: str) -> str:
        """Return the value of a cookie from the answer to the first request, "" without one."""
        response = self._socket.response
        cookies = (
            SimpleCookie("; ".join(response.headers.get_all("Set-Cookie"))) if response else {}
        )
        return cookies[name].value if name in cookies else ""

    def ended(self, seconds: float) -> bool:
        """Wait at most `seconds` for the script to end; return whether it has."""
        last = perf_counter() + seconds
        while (left := last - perf_counter()) > 0:
            try:
                answer = ForwardMsg.FromString(self._socket.recv(left))
            except TimeoutError:
                break
            if answer.WhichOneof("type") != "script_finished":
                continue
            if answer.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return True
            if answer.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                raise RuntimeError(f"The page {self._page} does not compile.")
        return False


@contextmanager
def visiting(url: str, page: str, cookie: str = "") -> Iterator[Session]:
    """Open a session of a page for a `with` block; a visitor may bring a cookie."""
    address = f"ws://{urlsplit(url).netloc}/_stcore/stream"
    headers = {"Cookie": cookie} if cookie else {}
    with connect(
        address,
        origin=url,
        subprotocols=["streamlit"],
        additional_headers=headers,
        max_size=None,
    ) as socket:
        yield Session(socket, page)


def opened_and_at_rest(url: str) -> None:
    """Visit a server, and wait until it has computed ahead and is idle.

    Raises:
        RuntimeError: it is not idle after an hour.

    """
    with visiting(url, "home") as visitor:
        visitor.show()
    quiet, last = 0, perf_counter() + LONGEST
    while quiet < REST:
        if perf_counter() > last:
            raise RuntimeError(f"The server is not at rest after {LONGEST:g} s.")
        before = _used()
        sleep(1)
        quiet = quiet + 1 if _used() - before < 0.1 else 0


def _used() -> float:
    """Processor seconds used by the processes started here."""
    used = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            used += sum(process.cpu_times()[:2])
        except psutil.NoSuchProcess:
            continue
    return used
