"""What visitors open first is computed before they come."""

import logging
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from normgeo.base.cache import HOUR, Cache
from normgeo.base.refusal import Refusal
from normgeo.claims import checked
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures import PAGE_OF, PICTURES
from normgeo.pictures.style.chart import Chart
from normgeo.settings import Settings
from normgeo.ui import ahead
from normgeo.ui.ahead import MOMENT, SHORT, SWITCH, WHILE, Ahead
from normgeo.ui.computing.server import Server
from normgeo.ui.computing.task import Found, Task
from normgeo.ui.frame import PAGES

SMALL = Settings(dataset="iris")


class Clock:
    """A time that passes while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        self.at_sleep: Callable[[], object] = lambda: None

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)
        self.at_sleep()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(pool: Any, clock: Clock) -> Server:
    """A server that has computed nothing."""
    return Server(pool, Cache(bytes=1e9, clock=clock), longest=-1.0)


@pytest.fixture
def worker(server: Server, clock: Clock) -> Ahead:
    return Ahead(server, now=clock, sleep=clock.sleep, quiet=-1.0)


@pytest.fixture
def nothing_computed(pool: Any) -> Callable[[], None]:
    """After this call, a page that computes anything fails."""

    def begin() -> None:
        pool.refuse = lambda compute: pytest.fail(f"It is computed only now: {compute}")

    return begin


@pytest.fixture
def nothing_drawn(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """After this call, a page that draws a figure anew fails."""

    def begin() -> None:
        monkeypatch.setattr(Chart, "of", lambda figure: pytest.fail("It is drawn only now."))

    return begin


@pytest.fixture
def uncomputed(pool: Any) -> None:
    """Refuse every computation, with the cache of this file's server."""
    pool.refuse = lambda compute: Refusal("It is not computed.")


