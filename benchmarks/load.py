"""Many visitors at once: waiting times while others change settings, or while another one trains.

Visitors are Streamlit sessions without a browser, on a server of their own. Each makes a change two
seconds after the previous one, or when that is answered. An answer that is not a whole page is an
error, and ends the benchmark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import psutil

from benchmarks.session import opened_and_at_rest, visiting
from benchmarks.timing import Row
from normgeo.base.budget import memory
from normgeo.datasets.datasets import DATASETS
from normgeo.normalizers.named import NORMALIZERS
from normgeo.workers.run import Limits
from tools.server import serving

TITLE = "Many visitors at once"
APP = Path(__file__).parents[1] / "app.py"
VISITORS = 20
CLASS, HALL = 50, 200  # visitors who use only what the class has already opened
BETWEEN = 2.0  # seconds between two changes of a visitor
SECONDS = 120.0  # for all visitors together
GONE = 90.0  # seconds until sessions of closed pages end
SHOWN = "iris", "wine", "digits"
ALONE = 8  # changes by one visitor alone
PAIRS = 3  # of times for a page, alone and beside a descent
STEPS = 10_000  # of the descent that another visitor runs
HEAD_START = 3.0  # seconds before the page is timed

State = dict[str, object]


def rows() -> Iterator[Row]:
    unseen = own_data(count(1000))
    with TemporaryDirectory() as directory, serving(APP, Path(directory) / "log.txt") as url:
        warm_up(url)
        yield beside_a_descent(url)
        yield many(url, "methods and data of one lecture", lecture(Random(1)), unseen, "< 3 ×")
        yield many(url, "each change with its own seed", unseen, unseen, "< 3 ×")
        opened_before = [{"method": m, "dataset": d} for m in NORMALIZERS for d in SHOWN]
        with visiting(url, "learning_rate") as visitor:
            for state in opened_before:
                visitor.show(**state)
        for visitors in (CLASS, HALL):
            yield within(url, visitors, opened_before)


def warm_up(url: str) -> None:
    """Let the server import libraries, start its workers and compute ahead."""
    opened_and_at_rest(url)
    for page in ("learning_rate", "fisher"):
        with visiting(url, page) as visitor:
            for _ in range(2):
                visitor.show()


def lecture(random: Random) -> Callable[[], State]:
    """Return random states of a page that all start from the same link."""
    return lambda: {
        "method": random.choice(list(NORMALIZERS)),
        "dataset": random.choice(list(DATASETS)),
    }


def own_data(seeds: Iterator[int]) -> Callable[[], State]:
    """Return states that no visitor has opened before."""
    return lambda: {"seed": next(seeds)}


def many(
    url: str, what: str, state: Callable[[], State], unseen: Callable[[], State], aim: str
) -> Row:
    """Compare waiting times of all visitors with one visitor's wait for a new state."""
    alone = one_visitor(url, unseen)
    waited = together(url, VISITORS, state)
    p95 = quantiles(waited, n=20)[-1]
    return Row(
        f"{VISITORS} visitors on Learning rate, {what}: p95 of {told(waited)}",
        p95,
        "one visitor, each change unseen: median",
        alone,
        f"{p95 / alone:.1f} ×",
        aim,
    )


def within(url: str, visitors: int, states: Sequence[State]) -> Row:
    """Let many visitors use states opened before; the memory is that of the server only."""
    choice, server = Random(2), _server()
    alone, before = one_visitor(url, lambda: choice.choice(states)), server.memory_info().rss
    most = [before]
    waited = together(
        url,
        visitors,
        lambda: choice.choice(states),
        lambda: most.append(server.memory_info().rss),
    )
    sleep(GONE)
    each, left = (max(most) - before) / visitors, server.memory_info().rss - before
    p95 = quantiles(waited, n=20)[-1]
    return Row(
        f"{visitors} visitors within what was opened before: p95 of {told(waited)}; "
        f"{memory(each)} a visitor, {memory(max(left, 0))} more in all after they left",
        p95,
        "one visitor there: median",
        alone,
        f"{p95 / alone:.1f} ×",
        "< 0.5 s" if visitors == CLASS else "no error",
    )


def one_visitor(url: str, state: Callable[[], State]) -> float:
    """Return the median waiting time of a single visitor, in seconds."""
    with visiting(url, "learning_rate") as visitor:
        visitor.show()
        return median(visitor.show(**state()) for _ in range(ALONE))


def together(
    url: str, visitors: int, state: Callable[[], State], look: Callable[[], object] = list
) -> list[float]:
    """Return the seconds that each of many visitors waited for each change."""
    with ThreadPoolExecutor(visitors) as pool:
        end = monotonic() + SECONDS
        shares = [place / visitors for place in range(visitors)]
        waits = [pool.submit(changes, url, state, end, share) for share in shares]
        while monotonic() < end:
            sleep(1)
            look()
        return [seconds for wait in waits for seconds in wait.result()]


def told(waited: Sequence[float]) -> str:
    return f"{len(waited)} changes (median {median(waited):.2g} s)"


def _server() -> psutil.Process:
    (server,) = [one for one in psutil.Process().children() if "streamlit" in one.cmdline()]
    return server


def changes(url: str, state: Callable[[], State], end: float, share: float) -> list[float]:
    """Return the seconds that a visitor waited for each change."""
    waited = []
    with visiting(url, "learning_rate") as visitor:
        sleep(BETWEEN * share)
        visitor.show()
        while monotonic() < end:
            due = monotonic() + BETWEEN
            waited.append(visitor.show(**state()))
            sleep(max(0.0, due - monotonic()))
    return waited


def beside_a_descent(url: str) -> Row:
    """Time a page while another visitor trains and alone, in turn."""
    seeds, quiet, disturbed = count(100_000), [], []
    for _ in range(PAIRS):
        quiet.append(opened(url, next(seeds)))
        with visiting(url, "learning_rate") as other:
            other.ask(steps=STEPS, seed=next(seeds))
            if other.ended(HEAD_START):
                raise RuntimeError(f"A descent of {STEPS} steps is over at once.")
            disturbed.append(opened(url, next(seeds)))
            if other.ended(0.1):
                raise RuntimeError(f"A descent of {STEPS} steps was over before the page.")
        sleep(Limits().moment)  # until the run is given up
    return Row(
        f"Fisher, opened while another visitor waits for {STEPS:,} steps of a descent",
        median(disturbed),
        "with nobody else there",
        median(quiet),
        f"{median(disturbed) / median(quiet):.1f} ×",
        "< 2 ×",
    )


def opened(url: str, seed: int) -> float:
    with visiting(url, "fisher") as visitor:
        return visitor.show(seed=seed)
