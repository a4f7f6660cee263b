"""A visitor of the application without a browser: what Streamlit's page says to its server.

A browser draws, which costs more than the server; many visitors at once are many of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

SECONDS = 300.0  # for an answer


class Session:
    """One open page."""

    def __init__(self, socket: ClientConnection, page: str) -> None:
        self._socket, self._page = socket, page

    def show(self, **query: object) -> float:
        """Go to an address of the page, and return the seconds until its script has ended.

        Raises:
            RuntimeError: the script did not end well.

        """
        ask = BackMsg()
        ask.rerun_script.page_name = self._page
        ask.rerun_script.query_string = urlencode(query)
        begin = perf_counter()
        self._socket.send(ask.SerializeToString())
        while True:
            answer = ForwardMsg.FromString(self._socket.recv(SECONDS))
            if answer.WhichOneof("type") != "script_finished":
                continue
            if answer.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return perf_counter() - begin
            if answer.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                raise RuntimeError(f"The page {self._page} does not compile.")


@contextmanager
def visiting(url: str, page: str) -> Iterator[Session]:
    """A session of a page, as long as the block lasts."""
    address = f"ws://{urlsplit(url).netloc}/_stcore/stream"
    with connect(address, origin=url, subprotocols=["streamlit"], max_size=None) as socket:
        yield Session(socket, page)
