"""Several processes behind nginx, as deploy/nginx.conf has them."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from threading import Barrier, Event
from typing import NamedTuple

import psutil
import pytest
from playwright.sync_api import Browser, expect
from websockets.exceptions import ConnectionClosed

from benchmarks.session import visiting
from normgeo.ui.frame import PAGES
from tools.server import OPTIONS, answering, free_port, wait_until_healthy

from .conftest import LONGEST, address, patient

ROOT = Path(__file__).parents[2]
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/opt/homebrew/bin")
AROUND = """
daemon off; worker_processes 2; pid nginx.pid; error_log error.log;
events {{ worker_connections 512; }}
http {{
    access_log off; client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c;
    uwsgi_temp_path d; scgi_temp_path e;
    {site}
}}
"""

pytestmark = pytest.mark.skipif(NGINX is None, reason="there is no nginx here")


class Hosted(NamedTuple):
    """The address of nginx, and the processes behind it by their ports."""

    url: str
    processes: dict[str, psutil.Process]


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Hosted]:
    """Two processes behind nginx, at ports that are free."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", *OPTIONS]
    site = (ROOT / "deploy" / "nginx.conf").read_text("utf-8")
    with ExitStack() as running:
        processes = {}
        for port in ("8501", "8502"):
            log = tmp_path / f"{port}.txt"
            serve = answering(command, "--server.port=", ROOT, log)
            free = running.enter_context(serve).rpartition(":")[2]
            site = site.replace(port, free)
            (processes[free],) = [
                child
                for child in psutil.Process().children()
                if f"--server.port={free}" in child.cmdline()
            ]
        port = free_port()
        site = site.replace("listen 80;", f"listen 127.0.0.1:{port};")
        (tmp_path / "nginx.conf").write_text(AROUND.format(site=site), "utf-8")
        words = [NGINX, "-p", tmp_path, "-c", tmp_path / "nginx.conf", "-e", tmp_path / "error.log"]
        nginx = subprocess.Popen(words)
        running.callback(nginx.wait, 10)
        running.callback(nginx.terminate)
        url = f"http://127.0.0.1:{port}"
        wait_until_healthy(url, lambda: nginx.poll() is None, tmp_path / "error.log")
        yield Hosted(url, processes)


@pytest.mark.exhaustive
def test_every_page_works_under_the_policy_and_visitors_spread(hosted, page, wait_settled):
    for name in PAGES:
        answer = page.goto(f"{hosted.url}/{name if name != 'home' else ''}")
        assert answer.headers["content-security-policy"].startswith("default-src 'self'; ")
        assert answer.headers["referrer-policy"] == "same-origin"
        if name == "audit":
            expect(page.locator("h1")).to_be_visible()  # the statements take half a minute more
        else:
            wait_settled(page)
    found = set[str]()
    for _ in range(30):
        if found == set(hosted.processes):
            break
        with visiting(hosted.url, "home") as visitor:
            found.add(visitor.cookie("normgeo"))
    assert found == set(hosted.processes)


@pytest.mark.exhaustive
def test_killed_process_takes_its_own_visitors_to_the_same_state_and_nobody_else(
    hosted, browser: Browser, wait_settled
):
    gone, stays = hosted.processes
    pages = {}
    for port, path in ((gone, "/fisher?method=rms&dataset=wine"), (stays, "/batch?dataset=iris")):
        context = patient(browser, viewport={"width": 1280, "height": 720})
        context.add_cookies([{"name": "normgeo", "value": port, "url": hosted.url}])
        page = pages[port] = context.new_page()
        page.goto(hosted.url + path)
        wait_settled(page)
        assert process_of(page) == port
    leaver, stayer = pages[gone], pages[stays]
    before, link = leaver.locator("h1, .js-plotly-plot").all_inner_texts(), address(leaver)
    killed, here = Event(), Barrier(7)
    with ThreadPoolExecutor(6) as visitors:
        visits = [
            visitors.submit(changes, hosted.url, port, here, killed) for port in (gone, stays) * 3
        ]
        stayer.evaluate("window.sameSession = true")
        here.wait(LONGEST / 1000)
        for process in (hosted.processes[gone], *hosted.processes[gone].children(recursive=True)):
            process.kill()
        leaver.wait_for_function(
            "() => document.querySelector('[data-testid=stApp]').dataset.testConnectionState"
            " !== 'CONNECTED'"
        )
        wait_settled(leaver)
        killed.set()
        ended = [visit.result() for visit in visits]
    assert address(leaver) == link
    assert leaver.locator("h1, .js-plotly-plot").all_inner_texts() == before
    assert process_of(leaver) == stays
    assert ended == [False, True] * 3

    stayer.get_by_role("button", name="Settings").click()
    expect(stayer.locator(".st-key-strip")).to_be_visible()
    wait_settled(stayer)
    assert stayer.evaluate("window.sameSession"), "it was not loaded anew"
    for page in pages.values():
        page.context.close()


def process_of(page):
    """The port of the process that answers a page."""
    (port,) = [c["value"] for c in page.context.cookies() if c["name"] == "normgeo"]
    return port


def changes(url, port, here, killed):
    """Change a setting of a process's page again and again; return whether all was answered."""
    with visiting(url, "home", f"normgeo={port}") as visitor:
        visitor.show(dataset="iris")
        assert visitor.cookie("normgeo") == "", "another process has answered"
        here.wait()
        try:
            for dataset in cycle(("wine", "digits", "iris")):
                visitor.show(dataset=dataset)
                if killed.is_set():
                    visitor.show(dataset="iris")
                    return True
        except ConnectionClosed:
            return False