@pytest.mark.parametrize(
    "pages",
    [
        ("fisher", "symmetry", "audit"),
        pytest.param(
            tuple({*PAGES} - {"fisher", "symmetry", "audit"}),
            id="others",
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_every_page_opens_with_what_is_there(
    pages: tuple[str, ...],
    shown: Any,
    keep_audit: Callable[[], object],
    pool: Any,
    worker: Ahead,
    nothing_computed: Callable[[], None],
    nothing_drawn: Callable[[], None],
) -> None:
    keep_audit()
    for name, settings in worker.defaults():
        if PAGE_OF.get(name) in pages or "home" in pages:  # which shows those of other pages
            worker.keep(name, settings)
    assert len(pool.asked) == len(set(pool.asked)), "each once"
    nothing_computed()
    nothing_drawn()
    for page in pages:
        assert shown(page).figures or page == "audit"


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_any_method_with_any_data_needs_to_be_drawn_only(
    shown: Any, worker: Ahead, server: Server, nothing_computed: Callable[[], None]
) -> None:
    """Iris has only 150 cases, so its pages are computed quickly."""
    for name, settings in worker.methods_with_data():
        if (settings.dataset, settings.method) == ("iris", "rms"):
            worker.keep(name, settings, drawn=False)
            there = server.kept.get(Task.of(PICTURES[name], settings).key)
            assert there is not None
            assert not there.charts, "It is drawn for nobody."
    nothing_computed()
    for page in PAGES:
        if page not in ("audit", "home"):  # which show the same whatever is chosen
            assert shown(page, dataset="iris", method="rms").figures


def test_methods_with_the_data_of_the_pages_come_first(worker: Ahead) -> None:
    own = [*islice(worker.methods_with_data(), len(NORMALIZERS) * len(worker.opened))]
    assert {settings.dataset for _, settings in own} == {Settings.dataset}
    assert {settings.method for _, settings in own} == {*NORMALIZERS}


def test_what_is_kept_or_refused_is_not_computed_again(pool: Any, worker: Ahead) -> None:
    for name, settings in 2 * [*islice(worker.defaults(), 2)]:
        worker.keep(name, settings)
    assert len(pool.asked) == 2
    for method in ("batch", "layer"):
        for _ in range(2):
            worker.keep("turn", Settings(dataset="linnerud", method=method))
    assert len(pool.asked) == 4


@pytest.mark.usefixtures("uncomputed")
def test_it_stays_there_while_the_server_runs(pool: Any, server: Server, clock: Clock) -> None:
    """A day without a visitor."""
    server.kept.keep((checked, Settings()), Found((), stopped=False))
    computed: list[int] = []

    def day() -> None:
        computed.append(len(pool.asked))
        if clock.now > 24 * HOUR:
            raise KeyboardInterrupt

    clock.at_sleep = day
    worker = Ahead(server, {"averages": {}, "turn": {}}, clock, clock.sleep)
    with pytest.raises(KeyboardInterrupt):
        worker.keep_defaults()
    assert set(computed) == {len(set(pool.asked))} == {len(pool.asked)}, "each once"
    assert all(key in server.kept for key in pool.asked)


def test_a_switch_leaves_all_to_those_who_ask(
    monkeypatch: pytest.MonkeyPatch, worker: Ahead
) -> None:
    begun: list[str] = []

    class Begun:
        def __init__(self, *, name: str, **_: Any) -> None:
            self.name = name

        def start(self) -> None:
            begun.append(self.name)

    monkeypatch.setattr(ahead, "Thread", Begun)
    monkeypatch.setenv(SWITCH, "0")
    worker.start()
    assert begun == []
    monkeypatch.delenv(SWITCH)
    worker.start()
    assert begun == ["ahead", "ahead"]


@pytest.mark.exhaustive
def test_what_stands_next_in_a_menu_is_there_before_it_is_chosen(
    shown: Any,
    worker: Ahead,
    nothing_computed: Callable[[], None],
    nothing_drawn: Callable[[], None],
) -> None:
    own = {"dataset": "iris", "seed": "7", "theme": "dark"}
    all_of_them = worker.beside
    worker.beside = lambda *place: islice(all_of_them(*place), 20)  # type: ignore[method-assign]
    shown("learning_rate", **own)
    worker.keep_neighbors()
    nothing_computed()
    nothing_drawn()
    for change in ({"method": "weight"}, {"method": "rms"}, {"optimizer": "momentum"}):
        assert shown("learning_rate", **{**own, **change}).figures


def test_the_nearest_come_first(worker: Ahead) -> None:
    near = [*worker.beside("symmetry", Settings(seed=7, method="weight"), ("method",))]
    methods = [*NORMALIZERS]
    away = [abs(methods.index(settings.method) - methods.index("weight")) for _, settings in near]
    assert {name for name, _ in near} == {"walk"}
    assert {settings.seed for _, settings in near} == {7}
    assert away == sorted(away)
    assert {settings.method for _, settings in near} == {*methods} - {"weight"}
    assert not [*worker.beside("audit", Settings(), ())]


@pytest.mark.usefixtures("uncomputed")
def test_a_picture_with_a_defect_leaves_the_others(
    pool: Any, worker: Ahead, defects: list[logging.LogRecord]
) -> None:
    def broken(compute: object) -> Refusal:
        if len(pool.asked) == 2:
            raise ZeroDivisionError
        return Refusal("It is not computed.")

    pool.refuse = broken
    worker.visit("symmetry", SMALL, ("method",))
    worker.keep_neighbors()
    assert len(pool.asked) == len(NORMALIZERS) - 1
    (logged,) = defects
    defects.clear()
    assert "has a defect: walk, Settings(" in logged.getMessage()


@pytest.mark.usefixtures("uncomputed")
def test_those_who_wait_come_before_those_who_may_ask(
    pool: Any, worker: Ahead, clock: Clock
) -> None:
    def sleep() -> None:
        assert not pool.asked
        pool.spare = len(clock.slept) == 3

    def refuse(compute: object) -> Refusal:
        if len(pool.asked) == 1:
            worker.visit("symmetry", replace(SMALL, method="rms", seed=1), ("method",))
        return Refusal("It is not computed.")

    pool.spare, pool.refuse, clock.at_sleep = False, refuse, sleep
    worker.visit("symmetry", replace(SMALL, method="layer"), ("method",))
    worker.keep_neighbors()
    assert clock.slept == 3 * [MOMENT]
    assert len(pool.asked) == 1 + len(NORMALIZERS) - 1, "of the first one, only what was begun"


@pytest.mark.usefixtures("uncomputed")
def test_while_anybody_goes_on_nothing_is_computed_that_nobody_asked_for(
    pool: Any, server: Server, clock: Clock
) -> None:
    """A full hall leaves no idle moment; a single visitor does, half a second after a change."""
    place, other = (("symmetry", replace(SMALL, seed=seed), ("method",)) for seed in (0, 1))
    worker, times = Ahead(server, now=clock, sleep=clock.sleep, quiet=-1.0), []
    worker.visit(*place)
    worker.keep_neighbors()
    asked_before = len(pool.asked)

    def refuse(compute: object) -> Refusal:
        times.append(clock.now)
        return Refusal("It is not computed.")

    pool.refuse, worker.quiet = refuse, 0.5
    # If everything is there already:
    clock.at_sleep = lambda: clock.now < 103.0 and worker.visit(*place)
    worker.visit(*other)
    worker.keep_neighbors()
    assert 103.0 <= min(times) < 104.0
    assert len(times) == len(pool.asked) - asked_before == len(NORMALIZERS) - 1


@pytest.mark.usefixtures("uncomputed")
def test_where_all_is_there_nobody_looks_again_for_a_while(
    pool: Any, server: Server, worker: Ahead, clock: Clock
) -> None:
    """A class visits the same places again and again; looking for them costs everybody time."""

    def looks() -> int:
        server.kept.clear()
        worker.visit("symmetry", replace(SMALL, method="layer"), ["method"])
        worker.keep_neighbors()
        return len(pool.asked)

    once = looks()
    assert once == len(NORMALIZERS) - 1
    assert looks() == once
    clock.now += WHILE + 1
    assert looks() == 2 * once


def test_what_takes_long_is_left_to_those_who_ask(pool: Any, worker: Ahead) -> None:
    name, settings = "descent", Settings(steps=5000)
    assert PICTURES[name].cost(settings).seconds > SHORT
    worker.keep(name, settings, drawn=False, most=SHORT)
    assert not pool.asked
