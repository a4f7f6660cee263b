"""Many visitors at once: how long one waits while others change settings, or while another trains.

Visitors are sessions of Streamlit without a browser, on a server of their own. Each makes a change
two seconds after the one before, or when that is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from benchmarks.session import opened_and_at_rest, visiting
from benchmarks.timing import Row
from normgeo.datasets.datasets import DATASETS
from normgeo.normalizers.named import NORMALIZERS
from normgeo.workers.run import Limits
from tools.server import serving

TITLE = "Many visitors at once"
APP = Path(__file__).parents[1] / "app.py"
VISITORS = 20
BETWEEN = 2.0  # seconds between two changes of a visitor
SECONDS = 120.0  # of all visitors together
ALONE = 8  # changes of one visitor alone
PAIRS = 3  # of a page alone and beside a descent
STEPS = 10_000  # of the descent that another visitor waits for
HEAD_START = 3.0  # seconds that it has

State = dict[str, object]


def rows() -> Iterator[Row]:
    unseen = own_data(count(1000))
    with TemporaryDirectory() as directory, serving(APP, Path(directory) / "log.txt") as url:
        warm_up(url)
        yield beside_a_descent(url)
        yield many(url, "methods and data of one lecture", lecture(Random(1)), unseen, "< 3 ×")
        yield many(url, "each change with its own seed", unseen, unseen, "")


def warm_up(url: str) -> None:
    """Let the server import what it needs, start its workers and compute ahead."""
    opened_and_at_rest(url)
    for page in ("learning_rate", "fisher"):
        with visiting(url, page) as visitor:
            for _ in range(2):
                visitor.show()


def lecture(random: Random) -> Callable[[], State]:
    """States of a page as they come where all begin with the same link."""
    return lambda: {
        "method": random.choice(list(NORMALIZERS)),
        "dataset": random.choice(list(DATASETS)),
    }


def own_data(seeds: Iterator[int]) -> Callable[[], State]:
    """States that nobody has seen."""
    return lambda: {"seed": next(seeds)}


def many(
    url: str, what: str, state: Callable[[], State], unseen: Callable[[], State], aim: str
) -> Row:
    """Compare what all wait at once with what one waits for a state that nobody has seen."""
    with visiting(url, "learning_rate") as visitor:
        visitor.show()
        alone = [visitor.show(**unseen()) for _ in range(ALONE)]
    with ThreadPoolExecutor(VISITORS) as visitors:
        end = monotonic() + SECONDS
        waits = [visitors.submit(changes, url, state, end, place) for place in range(VISITORS)]
        waited = [seconds for wait in waits for seconds in wait.result()]
    p95, own = quantiles(waited, n=20)[-1], median(alone)
    return Row(
        f"{VISITORS} visitors on Learning rate, {what}: p95 of {len(waited)} changes "
        f"(median {median(waited):.2g} s)",
        p95,
        "one visitor, each change unseen: median",
        own,
        f"{p95 / own:.1f} ×",
        aim,
    )


def changes(url: str, state: Callable[[], State], end: float, place: int) -> list[float]:
    """Return the seconds that a visitor waited for each change."""
    waited = []
    with visiting(url, "learning_rate") as visitor:
        sleep(BETWEEN * place / VISITORS)
        visitor.show()
        while monotonic() < end:
            due = monotonic() + BETWEEN
            waited.append(visitor.show(**state()))
            sleep(max(0.0, due - monotonic()))
    return waited


def beside_a_descent(url: str) -> Row:
    """Compare a page while another visitor trains with the same page alone, in turn."""
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
        sleep(Limits().moment)  # until it is given up
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
